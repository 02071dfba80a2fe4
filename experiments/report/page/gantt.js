// The schedule as bars on a canvas: rows for workers, thin ones for transfers.

const INKS = ["#2f6f9f", "#d98200", "#17806a", "#8a4fa3", "#b9502f", "#5aa5d8", "#8c7a1d", "#737b82"];
const gantt = { from: 0, to: 1, colourBy: "codelet", critical: true, gaps: true, transfers: true, idleRows: false, bars: new Map() };

function barsOf(row) {  // unpacked once for each row
  if (gantt.bars.has(row)) return gantt.bars.get(row);
  const g = row.gantt, b = { start: floats(g.start), end: floats(g.end), worker: unpack(g.worker, Uint16Array), task: unpack(g.task, Uint32Array),
    tasks: unpack(g.tasks, Uint32Array), flags: unpack(g.flags, Uint8Array), waited: floats(g.waited), busy: floats(g.busy), first: [] };
  const n = b.start.length;
  for (let i = 0, w = 0; w <= view.c.workers.length; ++w) {
    while (i < n && b.worker[i] < w) ++i;
    b.first.push(i);
  }
  const t = g.transfers, x = { start: floats(t.start), end: floats(t.end), from: unpack(t.from, Uint16Array), to: unpack(t.to, Uint16Array), critical: unpack(t.critical, Uint8Array), data: unpack(t.data, Uint32Array) };
  const lanes = new Map();
  for (let i = 0; i < x.start.length; ++i) {
    const key = `${x.from[i]}>${x.to[i]}`;
    if (!lanes.has(key)) lanes.set(key, { name: `${view.c.memories[x.from[i]].name}→${view.c.memories[x.to[i]].name}`, items: [], sum: 0 });
    lanes.get(key).items.push(i);
    lanes.get(key).sum += x.end[i] - x.start[i];
  }
  b.x = x;
  b.pairs = lanes.size;
  b.lanes = [...lanes.values()].sort((a, c) => c.sum - a.sum).slice(0, 16);
  gantt.bars.set(row, b);
  return b;
}

function groupsOf(c) {  // of each task its codelet or layer, and the groups by total time
  c.codeletOf ??= unpack(c.taskCodelet, Uint16Array);
  c.layerOf ??= unpack(c.taskLayer, Int32Array);
  return gantt.colourBy === "layer" && c.layers.length ? [c.layerOf, c.layers] : [c.codeletOf, c.codelets];
}
function taskName(c, t) { return c.names.length ? c.names[t] : `${c.codelets[groupsOf(c) && c.codeletOf[t]]} ${t}`; }

function rowsOf(b) {
  const rows = [];
  view.c.workers.forEach((w, i) => {
    if (b.first[i + 1] > b.first[i] || gantt.idleRows) rows.push({ worker: i, name: w.name });
  });
  const many = rows.length, height = many <= 12 ? 26 : many <= 40 ? 17 : many <= 90 ? 9 : 5;
  rows.forEach((r) => { r.height = height; });
  if (gantt.transfers) for (const lane of b.lanes) rows.push({ lane, name: lane.name, height: Math.min(12, height) });
  return rows;
}

const PATTERN_CACHE = new Map();
function gapFill(context, cause) {
  if (PATTERN_CACHE.has(cause)) return PATTERN_CACHE.get(cause);
  const ink = colour(`--${cause}`);
  const tile = document.createElement("canvas");
  tile.width = tile.height = 8;
  const t = tile.getContext("2d");
  t.strokeStyle = t.fillStyle = ink;
  t.lineWidth = 1.1;
  t.beginPath();
  if (cause === "predecessor") { t.moveTo(-1, 1); t.lineTo(1, -1); t.moveTo(0, 8); t.lineTo(8, 0); t.moveTo(7, 9); t.lineTo(9, 7); }
  else if (cause === "data") t.arc(4, 4, 1.3, 0, 7);
  else if (cause === "memory") { t.moveTo(0, 0); t.lineTo(8, 8); t.moveTo(0, 8); t.lineTo(8, 0); }
  else if (cause === "overhead") { t.moveTo(4, 0); t.lineTo(4, 8); }
  else { t.moveTo(0, 4); t.lineTo(8, 4); t.globalAlpha = .6; }
  if (cause === "data") t.fill(); else t.stroke();
  PATTERN_CACHE.set(cause, context.createPattern(tile, "repeat"));
  return PATTERN_CACHE.get(cause);
}

function layout(canvas) {
  const b = barsOf(view.row), rows = rowsOf(b), width = canvas.clientWidth;
  const left = width < 520 ? 78 : 136;
  let y = 6;
  let lanes = false;
  for (const r of rows) {
    if (r.lane && !lanes) { y += 8; lanes = true; }
    r.y = y;
    y += r.height + (r.height > 8 ? 3 : 1);
  }
  return { b, rows, width, left, height: y + 34, bottom: y };
}

function draw() {
  const canvas = document.getElementById("gantt-canvas");
  if (!canvas || !canvas.clientWidth) return;
  const l = layout(canvas), scale = window.devicePixelRatio || 1;
  canvas.style.height = `${l.height}px`;
  canvas.width = Math.round(l.width * scale);
  canvas.height = Math.round(l.height * scale);
  const g = canvas.getContext("2d");
  g.setTransform(scale, 0, 0, scale, 0, 0);
  const paint = { g, ...l, span: view.row.makespan, ink: colour("--ink"), quiet: colour("--quiet"), soft: colour("--soft"), rule: colour("--rule"), card: colour("--card"), busy: colour("--quiet") };
  paint.x = (t) => l.left + (t / paint.span - gantt.from) / (gantt.to - gantt.from) * (l.width - l.left - 8);
  drawAxis(paint);
  for (const r of l.rows) {
    g.fillStyle = paint.soft;
    g.fillRect(l.left, r.y, l.width - l.left - 8, r.height);
    g.save();
    g.beginPath();
    g.rect(l.left, r.y - 1, l.width - l.left - 8, r.height + 3);
    g.clip();
    if (r.lane) drawLane(paint, r); else drawWorker(paint, r);
    g.restore();
  }
  drawNames(paint);
}

function drawAxis(p) {
  const [factor, unit] = timeUnit(p.span * (gantt.to - gantt.from)), g = p.g;
  g.font = "11px system-ui, sans-serif";
  g.strokeStyle = p.rule;
  g.fillStyle = p.quiet;
  g.lineWidth = 1;
  g.textAlign = "center";
  const list = ticks(gantt.from * p.span * factor, gantt.to * p.span * factor, Math.max(3, (p.width - p.left) / 110));
  for (const t of list) {
    const x = Math.round(p.x(t / factor)) + .5;
    if (x < p.left - 1 || x > p.width - 7) continue;
    g.beginPath(); g.moveTo(x, 2); g.lineTo(x, p.bottom); g.stroke();
    const step = list.length > 1 ? list[1] - list[0] : 1;
    const label = Number(t.toFixed(Math.max(0, 1 - Math.floor(Math.log10(step))))).toString();
    g.fillText(label, Math.min(Math.max(x, p.left + 8), p.width - 8 - label.length * 3.4), p.bottom + 14);
  }
  g.textAlign = "right";
  g.fillText(unit ? `time in ${unit}` : "time", p.width - 8, p.bottom + 29);
}

function drawNames(p) {
  const g = p.g;
  g.textAlign = "right";
  g.fillStyle = p.quiet;
  let last = -20;
  for (const r of p.rows) {
    if (r.y - last < 10) continue;
    last = r.y;
    const room = p.left - 8;
    const parts = r.name.split("→"), text = () => parts.join("→");
    while (g.measureText(text()).width > room) {  // the longer side loses its beginning: names differ at their ends
      const i = parts.length > 1 && parts[1].length > parts[0].length ? 1 : 0;
      if (parts[i].length < 3) break;
      parts[i] = "…" + parts[i].slice(2);
    }
    const name = text();
    g.fillText(name, p.left - 6, r.y + r.height / 2 + 4);
  }
}

function drawWorker(p, r) {
  const { b, g } = p, c = view.c, [groupOf, names] = groupsOf(c);
  const ranks = c.ranks?.[gantt.colourBy] ?? rank(c, groupOf, names);
  const end = gantt.to * p.span, begin = gantt.from * p.span;
  let i = b.first[r.worker], hi = b.first[r.worker + 1];
  for (let n = hi - i; n > 1;) { const half = n >> 1; if (b.end[i + half - 1] < begin) { i += half; n -= half; } else n = half; }
  let drawn = -1;
  g.font = "11px system-ui, sans-serif";
  g.textAlign = "left";
  for (; i < hi && b.start[i] - b.waited[i] <= end; ++i) {
    const x0 = p.x(b.start[i]), x1 = p.x(b.end[i]), critical = gantt.critical && (b.flags[i] & 1);
    const gap0 = p.x(b.start[i] - b.waited[i]);
    if (gantt.gaps && x0 - gap0 > 2.5) {
      g.fillStyle = gapFill(g, CAUSES[b.flags[i] >> 1][0]);
      g.fillRect(gap0, r.y + 1, x0 - gap0, r.height - 2);
    }
    const width = Math.max(x1 - x0, .7);
    if (x0 + width < drawn + .5 && !critical) continue;  // the pixel is taken
    drawn = x0 + width;
    const k = ranks.get(groupOf[b.task[i]]) ?? INKS.length - 1;
    const share = b.tasks[i] > 1 ? Math.max(.25, b.busy[i] / (b.end[i] - b.start[i] || 1)) : 1;
    g.globalAlpha = (gantt.critical && !critical ? .5 : 1) * share;
    g.fillStyle = INKS[k];
    g.fillRect(x0, r.y, width > 3 ? width - .6 : width, r.height);
    g.globalAlpha = 1;
    if (critical) {
      g.fillStyle = p.ink;
      g.fillRect(x0, r.y + r.height - Math.min(3, r.height / 3), Math.max(width, 1), Math.min(3, r.height / 3));
    }
    if (width > 34 && r.height >= 14) {
      const text = b.tasks[i] > 1 ? `${b.tasks[i]} tasks` : taskName(c, b.task[i]);
      const room = Math.min(x1, p.width - 8) - Math.max(x0, p.left) - 8;
      if (room > 22) {
        let label = text;
        while (label.length > 2 && g.measureText(label).width > room) label = "…" + label.slice(2);  // names differ at their ends
        const full = !gantt.critical || critical;
        g.fillStyle = full ? "#fff" : p.ink;
        if (label.length > 2) g.fillText(label, Math.max(x0, p.left) + 4, r.y + r.height / 2 + (critical ? 2 : 4));
      }
    }
  }
  if (gantt.gaps && hi > b.first[r.worker]) {
    const x0 = p.x(b.end[hi - 1]), x1 = p.x(p.span);
    if (x1 - x0 > 3) { g.globalAlpha = .5; g.fillStyle = gapFill(g, "no_work"); g.fillRect(x0, r.y + 1, x1 - x0, r.height - 2); g.globalAlpha = 1; }
  }
}

function drawLane(p, r) {
  const { g, b: { x } } = p;
  let drawn = -1;
  for (const i of r.lane.items) {
    if (x.end[i] < gantt.from * p.span || x.start[i] > gantt.to * p.span) continue;
    const x0 = p.x(x.start[i]), x1 = Math.max(p.x(x.end[i]), x0 + .7), critical = gantt.critical && x.critical[i];
    if (x1 < drawn + .5 && !critical) continue;
    drawn = x1;
    g.globalAlpha = gantt.critical && !critical ? .45 : 1;
    g.fillStyle = critical ? p.ink : p.busy;
    g.fillRect(x0, r.y + 1, x1 - x0 > 3 ? x1 - x0 - .6 : x1 - x0, r.height - 2);
  }
  g.globalAlpha = 1;
}

// The groups with the most time in the shown row get colours of their own.
function rank(c, groupOf, names) {
  const sums = new Map(), b = barsOf(c.rows[0]);
  for (let i = 0; i < b.start.length; ++i) {
    const k = groupOf[b.task[i]];
    sums.set(k, (sums.get(k) ?? 0) + b.end[i] - b.start[i]);
  }
  const order = [...sums.entries()].sort((a, d) => d[1] - a[1]).map(([k]) => k);
  const most = order.length <= INKS.length ? order.length : INKS.length - 1;
  c.ranks ??= {};
  c.ranks[gantt.colourBy] = new Map(order.slice(0, most).map((k, i) => [k, i]));
  c.ranks[gantt.colourBy].more = order.length - most;
  return c.ranks[gantt.colourBy];
}

function barAt(canvas, event) {
  const box = canvas.getBoundingClientRect(), l = layout(canvas), span = view.row.makespan;
  const px = event.clientX - box.left, py = event.clientY - box.top;
  const r = l.rows.find((row) => py >= row.y - 1 && py <= row.y + row.height + 1);
  if (!r || px < l.left) return null;
  const perPixel = span * (gantt.to - gantt.from) / (l.width - l.left - 8);
  const t = gantt.from * span + (px - l.left) * perPixel;
  if (r.lane) {
    const x = l.b.x, i = r.lane.items.find((k) => t >= x.start[k] - perPixel && t <= x.end[k] + perPixel);
    return i === undefined ? null : [`Transfer ${r.name}`, `${time(x.start[i])} to ${time(x.end[i])}, ${time(x.end[i] - x.start[i])}`, `datum ${x.data[i]}`, x.critical[i] ? "on the critical chain" : ""].filter(Boolean);
  }
  const b = l.b, c = view.c;
  for (let i = b.first[r.worker]; i < b.first[r.worker + 1]; ++i) {
    if (t > b.end[i] + perPixel) continue;
    if (t < b.start[i] - b.waited[i]) break;
    const cause = CAUSES[b.flags[i] >> 1][1], layer = groupsOf(c) && c.layerOf[b.task[i]];
    if (t < b.start[i] - perPixel) return [`${r.name} waits ${time(b.waited[i])}`, `mostly ${cause}`, `then ${taskName(c, b.task[i])}`];
    const lines = b.tasks[i] > 1 ? [`${b.tasks[i]} tasks, the longest ${taskName(c, b.task[i])}`, `${percent(b.busy[i] / (b.end[i] - b.start[i]))} of the time computing`] : [taskName(c, b.task[i]), `task ${b.task[i]}, ${c.codelets[c.codeletOf[b.task[i]]]}`];
    if (layer >= 0 && c.layers[layer] !== lines[0]) lines.push(`layer ${c.layers[layer]}`);
    lines.push(`on ${r.name}, ${time(b.start[i])} to ${time(b.end[i])}`, `takes ${time(b.end[i] - b.start[i])}`);
    if (b.waited[i] > 0) lines.push(`the worker waited ${time(b.waited[i])} before, mostly ${cause}`);
    if (b.flags[i] & 1) lines.push("on the critical chain");
    return lines;
  }
  return null;
}

function zoom(factor, at = .5) {
  const span = gantt.to - gantt.from, next = Math.min(1, Math.max(1e-6, span / factor));
  pan(gantt.from + (span - next) * at, next);
}
function pan(from, span = gantt.to - gantt.from) {
  gantt.from = Math.min(Math.max(0, from), 1 - span);
  gantt.to = gantt.from + span;
  requestAnimationFrame(draw);
}

function listen(canvas) {
  const fraction = (e) => { const l = layout(canvas), box = canvas.getBoundingClientRect(); return Math.min(1, Math.max(0, (e.clientX - box.left - l.left) / (l.width - l.left - 8))); };
  const held = new Map();
  let reach = 0;
  canvas.addEventListener("wheel", (e) => {
    if (!e.ctrlKey && !e.metaKey && document.activeElement !== canvas) return;
    e.preventDefault();
    if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY)) pan(gantt.from + Math.sign(e.deltaX || e.deltaY) * (gantt.to - gantt.from) * .1);
    else zoom(e.deltaY < 0 ? 1.3 : 1 / 1.3, fraction(e));
  }, { passive: false });
  canvas.addEventListener("pointerdown", (e) => { held.set(e.pointerId, e.clientX); canvas.setPointerCapture(e.pointerId); canvas.classList.add("dragging"); reach = 0; });
  canvas.addEventListener("pointermove", (e) => {
    if (!held.has(e.pointerId)) { const lines = barAt(canvas, e); if (lines) showTip(e.clientX, e.clientY, lines); else hideTip(); return; }
    const width = canvas.clientWidth, span = gantt.to - gantt.from;
    if (held.size === 2) {
      held.set(e.pointerId, e.clientX);
      const [a, b] = [...held.values()], now = Math.abs(a - b);
      if (reach > 0 && now > 0) zoom(now / reach, fraction({ clientX: (a + b) / 2 }));
      reach = now;
      return;
    }
    hideTip();
    pan(gantt.from - (e.clientX - held.get(e.pointerId)) / width * span);
    held.set(e.pointerId, e.clientX);
  });
  const release = (e) => { held.delete(e.pointerId); reach = 0; if (held.size === 0) canvas.classList.remove("dragging"); };
  canvas.addEventListener("pointerup", release);
  canvas.addEventListener("pointercancel", release);
  canvas.addEventListener("pointerleave", hideTip);
  canvas.addEventListener("dblclick", (e) => zoom(3, fraction(e)));
  canvas.addEventListener("keydown", (e) => {
    const span = gantt.to - gantt.from;
    const act = { ArrowLeft: () => pan(gantt.from - span * .15), ArrowRight: () => pan(gantt.from + span * .15), "+": () => zoom(1.5), "=": () => zoom(1.5), "-": () => zoom(1 / 1.5), 0: () => pan(0, 1), Home: () => pan(0), End: () => pan(1) }[e.key];
    if (act) { act(); e.preventDefault(); }
  });
}

function check(text, key) {
  return el("label", {}, [el("input", { type: "checkbox", checked: gantt[key], onchange: (e) => { gantt[key] = e.target.checked; draw(); } }), text]);
}
function showGantt() {
  const c = view.c, r = view.row, b = barsOf(r), [groupOf, names] = groupsOf(c), ranks = rank(c, groupOf, names);
  const button = (text, title, action) => el("button", { type: "button", title, "aria-label": title, onclick: action }, text);
  const tools = el("div", { class: "tools" }, [el("div", { class: "group" }, [
    button("−", "Zoom out", () => zoom(1 / 1.6)), button("+", "Zoom in", () => zoom(1.6)), button("◂", "Earlier", () => pan(gantt.from - (gantt.to - gantt.from) * .25)),
    button("▸", "Later", () => pan(gantt.from + (gantt.to - gantt.from) * .25)), button("All", "Whole schedule", () => pan(0, 1))]),
    c.layers.length > 1 ? el("label", {}, ["Colour by ", el("select", { onchange: (e) => { gantt.colourBy = e.target.value; showGantt(); } },
      ["codelet", "layer"].map((v) => el("option", { value: v, selected: v === gantt.colourBy }, v)))]) : null,
    check("critical chain", "critical"), check("reasons of gaps", "gaps"), b.lanes.length ? check("transfers", "transfers") : null,
    c.workers.some((_, i) => b.first[i + 1] === b.first[i]) ? check("unused workers", "idleRows") : null].filter(Boolean));
  const legend = el("ul", { class: "legend" }, [...[...ranks.entries()].map(([k, i]) => [INKS[i], names[k] ?? "none"]), ...(ranks.more > 0 ? [[INKS[INKS.length - 1], `${ranks.more} others`]] : [])]
    .map(([ink, name]) => el("li", {}, [el("span", { class: "swatch", style: `background:${ink}` }), name])));
  const causes = el("ul", { class: "legend" }, [...CAUSES.map(([name, text]) => el("li", {}, [
    svg("svg", { "aria-hidden": "true" }, svg("rect", { width: "100%", height: "100%", fill: `url(#p-${name})` })), text]))]);
  const canvas = el("canvas", { id: "gantt-canvas", tabindex: 0, role: "img", "aria-label": `Schedule of ${r.scheduler}: ${c.tasks} tasks on ${c.workers.length} workers in ${time(r.makespan)}` });
  const unused = c.workers.filter((_, i) => b.first[i + 1] === b.first[i]).length;
  show("gantt", tools, legend, el("div", { class: "chart" }, canvas), causes,
    el("p", { class: "note" }, [`Drag to move, Ctrl and wheel (or wheel after a click) to zoom, double click to zoom in; keys: arrows, +, −, 0. Tasks of the critical chain are underlined. `,
      r.gantt.merged ? "Short neighbours are drawn together; their brightness is the share of time computing. " : "", unused > 0 ? `${unused} workers ran no task. ` : "",
      b.pairs > 16 ? `Of ${b.pairs} pairs of memories the 16 busiest are shown. ` : ""].join("")));
  listen(canvas);
  draw();
}
