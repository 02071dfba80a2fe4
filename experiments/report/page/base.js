"use strict";
// Elements, numbers and packed arrays. Text from the data goes into the page as text nodes only.

const SVG = "http://www.w3.org/2000/svg";
const data = JSON.parse(document.getElementById("data").textContent);

function fill(node, attributes, children) {
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else node.setAttribute(key, value === true ? "" : value);
  }
  for (const child of [].concat(children ?? [])) if (child !== null && child !== undefined) node.append(child);
  return node;
}
const el = (name, attributes, children) => fill(document.createElement(name), attributes, children);
const svg = (name, attributes, children) => fill(document.createElementNS(SVG, name), attributes, children);
const body = (id) => document.querySelector(`#${id} > div`);
const show = (id, ...children) => { const b = body(id); b.replaceChildren(...children.filter(Boolean)); return b; };
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// Four significant digits; an exponent only far from everyday numbers.
function digits(value, most = 4) {
  const size = Math.abs(value);
  if (!Number.isFinite(value)) return "–";
  if (size === 0) return "0";
  if (size >= 1e7 || size < 1e-3) return value.toExponential(2);
  const before = Math.floor(Math.log10(size)) + 1;
  return String(Number(value.toFixed(Math.max(0, most - before))));
}
const percent = (share, places = 1) => {
  const p = 100 * share, size = Math.abs(p);
  if (size > 0 && size < 0.05) return "< 0.1 %";
  return `${size >= 100 || size === 0 ? p.toFixed(0) : p.toFixed(size < 9.95 ? places : 0)} %`;
};
// The unit that suits `scale` (seconds), as [factor, name].
function timeUnit(scale) {
  if (view.c.unitless) return [1, ""];
  if (scale >= 1) return [1, "s"];
  if (scale >= 1e-3) return [1e3, "ms"];
  if (scale >= 1e-6) return [1e6, "µs"];
  return [1e9, "ns"];
}
function time(seconds, places = 4) {
  const [factor, unit] = seconds === 0 ? [1, view.c.unitless ? "" : "s"] : timeUnit(Math.abs(seconds));
  return `${digits(seconds * factor, places)}${unit ? "\u202f" + unit : ""}`;
}
function ownTime(seconds) {
  const unit = seconds >= 1 ? [1, "s"] : seconds >= 1e-3 ? [1e3, "ms"] : [1e6, "µs"];
  return `${digits(seconds * unit[0], 3)}\u202f${unit[1]}`;
}
function bytesUnit(scale) {
  if (scale >= 1e9) return [1e-9, "GB"];
  if (scale >= 1e6) return [1e-6, "MB"];
  if (scale >= 1e3) return [1e-3, "kB"];
  return [1, "B"];
}
function bytes(value, plain = view.c.unitless) {
  if (plain) return digits(value);
  const [factor, unit] = bytesUnit(value);
  return `${digits(value * factor)}\u202f${unit}`;
}

// Long names may break behind an underscore, a point or a slash.
const breakable = (name) => name.split(/(?<=[_./>])/).flatMap((part, i) => i ? [el("wbr"), part] : [part]);

function unpack(text, type) {
  const raw = atob(text), buffer = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; ++i) buffer[i] = raw.charCodeAt(i);
  return new type(buffer.buffer);
}
const floats = (text) => unpack(text, Float32Array);

// Ticks at 1, 2 or 5 times a power of ten, about `count` of them.
function ticks(from, to, count) {
  const span = to - from;
  if (!(span > 0)) return [from];
  const raw = span / Math.max(1, count), power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw * 0.999);
  const out = [];
  for (let i = Math.ceil(from / step - 1e-9); i * step <= to + step * 1e-9; ++i) out.push(i * step);
  return out;
}

const tip = document.getElementById("tip");
function showTip(x, y, lines) {
  tip.replaceChildren(...lines.map((line, i) => i === 0 ? el("b", {}, line) : el("span", {}, [line, el("br")])));
  tip.hidden = false;
  const width = document.documentElement.clientWidth, box = tip.getBoundingClientRect();
  const left = Math.max(8, Math.min(x + 14, width - box.width - 8));
  tip.style.left = `${left + window.scrollX}px`;
  tip.style.top = `${(y + 18 + box.height > window.innerHeight ? y - box.height - 12 : y + 18) + window.scrollY}px`;
}
function hideTip() { tip.hidden = true; }

// What the page looks at.
const view = { c: data.cases[0], row: data.cases[0].rows[0] };

const CAUSES = [
  ["predecessor", "waiting for a predecessor"], ["data", "waiting for data"], ["memory", "waiting for memory"],
  ["nothing_ready", "nothing ready"], ["no_work", "given no work"], ["overhead", "runtime overhead"]];

// Fills that differ without colour: each cause has a pattern of its own.
function patternDefs() {
  const line = (d, width = 1.4) => svg("path", { d, stroke: "var(--card)", "stroke-width": width, fill: "none" });
  const pattern = (name, marks) => svg("pattern", { id: `p-${name}`, width: 6, height: 6, patternUnits: "userSpaceOnUse" },
    [svg("rect", { width: 6, height: 6, fill: `var(--${name})` }), ...marks]);
  const dots = svg("circle", { cx: 3, cy: 3, r: 1.3, fill: "var(--card)" });
  return svg("svg", { width: 0, height: 0, style: "position:absolute", "aria-hidden": "true" }, svg("defs", {}, [
    pattern("busy", []), pattern("predecessor", [line("M-1,1 L1,-1 M0,6 L6,0 M5,7 L7,5")]), pattern("data", [dots]),
    pattern("memory", [line("M0,0 L6,6 M0,6 L6,0")]), pattern("nothing_ready", [line("M0,3 H6")]),
    pattern("no_work", []), pattern("overhead", [line("M3,0 V6")])]));
}
