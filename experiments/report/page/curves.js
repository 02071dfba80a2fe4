// Curves over time, links, critical chain, trust, run it again.

// series: [{name, values, dash}]; equal parts of the makespan.
function stepChart(title, unit, series, makespan, capacity) {
  const W = 420, H = 170, left = 52, right = 10, top = 10, bottom = 34;
  const most = Math.max(...series.flatMap((s) => Array.from(s.values)), 1e-12);
  const y = (v) => top + (H - top - bottom) * (1 - v / (most * 1.04)), x = (f) => left + (W - left - right) * f;
  const [factor, name] = timeUnit(makespan);
  const chart = svg("svg", { viewBox: `0 0 ${W} ${H}`, role: "img", "aria-label": `${title}, largest ${digits(most)} ${unit}` });
  for (const t of ticks(0, most * 1.04, 4)) chart.append(
    svg("line", { x1: left, x2: W - right, y1: y(t), y2: y(t), stroke: "var(--rule)" }),
    svg("text", { x: left - 6, y: y(t) + 4, "text-anchor": "end" }, digits(t, 3)));
  for (const t of ticks(0, makespan * factor, 5)) chart.append(
    svg("text", { x: x(t / (makespan * factor)), y: H - bottom + 15, "text-anchor": "middle" }, digits(t, 3)));
  chart.append(svg("text", { x: W - right, y: H - 3, "text-anchor": "end" }, name ? `time in ${name}` : "time"));
  const inks = ["var(--busy)", "var(--predecessor)", "var(--data)", "var(--accent)", "var(--memory)", "var(--quiet)"];
  series.forEach((s, k) => {
    const n = s.values.length;
    let d = `M${x(0)},${y(s.values[0])}`;
    for (let i = 0; i < n; ++i) d += `V${y(s.values[i]).toFixed(1)}H${x((i + 1) / n).toFixed(1)}`;
    chart.append(svg("path", { d, fill: "none", stroke: inks[k % inks.length], "stroke-width": 1.6, "stroke-dasharray": DASHES[k % DASHES.length] }));
  });
  const legend = series.length < 2 ? null : el("ul", { class: "legend" }, series.map((s, k) => el("li", {}, [
    svg("svg", { "aria-hidden": "true" }, svg("line", { x1: 0, x2: 18, y1: 6, y2: 6, stroke: inks[k % inks.length], "stroke-width": 2, "stroke-dasharray": DASHES[k % DASHES.length] })), s.name])));
  return el("figure", {}, [el("h3", {}, `${title}${unit ? ` (${unit})` : ""}`), chart, legend]);
}
const DASHES = ["none", "5 3", "2 2", "8 3 2 3", "1 3", "10 4"];

function showCurves() {
  const c = view.c, r = view.row;
  const charts = [stepChart("Tasks that are ready and not started", "mean", [{ name: "ready", values: floats(r.curves.ready) }], r.makespan)];
  const busy = c.kinds.map((k, i) => ({ name: k.name, values: floats(r.curves.busy[i]).map((v) => 100 * v) }));
  charts.push(stepChart("Workers that compute", "% of each kind", busy, r.makespan));
  const memory = r.curves.memory.map((m, i) => ({ name: c.memories[i].name, values: floats(m) })).filter((m) => m.values.some((v) => v > 0));
  memory.sort((a, b) => Math.max(...b.values) - Math.max(...a.values));
  if (memory.length) {
    const plain = c.unitless, scale = Math.max(...memory[0].values), [factor, unit] = plain ? [1, ""] : bytesUnit(scale);
    charts.push(stepChart(memory.length > 6 ? `Memory in use, the 6 fullest of ${memory.length}` : "Memory in use", plain ? "" : unit,
      memory.slice(0, 6).map((m) => ({ name: m.name, values: m.values.map((v) => v * factor) })), r.makespan));
  }
  const peaks = c.memories.map((m, i) => [m, r.peak[i]]).filter(([, p]) => p > 0).sort((a, b) => b[1] - a[1]).slice(0, 12);
  const bounded = peaks.some(([m]) => m.capacity > 0), most = Math.max(...peaks.map(([, p]) => p), 1);
  const table = peaks.length === 0 || c.unitless ? null : el("figure", {}, [el("h3", {}, bounded ? "Peak memory, of the capacity" : "Peak memory"),
    horizontal(peaks.map(([m, p]) => [m.name, m.capacity > 0 ? p / m.capacity : bounded ? 0 : p / most,
      bytes(p) + (m.capacity > 0 ? ` of ${bytes(m.capacity)}` : "")]))]);
  show("curves", el("div", { class: "charts" }, [...charts, table].filter(Boolean)));
}

function showLinks() {
  const r = view.row, links = r.links.slice(0, 16);
  if (links.length === 0) return show("links", el("p", { class: "quiet" }, `Under ${r.scheduler} nothing moves between memories.`));
  const rest = r.links.slice(16);
  show("links", el("p", {}, `Under ${r.scheduler} ${bytes(r.moved)} move in ${r.transfers} transfers. The bars show how much of the makespan each link would be busy at its full bandwidth:`),
    horizontal(links.map((l) => [l.name, l.busy, `${bytes(l.bytes)}, ${percent(l.busy)}`])),
    rest.length ? el("p", { class: "note" }, `${rest.length} more links carry ${bytes(rest.reduce((a, l) => a + l.bytes, 0))} together, each at most ${percent(rest[0].busy)} busy.`) : null);
}

function showChain() {
  const r = view.row, ch = r.chain, total = ch.task + ch.transfer + ch.wait || 1;
  const parts = [["busy", "computation", ch.task / total], ["data", "transfers", ch.transfer / total], ["nothing_ready", "waits", ch.wait / total]];
  const legend = el("ul", { class: "legend" }, parts.map(([name, text, share]) => el("li", {}, [
    svg("svg", { "aria-hidden": "true" }, svg("rect", { width: "100%", height: "100%", fill: `url(#p-${name})` })), `${text} ${percent(share)}`])));
  show("chain", el("p", {}, `The chain of tasks, transfers and waits that ends last under ${r.scheduler}, each of which began when the one before it ended: ${ch.steps} steps.`),
    el("div", { class: "stack", style: "grid-template-columns:1fr" }, stackBar(parts, "parts of the critical chain")), el("div", { style: "height:8px" }), legend,
    el("h3", {}, "Its longest parts, in order of time"), el("ol", { class: "steps" }, ch.longest.map((line) => el("li", {}, line))));
}

const SOURCES = {
  "roofline": "“Roofline” is an estimate from peak rates, without a known error: the order of schedulers is more certain than their times.",
  "given": "“Given” times are those of the graph's file.",
  "fitted": "“Fitted” times come from a model of published measurements; its error is the median on problems that the model had not seen.",
  "extrapolated": "“Extrapolated” times are those of a measured device scaled to another one by their peak rates, or of a fitted model beyond the shapes that it was made from.",
  "measured here": "“Measured here” times were taken on this machine, under the load of real runs.",
  "measured elsewhere": "“Measured elsewhere” times are those of a profile or of a calibrated machine." };

// What the costs rest on, with the median error of each basis where one is known.
function showBases(r) {
  const named = r.bases.filter((b) => b.basis || b.error !== null);
  if (named.length === 0) return null;
  const head = el("tr", {}, [el("th", { scope: "col", class: "left" }, "Source"), el("th", { scope: "col", class: "left" }, "Basis"),
    el("th", { scope: "col" }, "Of the time"), el("th", { scope: "col" }, "Median error")]);
  return el("div", { class: "scroll" }, el("table", { class: "bases" }, [el("thead", {}, head), el("tbody", {}, r.bases.map((b) => el("tr", {}, [
    el("td", { class: "left" }, b.source), el("td", { class: "left wide" }, b.basis ? breakable(b.basis) : "–"),
    el("td", {}, percent(b.share)), el("td", {}, b.error === null ? "–" : percent(b.error))])))]));
}

function showTrust() {
  const r = view.row, parts = [], sources = r.sources.slice().sort((a, b) => b.share - a.share);
  parts.push(el("p", {}, `Where the task times of ${r.scheduler}'s execution come from:`),
    horizontal(sources.map((s) => [s.name, s.share, s.error === null ? percent(s.share) : `${percent(s.share)}, ± ${percent(s.error)}`,
      s.error === null ? "no error known" : `half of these times are within ${percent(s.error)}`])), showBases(r));
  if (sources.some((s) => s.error !== null))
    parts.push(el("p", { class: "note" }, "±: half of these times are at most so far off; single tasks' errors level out in part over a whole run."));
  for (const s of sources) if (SOURCES[s.name]) parts.push(el("p", { class: "note" }, SOURCES[s.name]));
  if (r.measured) parts.push(el("p", { class: "note" }, `This makespan is the median of ${r.measured.runs} real runs, with a 95 % interval from ${time(r.measured.low)} to ${time(r.measured.high)}` +
    (r.measured.disturbed > 0 ? `; other programs used the cores during ${r.measured.disturbed} of them.` : ".")));
  if (r.planned > 0) parts.push(el("p", { class: "note" }, `The scheduler itself expected ${time(r.planned)}; the engine, with contention of links and memory, makes ${time(r.makespan)} of it.`));
  const real = view.c.rows.filter((x) => x.real !== undefined);
  if (real.length) parts.push(el("h3", { style: "margin-top:14px" }, "Prediction against real runs"), horizontal(real.map((x) => [x.scheduler,
    Math.abs(x.makespan / x.real - 1), `${time(x.makespan)} predicted, ${time(x.real)} real: ${x.makespan >= x.real ? "+" : "−"}${percent(Math.abs(x.makespan / x.real - 1))}`])));
  show("trust", ...parts);
}

function showAgain() {
  const c = view.c, facts = [["Version", data.version], ["Graph", `${c.graph}, ${c.tasks} tasks, ${c.edges} dependencies, fingerprint ${c.fingerprint}`],
    ["Platform", `${c.platform}, ${c.kinds.map((k) => `${k.count} × ${k.name}`).join(", ")}, fingerprint ${c.platformFingerprint}`],
    ["Mode", c.mode], ["Batch", c.batch > 0 ? `${c.batch} as ${c.microBatches} micro-batch${c.microBatches === 1 ? "" : "es"}` : ""],
    ["Seed", String(c.seed)], ["Time limit", `${c.timeLimit} s for each scheduler that searches`],
    ["Lower bounds", c.bounds.map(([n, v]) => `${n} ${time(v)}`).join(", ")]].filter((f) => f[1]);
  show("again", el("pre", { tabindex: 0 }, data.command), el("dl", { class: "facts" }, facts.flatMap(([n, v]) => [el("dt", {}, n), el("dd", {}, v)])));
}
