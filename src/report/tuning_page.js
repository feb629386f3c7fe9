// Draws the page from `data`. Bars and tables are HTML; the two plots are SVG, drawn anew for the width they get.
const NS = "http://www.w3.org/2000/svg";
const at = id => document.getElementById(id);
const html = (tag, name, text) => {
  const e = document.createElement(tag);
  if (name) e.className = name;
  if (text !== undefined) e.textContent = text;
  return e;
};
const svg = (tag, attributes, text) => {
  const e = document.createElementNS(NS, tag);
  for (const [key, value] of Object.entries(attributes || {})) e.setAttribute(key, value);
  if (text !== undefined) e.textContent = text;
  return e;
};

const ms = x => x >= 100 ? x.toFixed(0) + " ms" : x >= 1 ? x.toFixed(2) + " ms" : (x * 1000).toFixed(x >= 0.01 ? 0 : 1) + " µs";
const rate = x => x >= 1000 ? (x / 1000).toFixed(2) + " TF/s" : x.toPrecision(3) + " GF/s";
const short = x => x >= 1e6 ? x / 1e6 + "M" : x >= 1000 ? x / 1000 + "k" : String(+x.toPrecision(3));
const sum = list => list.reduce((a, b) => a + b, 0);
const after = t => t.ratio ? t.run_ms / t.ratio : t.run_ms;
const shapes = t => (t.workload.match(/\[[^\]]*\]/g) || []).slice(0, 2).join(" ");
const label = t => t.op.replace("attune::", "") + " " + shapes(t) + (t.nodes > 1 ? " ×" + t.nodes : "");

const s = data.summary;
const beforeAll = sum(data.tasks.map(t => t.run_ms));

function drawHead() {
  document.title = "attune: " + s.model;
  at("conclusion").textContent = s.model + ": " + s.conclusion + ".";
  const cards = [["speed-up", s.speedup ? s.speedup.toFixed(3) + "x" : "none"], ["before", ms(s.before_ms || beforeAll)],
    ["after", s.applied ? ms(s.after_ms) : "default kept"], ["trials", s.trials],
    ["failed", s.failed_trials], ["known before", s.reused_trials], ["noise floor", (100 * s.noise_floor).toFixed(2) + " %"], ["tuned for", s.tuning_time]];
  for (const [what, value] of cards) {
    const card = html("div", "card", what);
    card.append(html("b", "", value));
    at("cards").append(card);
  }
}

function makeRow(name, bars, figures, strong) {
  const row = html("div", "row");
  const text = html("div", "name", name);
  text.title = name;
  const told = html("div", "figures", figures);
  if (strong) told.append(" ", html("b", "", strong));
  row.append(text, bars, told);
  return row;
}

function makeBar(kind, share) {
  const bar = html("div", "bar " + kind);
  bar.style.width = 100 * share + "%";
  return bar;
}

function drawBars() {
  const most = 24, shown = data.tasks.slice(0, most), longest = Math.max(...shown.map(t => t.run_ms), 1e-12);
  const notes = [];
  if (data.tasks.length > most)
    notes.push("The " + (data.tasks.length - most) + " workloads not shown take " + ms(sum(data.tasks.slice(most).map(t => t.run_ms))) + " together.");
  if (!s.applied && data.tasks.some(t => t.ratio)) notes.push("The default plan is kept: the model as a whole was not faster with the winners.");
  at("bars-note").textContent = notes.join(" ");
  for (const t of shown) {
    const bars = html("div", "bars");
    bars.append(makeBar("before", t.run_ms / longest), makeBar("after", after(t) / longest));
    if (t.roofline_ms > 0) {
      const tick = html("div", "tick roof");
      tick.style.left = "min(" + 100 * t.roofline_ms / longest + "%, calc(100% - 3px))";
      bars.append(tick);
    }
    at("bars").append(makeRow(label(t), bars, t.ratio ? ms(t.run_ms) + " → " + ms(after(t)) : ms(t.run_ms), t.ratio ? t.ratio.toFixed(2) + "x" : ""));
  }
}

function drawShares() {
  const byOp = new Map();
  for (const t of data.tasks) byOp.set(t.op, (byOp.get(t.op) || 0) + (s.applied ? after(t) : t.run_ms));
  const total = sum([...byOp.values()]) || 1;
  const sorted = [...byOp].sort((a, b) => b[1] - a[1]), shown = sorted.slice(0, 11), rest = sorted.slice(11);
  if (rest.length) shown.push([rest.length + " others", sum(rest.map(r => r[1]))]);
  for (const [op, value] of shown) {
    const bars = html("div", "bars");
    bars.append(makeBar("share", value / shown[0][1]));
    at("shares").append(makeRow(op.replace("attune::", ""), bars, ms(value), (100 * value / total).toFixed(1) + " %"));
  }
}

/// 3 to 6 round numbers that cover the range.
function ticks(low, high) {
  const span = (high - low) / 5 || 1, power = 10 ** Math.floor(Math.log10(span));
  const step = power * [1, 2, 5, 10].find(f => f * power >= span), result = [];
  for (let v = Math.ceil(low / step) * step; v <= high + step * 1e-6; v += step) result.push(v);
  return result;
}
/// Powers of ten, and 2 and 5 between them where there are few.
function logTicks(low, high) {
  const result = [], steps = high / low < 300 ? [1, 2, 5] : [1];
  for (let e = Math.floor(Math.log10(low)); e <= Math.log10(high); ++e)
    for (const step of steps) if (step * 10 ** e >= low && step * 10 ** e <= high) result.push(step * 10 ** e);
  return result;
}

function drawConvergence() {
  const place = at("convergence"), width = place.clientWidth, height = 240, left = 62, right = 14, top = 14, bottom = 34;
  place.replaceChildren();
  const points = data.convergence;
  if (!points.length) {
    place.append(html("p", "note", "Nothing was measured in this run: all of it was known."));
    return;
  }
  const picture = svg("svg", {width, height, role: "img", "aria-label": "convergence"});
  const end = points[points.length - 1], values = points.map(p => p[1]);
  let low = Math.min(...values), high = Math.max(...values, beforeAll);
  const room = Math.max((high - low) * 0.08, high * 0.002);
  low -= room, high += room;
  const x = t => left + t / end[0] * (width - left - right), y = v => top + (high - v) / (high - low) * (height - top - bottom);
  for (const v of ticks(low, high)) {
    picture.append(svg("line", {class: "grid", x1: left, x2: width - right, y1: y(v), y2: y(v)}));
    picture.append(svg("text", {x: left - 8, y: y(v) + 4, "text-anchor": "end"}, ms(v)));
  }
  for (const t of ticks(0, end[0]))
    picture.append(svg("text", {x: x(t), y: height - 14, "text-anchor": "middle"}, short(t) + " s"));
  picture.append(svg("line", {class: "axis", x1: left, x2: width - right, y1: height - bottom, y2: height - bottom}));
  picture.append(svg("line", {class: "start", x1: left, x2: width - right, y1: y(beforeAll), y2: y(beforeAll)}));
  let path = "M" + x(0) + " " + y(beforeAll);
  for (const [t, v] of points) path += "H" + x(t) + "V" + y(v);
  picture.append(svg("path", {class: "line", d: path}));
  const isHigh = y(end[1]) < top + 24;
  picture.append(svg("text", {class: "end", x: width - right, y: y(end[1]) + (isHigh ? 16 : -7), "text-anchor": "end"}, ms(end[1])));
  place.append(picture);
}

function showTip(event, text) {
  const tip = at("tip"), box = event.target.getBoundingClientRect();
  tip.textContent = text;
  tip.hidden = false;
  const x = Math.min(Math.max(8, box.left + box.width / 2 - tip.offsetWidth / 2), document.documentElement.clientWidth - tip.offsetWidth - 8);
  const above = box.top - tip.offsetHeight - 8;
  tip.style.left = x + window.scrollX + "px";
  tip.style.top = (above > 0 ? above : box.bottom + 8) + window.scrollY + "px";
}
const hideTip = () => { at("tip").hidden = true; };

function drawRoofline() {
  const place = at("roofline"), width = place.clientWidth, height = Math.max(300, Math.min(460, width * 0.6));
  const left = 48, right = 14, top = 28, bottom = 40;  // at the top is room for the unit above the highest tick
  place.replaceChildren();
  const dots = data.tasks.filter(t => t.flops > 0 && t.bytes > 0 && t.run_ms > 0)
    .map(t => ({task: t, intensity: t.flops / t.bytes, before: t.flops * t.nodes / (t.run_ms * 1e6), after: t.flops * t.nodes / (after(t) * 1e6)}));
  const peaks = data.roofs.filter(r => r.kind === "peak"), bandwidths = data.roofs.filter(r => r.kind === "bandwidth");
  const notes = [];
  const moving = data.tasks.length - dots.length;
  if (moving) notes.push(moving + (moving === 1 ? " workload that only moves data is" : " workloads that only move data are") + " not here.");
  if (!peaks.length) notes.push("Nothing was measured in this run, the machine's ceilings included, so no roofs are drawn.");
  const highest = Math.max(...peaks.map(p => p.value), 0);
  if (highest && dots.some(d => Math.max(d.before, d.after) > highest))
    notes.push("Flops are those of the plain sum: a convolution by Winograd needs fewer, and may lie above the roof.");
  at("roofline-note").textContent = notes.join(" ");
  if (!dots.length) return;

  const most = Math.max(...dots.map(d => d.task.run_ms));
  const ridges = bandwidths.map(b => highest / b.value);
  const xs = [...dots.map(d => d.intensity), ...ridges], ys = [...dots.flatMap(d => [d.before, d.after]), ...peaks.map(p => p.value)];
  const x0 = Math.min(...xs) / (width < 600 ? 6 : 3), x1 = Math.max(...xs) * 3, y0 = Math.min(...ys) / 2, y1 = Math.max(...ys) * 2;
  const x = v => left + Math.log(v / x0) / Math.log(x1 / x0) * (width - left - right);
  const y = v => top + Math.log(y1 / v) / Math.log(y1 / y0) * (height - top - bottom);
  const picture = svg("svg", {width, height, role: "img", "aria-label": "roofline"});
  for (const v of logTicks(x0, x1)) {
    picture.append(svg("line", {class: "grid", x1: x(v), x2: x(v), y1: top, y2: height - bottom}));
    picture.append(svg("text", {x: x(v), y: height - bottom + 15, "text-anchor": "middle"}, short(v)));
  }
  for (const v of logTicks(y0, y1)) {
    picture.append(svg("line", {class: "grid", x1: left, x2: width - right, y1: y(v), y2: y(v)}));
    picture.append(svg("text", {x: left - 6, y: y(v) + 4, "text-anchor": "end"}, short(v)));
  }
  picture.append(svg("text", {x: width - right, y: height - 8, "text-anchor": "end"}, "flops a byte"));
  picture.append(svg("text", {x: 0, y: 10}, "GF/s"));
  for (const b of bandwidths) {
    // From where the line enters the picture to its ridge.
    const from = Math.max(x0, y0 / b.value), to = Math.min(x1, highest / b.value);
    if (from >= to) continue;
    picture.append(svg("path", {class: "roofline", "data-roof": b.id, d: "M" + x(from) + " " + y(from * b.value) + "L" + x(to) + " " + y(to * b.value)}));
    const slope = Math.atan2(y(to * b.value) - y(from * b.value), x(to) - x(from)) * 180 / Math.PI, px = x(from), py = y(from * b.value);
    picture.append(svg("text", {class: "rooflabel", x: px + 6, y: py - 5, transform: "rotate(" + slope + " " + px + " " + py + ")"}, b.what + " " + b.value.toFixed(0) + " GB/s"));
  }
  const steepest = Math.max(...bandwidths.map(b => b.value), 0);
  for (const p of peaks) {
    const from = steepest ? Math.max(x0, p.value / steepest) : x0;
    picture.append(svg("path", {class: "roofline", "data-roof": p.id, d: "M" + x(from) + " " + y(p.value) + "H" + (width - right)}));
    picture.append(svg("text", {class: "rooflabel", x: width - right, y: y(p.value) - 5, "text-anchor": "end"}, p.what + " " + rate(p.value)));
  }
  const add = (dot, kind, value) => {
    const radius = 3 + 6 * Math.sqrt(dot.task.run_ms / most);
    const circle = svg("circle", {class: "dot-" + kind, cx: x(dot.intensity), cy: y(value), r: radius, tabindex: 0});
    const verdict = dot.task.ratio ? dot.task.ratio.toFixed(2) + "x" : dot.task.verdict;
    const text = label(dot.task) + "\n" + rate(dot.before) + (dot.task.ratio ? " → " + rate(dot.after) : "") + ", " + verdict + "\n" +
      dot.intensity.toPrecision(3) + " flops a byte, " + ms(after(dot.task)) + " of a run";
    circle.setAttribute("aria-label", text);
    for (const name of ["pointerenter", "focus"]) circle.addEventListener(name, event => showTip(event, text));
    for (const name of ["pointerleave", "blur"]) circle.addEventListener(name, hideTip);
    picture.append(circle);
  };
  dots.sort((a, b) => b.task.run_ms - a.task.run_ms);  // small ones on top
  for (const dot of dots) {
    picture.append(svg("line", {class: "move", x1: x(dot.intensity), x2: x(dot.intensity), y1: y(dot.before), y2: y(dot.after)}));
    add(dot, "before", dot.before);
  }
  for (const dot of dots) add(dot, "after", dot.after);
  place.append(picture);
}

// Columns as [name, kind]; rows as lists of texts in their order.
function drawTable(id, columns, rows) {
  const head = html("tr");
  for (const [name, kind] of columns) head.append(html("th", kind === "code" ? "" : kind, name));
  const body = html("tbody");
  for (const cells of rows) {
    const tr = html("tr");
    cells.forEach((value, i) => {
      const [name, kind] = columns[i], cell = html("td", kind === "code" ? "" : kind);
      if (kind === "code") cell.append(html("code", "", value)); else cell.textContent = value;
      if (i > 0 && value !== "") cell.dataset.label = name;
      tr.append(cell);
    });
    body.append(tr);
  }
  const header = html("thead");
  header.append(head);
  at(id).append(header, body);
}

const gain = t => t.ratio ? t.ratio.toFixed(2) + "x (" + t.low.toFixed(2) + "–" + t.high.toFixed(2) + ")" : "";

function drawTasks() {
  drawTable("tasks", [["workload", "code"], ["nodes", "n"], ["run", "n"], ["verdict"], ["speed-up", "n"], ["tried", "n wrap"], ["kernel", "code"]],
    data.tasks.map(t => [t.workload, t.nodes, ms(t.run_ms), t.verdict, gain(t), t.tried + (t.space ? " of " + t.space : ""), t.after || t.before]));
}

function drawSubgraphs() {
  at("subgraphs-section").hidden = !data.subgraphs.length;
  drawTable("subgraphs", [["operators", "code"], ["places", "n"], ["run", "n"], ["verdict"], ["speed-up", "n"], ["tried", "n"], ["best way tried", "code"]],
    data.subgraphs.map(t => [t.whole, t.nodes, ms(t.run_ms), t.verdict, gain(t), t.tried + " of " + t.candidates, t.way]));
}

drawHead();
drawBars();
drawShares();
drawTasks();
drawSubgraphs();
let drawnFor = 0;
const drawPlots = () => {
  const width = at("roofline").clientWidth;
  if (width === drawnFor) return;
  drawnFor = width;
  hideTip();
  drawConvergence();
  drawRoofline();
};
drawPlots();
window.addEventListener("resize", drawPlots);
