"use strict";
// A chart of curves as inline SVG, with values under the pointer.

const SVG = "http://www.w3.org/2000/svg";

function svg(name, attributes, text) {
  const node = document.createElementNS(SVG, name);
  for (const key in attributes) node.setAttribute(key, attributes[key]);
  if (text !== undefined) node.textContent = text;
  return node;
}

function element(name, className, text) {
  const node = document.createElement(name);
  if (className) node.className = className;
  if (text !== undefined) node.textContent = text;
  return node;
}

function extent(lists) {
  let low = Infinity, high = -Infinity;
  for (const list of lists) for (const v of list) {
    if (v !== null && Number.isFinite(v)) { if (v < low) low = v; if (v > high) high = v; }
  }
  return [low, high];
}

// Limits and ticks of an axis; a logarithmic one works with exponents.
function scaleOf(axis, lists, pixels, perTick) {
  const log = axis.log;
  const map = log ? (v) => Math.log10(v) : (v) => v;
  let [low, high] = axis.limits || extent(log ? lists.map((list) => list.filter((v) => v > 0)) : lists);
  if (!Number.isFinite(low)) [low, high] = log ? [0.1, 1] : [0, 1];
  low = map(low); high = map(high);
  const count = Math.max(2, Math.floor(pixels / perTick));
  if (log) {
    low = Math.floor(low - 1e-9); high = Math.ceil(high + 1e-9);
    if (high - low < 2) { low -= (2 - high + low) / 2; high = low + 2; low = Math.floor(low); high = Math.ceil(high); }
    return { map, low, high, ticks: decadeTicks(low, high, count).map((k) => [k, powerOfTen(k)]) };
  }
  if (low === high) { const pad = Math.abs(low) / 2 || 1; low -= pad; high += pad; }
  if (!axis.tight) {
    const pad = (high - low) * 0.05;
    low -= pad; high += pad;
  }
  return { map, low, high, ticks: linearTicks(low, high, count).map((v) => [v, number(v)]) };
}

class Chart {
  constructor(host, spec) {
    this.host = host;
    this.spec = spec;
    this.tip = element("div", "tip");
    this.tip.hidden = true;
    host.classList.add("chart");
    Chart.all.push(this);
    new ResizeObserver(() => this.draw()).observe(host);
    host.addEventListener("pointermove", (event) => this.point(event));
    host.addEventListener("pointerleave", () => this.leave());
    this.draw();
  }

  update(spec) {
    this.spec = spec;
    this.draw();
  }

  // On paper a chart is half a page wide, whatever the screen: letters keep their size.
  draw(paper) {
    const { spec, host } = this;
    const width = paper || Math.max(host.clientWidth, 220), height = spec.height || 230;
    const lines = spec.lines || [];
    const box = { left: 58, right: width - 12, top: 12, bottom: height - 40 };
    const x = scaleOf({ tight: true, ...spec.x }, spec.series.map((s) => s.x), box.right - box.left, 70);
    const y = scaleOf(spec.y, [...spec.series.map((s) => s.y), lines.map((l) => l.y)], box.bottom - box.top, 38);
    this.px = (v) => box.left + ((x.map(v) - x.low) / (x.high - x.low)) * (box.right - box.left);
    this.py = (v) => box.bottom - ((y.map(v) - y.low) / (y.high - y.low)) * (box.bottom - box.top);
    this.box = box;
    const root = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": spec.title || spec.y.label });
    const place = (scale, from, to) => scale.ticks.map(([v, text]) => [from + ((v - scale.low) / (scale.high - scale.low)) * (to - from), text]);
    for (const [at, text] of place(y, box.bottom, box.top)) {
      root.append(svg("path", { class: "grid", d: `M${box.left} ${at}H${box.right}` }), svg("text", { x: box.left - 7, y: at + 4, "text-anchor": "end" }, text));
    }
    for (const [at, text] of place(x, box.left, box.right)) {
      root.append(svg("path", { class: "tick", d: `M${at} ${box.bottom}v5` }), svg("text", { x: at, y: box.bottom + 18, "text-anchor": "middle" }, text));
    }
    root.append(svg("path", { class: "axis", d: `M${box.left} ${box.top}V${box.bottom}H${box.right}` }));
    root.append(svg("text", { class: "name", x: (box.left + box.right) / 2, y: height - 5, "text-anchor": "middle" }, spec.x.label));
    root.append(svg("text", { class: "name", transform: `translate(12 ${(box.top + box.bottom) / 2}) rotate(-90)`, "text-anchor": "middle" }, spec.y.label));
    for (const line of lines) {
      const at = this.py(line.y);
      root.append(svg("path", { class: "limit", d: `M${box.left} ${at}H${box.right}` }));
      root.append(svg("text", { class: "limit-name", x: box.right - 4, y: at - 6, "text-anchor": "end" }, line.name));
    }
    for (const series of spec.series) {
      root.append(svg("path", { class: `curve s${series.colour} ${series.style || `dash${Math.floor(series.colour / 4)}`}`, d: this.path(series) }));
    }
    this.marks = svg("g", { class: "marks" });
    root.append(this.marks);
    host.replaceChildren(root, this.tip, ...(spec.series.length > 1 ? [this.legend()] : []));
  }

  path(series) {
    let text = "", pen = "M";
    const log = this.spec.y.log;
    series.x.forEach((v, k) => {
      const value = series.y[k];
      if (value === null || !Number.isFinite(value) || (log && value <= 0)) { pen = "M"; return; }
      text += `${pen}${this.px(v).toFixed(1)} ${this.py(value).toFixed(1)}`;
      pen = "L";
    });
    // A single value would be no line at all: a short stroke shows it.
    return /L/.test(text) ? text : text + "h3";
  }

  legend() {
    const list = element("div", "legend");
    for (const series of this.spec.series) {
      const item = element("span");
      const key = svg("svg", { viewBox: "0 0 26 8", width: 26, height: 8, "aria-hidden": "true" });
      key.append(svg("path", { class: `curve s${series.colour} ${series.style || `dash${Math.floor(series.colour / 4)}`}`, d: "M1 4H25" }));
      item.append(key, ` ${series.name}`);
      list.append(item);
    }
    return list;
  }

  point(event) {
    const area = this.host.querySelector("svg").getBoundingClientRect();
    const ratio = this.host.querySelector("svg").viewBox.baseVal.width / area.width;
    const at = (event.clientX - area.left) * ratio;
    const first = this.spec.series[0];
    if (!first || at < this.box.left - 8 || at > this.box.right + 8) return this.leave();
    const nearest = (list) => list.reduce((best, v, k) => (Math.abs(this.px(v) - at) < Math.abs(this.px(list[best]) - at) ? k : best), 0);
    const rows = this.spec.series.map((series) => { const k = nearest(series.x); return { series, x: series.x[k], y: series.y[k] }; });
    this.marks.replaceChildren(svg("path", { class: "guide", d: `M${this.px(rows[0].x)} ${this.box.top}V${this.box.bottom}` }));
    for (const row of rows) {
      if (row.y === null || (this.spec.y.log && row.y <= 0)) continue;
      this.marks.append(svg("circle", { class: `f${row.series.colour}`, cx: this.px(row.x), cy: this.py(row.y), r: 3.5 }));
    }
    const label = this.spec.x.label.split(" ").pop();
    this.tip.replaceChildren(element("b", "", `${label} = ${number(rows[0].x)}`));
    for (const row of rows) this.tip.append(element("div", "", `${row.series.name}: ${number(row.y, 3)}`));
    this.tip.hidden = false;
    const left = this.px(rows[0].x) / ratio;
    this.tip.style.left = left > area.width / 2 ? "" : `${left + 12}px`;
    this.tip.style.right = left > area.width / 2 ? `${area.width - left + 12}px` : "";
    this.tip.style.top = "14px";
  }

  leave() {
    this.tip.hidden = true;
    if (this.marks) this.marks.replaceChildren();
  }
}

Chart.all = [];
window.addEventListener("beforeprint", () => Chart.all.forEach((chart) => chart.draw(360)));
window.addEventListener("afterprint", () => Chart.all.forEach((chart) => chart.draw()));
