// Verdict, ranking, lost time, what would help.

function showVerdict() {
  const c = view.c, first = c.rows[0];
  const figures = [["Winner", breakable(first.scheduler), first.family], ["Makespan", time(first.makespan), c.unitless ? "the file's own unit" : ""],
    ["Above the best bound", c.bound > 0 ? percent(first.gap) : "–", `${time(c.bound)}, ${c.boundName}`]];
  if (first.throughput > 0) figures.push(["Throughput", `${digits(first.throughput)} /s`, "samples"]);
  const second = c.rows.find((r) => r.makespan > first.makespan * (1 + 1e-9));
  if (second) {
    figures.push(["Ahead of the second", percent(second.makespan / first.makespan - 1), second.scheduler]);
  }
  const list = el("dl", { class: "figures" }, figures.map(([name, value, note]) =>
    el("div", {}, [el("dt", {}, name), el("dd", {}, [...[].concat(value), note ? el("small", {}, note) : null])])));
  show("verdict", list, ...c.verdict.map((sentence) => el("p", {}, sentence)));
}

// Makespans from 0; what is longer than `most` is cut and says so.
function rankBar(row, most) {
  const cut = row.makespan > most, width = 100 * Math.min(1, row.makespan / most);
  const bar = svg("svg", { class: "rank-bar", "aria-hidden": "true" }, [
    svg("rect", { class: row === view.c.rows[0] ? "best" : "made", x: 0, y: 3, height: 12, width: `${width}%`, rx: 2 })]);
  if (cut) for (const x of [90, 93]) bar.append(svg("line", { class: "cut", x1: `${x}%`, x2: `${x - 2}%`, y1: 2, y2: 16 }));
  if (view.c.bound > 0) {
    const at = `${100 * view.c.bound / most}%`;
    bar.append(svg("line", { class: "bound", x1: at, x2: at, y1: 0, y2: 18 }));
  }
  return bar;
}

// With the engine where there are several.
const nameIn = (c, row) => c.rows.some((r) => r.engine !== row.engine) ? `${row.scheduler} on ${row.engine}` : row.scheduler;

function showRanking() {
  const c = view.c, best = c.rows[0].makespan;
  const most = Math.min(Math.max(...c.rows.map((r) => r.makespan)), 4 * best) * 1.02;
  const samples = c.rows.some((r) => r.throughput > 0), engines = new Set(c.rows.map((r) => r.engine)).size > 1;
  const real = c.rows.some((r) => r.real !== undefined);
  const head = el("tr", {}, [el("th", { scope: "col" }, "Scheduler"), engines ? el("th", { scope: "col", class: "left" }, "Engine") : null,
    el("th", { scope: "col", class: "left" }, ""), el("th", { scope: "col" }, "Makespan"), el("th", { scope: "col" }, "Gap"),
    samples ? el("th", { scope: "col", class: "rare" }, "Samples/s") : null,
    el("th", { scope: "col", class: "rare" }, "Moved"), el("th", { scope: "col", class: "rare" }, "Own time"),
    ...c.kinds.map((k) => el("th", { scope: "col", class: "rare wide" }, `Busy ${k.name}`)),
    real ? el("th", { scope: "col" }, "Real") : null]);
  const rows = c.rows.map((r) => el("tr", { class: r === view.row ? "chosen" : null }, [
    el("td", { class: "wide" }, el("button", { class: "name", title: r.about, onclick: () => choose(r) }, breakable(r.scheduler))),
    engines ? el("td", { class: "left" }, r.engine) : null,
    el("td", { class: "bar" }, rankBar(r, most)),
    el("td", {}, time(r.makespan)), el("td", {}, r.proven ? "optimal" : percent(r.gap)),
    samples ? el("td", { class: "rare" }, digits(r.throughput)) : null,
    el("td", { class: "rare" }, bytes(r.moved)), el("td", { class: "rare" }, ownTime(r.own)),
    ...c.kinds.map((k, i) => el("td", { class: "rare" }, percent(r.busy[i]))),
    real ? el("td", {}, r.real === undefined ? "–" : `${time(r.real)} (${r.makespan >= r.real ? "+" : "−"}${percent(Math.abs(r.makespan / r.real - 1))})`) : null]));
  const notes = [];
  if (c.bound > 0) notes.push(`The red line is the best lower bound, ${time(c.bound)} (${c.boundName}); the gap is the distance to it. `);
  if (c.rows.some((r) => r.makespan > most)) notes.push("Bars with a break are longer than drawn. ");
  notes.push("A scheduler's name shows it in the charts below.");
  show("ranking", el("div", { class: "scroll" }, el("table", {}, [el("thead", {}, head), el("tbody", {}, rows)])),
    el("p", { class: "note" }, notes.join("")),
    showEngines(c), ...c.leftOut.map((l) => el("p", { class: "note" }, `${l.scheduler} is left out on engine ${l.engine}: ${l.reason}`)));
}

// A row for each scheduler, a column for each engine; below it what the differences from the first are made of.
function showEngines(c) {
  if (c.differences.length === 0) return null;
  const first = c.differences[0].reference, engines = [...new Set(c.differences.map((d) => d.engine))];
  const find = (scheduler, engine) => c.differences.find((d) => d.scheduler === scheduler && d.engine === engine);
  const signed = (share) => Math.abs(share) < 5e-4 ? "0 %" : `${share > 0 ? "+" : "−"}${percent(Math.abs(share))}`;
  const head = el("tr", {}, [el("th", { scope: "col" }, "Scheduler"), el("th", { scope: "col" }, first),
    ...engines.flatMap((e) => [el("th", { scope: "col" }, e), el("th", { scope: "col" }, `against ${first}`)])]);
  const rows = c.rows.filter((r) => r.engine === first).map((r) => el("tr", {}, [el("td", {}, breakable(r.scheduler)), el("td", {}, time(r.makespan)),
    ...engines.flatMap((e) => {
      const d = find(r.scheduler, e), measured = c.rows.find((x) => x.engine === e && x.scheduler === r.scheduler)?.measured;
      const title = measured ? `median of ${measured.runs} runs, ${time(measured.low)} to ${time(measured.high)}` : null;
      return d ? [el("td", { title }, time(d.makespan)), el("td", {}, signed(d.relative))] : [el("td", {}, "–"), el("td", {}, "")];
    })]));
  const reasons = c.differences.map((d) => el("tr", {}, [el("td", {}, breakable(d.scheduler)), el("td", { class: "left" }, d.engine),
    el("td", { class: "left wide" }, d.why)]));
  const reasonHead = el("tr", {}, [el("th", { scope: "col" }, "Scheduler"), el("th", { scope: "col", class: "left" }, "Engine"),
    el("th", { scope: "col", class: "left" }, `Difference from ${first} made of`)]);
  return el("div", {}, [el("h3", {}, "Engines side by side"),
    el("div", { class: "scroll" }, el("table", {}, [el("thead", {}, head), el("tbody", {}, rows)])),
    el("div", { class: "scroll" }, el("table", { class: "reasons" }, [el("thead", {}, reasonHead), el("tbody", {}, reasons)]))]);
}

function stackBar(parts, label) {
  const bar = svg("svg", { role: "img", "aria-label": label });
  let at = 0;
  for (const [name, text, share] of parts) {
    if (share <= 0) continue;
    const box = svg("g", {}, [svg("rect", { x: `${100 * at}%`, y: 0, width: `${100 * share}%`, height: 24, fill: `url(#p-${name})` }),
      svg("title", {}, `${text}: ${percent(share)}`)]);
    box.addEventListener("pointermove", (e) => showTip(e.clientX, e.clientY, [text, percent(share)]));
    box.addEventListener("pointerleave", hideTip);
    if (share > 0.09) {
      box.append(svg("rect", { x: `${100 * (at + share / 2)}%`, y: 4, width: 34, height: 16, rx: 3, transform: "translate(-17 0)", fill: "var(--card)", opacity: .88 }),
        svg("text", { x: `${100 * (at + share / 2)}%`, y: 16, "text-anchor": "middle", style: "fill:var(--ink)" }, percent(share, 0)));
    }
    bar.append(box);
    at += share;
  }
  return bar;
}

let lostKind = null;  // -1: all kinds together
function showLost() {
  const c = view.c;
  if (lostKind === null || lostKind >= c.kinds.length)  // the kind whose workers compute most
    lostKind = c.kinds.length > 1 ? c.rows[0].busy.indexOf(Math.max(...c.rows[0].busy)) : -1;
  const times = (r) => lostKind >= 0 ? r.times[lostKind] : r.times.reduce((a, t) => a.map((v, i) => v + t[i]), Array(7).fill(0));
  const used = CAUSES.filter((_, i) => c.rows.some((r) => times(r)[i + 1] > 0));
  const legend = el("ul", { class: "legend" }, [["busy", "computing"], ...used].map(([name, text]) => el("li", {}, [
    svg("svg", { "aria-hidden": "true" }, svg("rect", { width: "100%", height: "100%", fill: `url(#p-${name})` })), text])));
  const pick = el("select", { id: "lost-kind", onchange: (e) => { lostKind = Number(e.target.value); showLost(); } }, [
    el("option", { value: -1, selected: lostKind < 0 }, `all ${c.workers.length} workers`),
    ...c.kinds.map((k, i) => el("option", { value: i, selected: i === lostKind }, `${k.count} × ${k.name}`))]);
  const rows = el("div", { class: "stack" });
  for (const r of c.rows) {
    const t = times(r), total = t.reduce((a, v) => a + v, 0) || 1;
    const parts = [["busy", "computing", t[0] / total], ...CAUSES.map(([name, text], i) => [name, text, t[i + 1] / total])];
    const label = parts.filter((p) => p[2] > 0).map((p) => `${p[1]} ${percent(p[2])}`).join(", ");
    rows.append(el("div", { class: "label" }, breakable(nameIn(c, r))), stackBar(parts, `${nameIn(c, r)}: ${label}`));
  }
  show("lost", el("div", { class: "tools" }, [el("label", { for: "lost-kind" }, "Time of"), pick]), legend, rows,
    el("p", { class: "note" }, "Each bar is the whole time of the workers. The gap before a task is cut at the times at which it was ready, had room, and had its data. " +
      "“Nothing ready”: no task that the worker could run was ready. “Given no work”: tasks were ready, but none was given to it any more."));
}

function horizontal(rows) {  // [label, share of the track, text, title]
  const box = el("div", { class: "hbars" });
  for (const [label, share, text, title] of rows)
    box.append(el("div", { class: "label", title }, breakable(label)),
      el("div", { class: "track" }, el("div", { class: "fill", style: `width:${Math.max(0, Math.min(100, 100 * share))}%` })),
      el("div", { class: "value" }, text));
  return box;
}

function showHelp() {
  const s = view.c.savings, tried = s.tried.slice(0, 10);
  document.getElementById("help").hidden = tried.length === 0;
  if (tried.length === 0) return;
  const most = Math.max(1e-9, ...tried.map((t) => t.saved));
  show("help", el("p", {}, `Makespan of ${view.c.rows[0].scheduler} simulated again, each time with one of these in half the time:`),
    horizontal(tried.map((t) => [`${t.what} ${t.name}`, t.saved / most, Math.abs(t.saved) < 5e-4 ? "no change" : `${t.saved > 0 ? "−" : "+"}${percent(Math.abs(t.saved))}`,
      `makespan ${time(t.makespan)}`])),
    el("p", { class: "note" }, `${s.tried.length} of ${s.candidates} ${view.c.layers.length ? "layers" : "codelets"} and links tried, those with the most time on the critical chain first; ${s.how}. A “+” means that the order, made for other times, suits these worse.`));
}

function showOverview() {
  document.getElementById("overview").hidden = data.cases.length < 2;
  if (data.cases.length < 2) return;
  const names = [];
  for (const c of data.cases) for (const r of c.rows) if (!names.includes(r.scheduler)) names.push(r.scheduler);
  const head = el("tr", {}, [el("th", { scope: "col" }, "Gap to the best bound"),
    ...data.cases.map((c, i) => el("th", { scope: "col" }, el("button", { class: "name", onclick: () => chooseCase(i) }, `${c.graph} on ${c.platform}`)))]);
  const rows = names.map((n) => el("tr", {}, [el("td", {}, breakable(n)), ...data.cases.map((c) => {
    const r = c.rows.find((x) => x.scheduler === n);
    return el("td", {}, r ? el("span", { class: r.makespan <= c.rows[0].makespan * (1 + 1e-9) ? "cell first" : "cell" }, percent(r.gap)) : "–");
  })]));
  show("overview", el("div", { class: "scroll" }, el("table", { class: "overview" }, [el("thead", {}, head), el("tbody", {}, rows)])),
    el("p", { class: "note" }, "The shortest makespan of each column stands out."));
}
