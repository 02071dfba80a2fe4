// What is shown, and the choices that change it.

function showFocus() {
  const c = view.c;
  document.getElementById("focus").replaceChildren(
    el("label", { for: "row-choice" }, "Below: the execution of"),
    el("select", { id: "row-choice", onchange: (e) => choose(c.rows[Number(e.target.value)], false) },
      c.rows.map((r, i) => el("option", { value: i, selected: r === view.row }, `${nameIn(c, r)}, ${time(r.makespan)}`))));
}

function choose(row, scroll = true) {
  view.row = row;
  showRanking();
  showRow();
  if (scroll) document.getElementById("focus").scrollIntoView({ block: "start" });
}

function showRow() {
  showFocus();
  showGantt();
  showChain();
  showCurves();
  showLinks();
  showTrust();
}

function chooseCase(i) {
  view.c = data.cases[i];
  view.row = view.c.rows[0];
  gantt.from = 0;
  gantt.to = 1;
  showCase();
}

const counted = (n, what) => `${n} ${what}${n === 1 ? "" : "s"}`;

function showCase() {
  const c = view.c;
  document.getElementById("title").textContent = `${c.graph} on ${c.platform}`;
  document.getElementById("subtitle").textContent = [`${c.tasks} tasks`, c.kinds.map((k) => `${k.count} × ${k.name}`).join(" + "),
    c.mode, c.batch > 0 ? `batch ${c.batch}` : "", counted(new Set(c.rows.map((r) => r.scheduler)).size, "scheduler"),
    new Set(c.rows.map((r) => r.engine)).size > 1 ? counted(new Set(c.rows.map((r) => r.engine)).size, "engine") : ""].filter(Boolean).join(", ");
  const box = document.getElementById("case-choice");
  box.hidden = data.cases.length < 2;
  box.replaceChildren(el("label", { for: "case" }, "Graph and machine"), el("select", { id: "case", onchange: (e) => chooseCase(Number(e.target.value)) },
    data.cases.map((x, i) => el("option", { value: i, selected: x === c }, `${x.graph} on ${x.platform}`))));
  showVerdict();
  showOverview();
  showRanking();
  showLost();
  showHelp();
  showRow();
  showAgain();
}

document.body.append(patternDefs());
showCase();
window.addEventListener("resize", () => requestAnimationFrame(draw));
window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { PATTERN_CACHE.clear(); draw(); });
window.addEventListener("scroll", hideTip, { passive: true });
