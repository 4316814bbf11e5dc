"use strict";
// The charts of a sweep: a dot for every run, which leads to its report.

const DATA = JSON.parse(document.getElementById("data").textContent);
const COLOURS = 8;

// Text takes equal places in the order in which it first appears; numbers are themselves.
function placed(axis) {
  const text = axis.values.some((v) => typeof v === "string");
  const names = text ? [...new Set(axis.values.filter((v) => v !== null))] : null;
  return { axis, names, at: (k) => (axis.values[k] === null ? null : text ? names.indexOf(axis.values[k]) : axis.values[k]) };
}

function shown(axis, k) {
  const value = axis.values[k];
  return value === null ? "–" : typeof value === "string" ? value : number(value, 3);
}

class Scatter {
  constructor(host, output) {
    this.host = host;
    this.output = output;
    this.tip = element("div", "tip");
    host.classList.add("chart");
    new ResizeObserver(() => this.draw()).observe(host);
    Scatter.all.push(this);
  }

  show(across, colour) {
    this.across = placed(across);
    this.colour = colour && placed(colour);
    this.draw();
  }

  draw(paper) {
    if (!this.across) return;
    const { host, output, across } = this, log = output.log;
    const width = paper || Math.max(host.clientWidth, 220), height = 250;
    const box = { left: 58, right: width - 14, top: 12, bottom: height - 40 };
    const all = DATA.rows.map((row, k) => ({ k, row, x: across.at(k), y: output.values[k] }));
    const dots = all.filter(({ x, y }) => x !== null && y !== null && Number.isFinite(y) && (!log || y > 0));
    const x = scaleOf({ log: across.axis.log }, [dots.map((d) => d.x)], box.right - box.left, 70);
    if (across.names) Object.assign(x, { low: -0.5, high: across.names.length - 0.5, ticks: across.names.map((name, k) => [k, name]) });
    const y = scaleOf({ log }, [dots.map((d) => d.y)], box.bottom - box.top, 38);
    const place = (scale, v, from, to) => from + ((v - scale.low) / (scale.high - scale.low)) * (to - from);
    const root = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": `${output.label} against ${across.axis.label}` });
    for (const [v, text] of y.ticks) {
      const at = place(y, v, box.bottom, box.top);
      root.append(svg("path", { class: "grid", d: `M${box.left} ${at}H${box.right}` }), svg("text", { x: box.left - 7, y: at + 4, "text-anchor": "end" }, text));
    }
    for (const [v, text] of x.ticks) {
      const at = place(x, v, box.left, box.right);
      root.append(svg("path", { class: "tick", d: `M${at} ${box.bottom}v5` }), svg("text", { x: at, y: box.bottom + 18, "text-anchor": "middle" }, text));
    }
    root.append(svg("path", { class: "axis", d: `M${box.left} ${box.top}V${box.bottom}H${box.right}` }));
    root.append(svg("text", { class: "name", x: (box.left + box.right) / 2, y: height - 5, "text-anchor": "middle" }, across.axis.label));
    for (const { k, row, x: vx, y: vy } of dots) {
      const cx = place(x, x.map(vx), box.left, box.right), cy = place(y, y.map(vy), box.bottom, box.top);
      const dot = svg("circle", { class: `run f${this.tone(k)}${row.good ? "" : " unsolved"}`, cx, cy, r: 5 });
      const link = row.report ? svg("a", { href: row.report, "aria-label": `run ${row.run}: ${shown(output, k)}` }) : svg("g", {});
      link.append(dot);
      link.addEventListener("pointerenter", () => this.tell(k, cx, cy, width));
      link.addEventListener("focus", () => this.tell(k, cx, cy, width));
      for (const gone of ["pointerleave", "blur"]) link.addEventListener(gone, () => { this.tip.hidden = true; });
      root.append(link);
    }
    this.tip.hidden = true;
    host.replaceChildren(root, this.tip, ...(this.colour ? [this.legend()] : []));
  }

  tones() { return [...new Set(this.colour.axis.values)].sort((a, b) => (typeof a === "number" && typeof b === "number" ? a - b : 0)); }

  tone(k) { return this.colour ? this.tones().indexOf(this.colour.axis.values[k]) % COLOURS : 0; }

  legend() {
    const list = element("div", "legend"), tones = this.tones();
    list.append(element("span", "", this.colour.axis.label));
    for (const [index, value] of tones.slice(0, COLOURS).entries()) {
      const item = element("span"), key = element("span", `key f${index}`);
      item.append(key, typeof value === "number" ? number(value, 3) : String(value));
      list.append(item);
    }
    if (tones.length > COLOURS) list.append(element("span", "", "and so on, colours again from the first"));
    return list;
  }

  tell(k, cx, cy, width) {
    const ratio = this.host.querySelector("svg").getBoundingClientRect().width / width;
    this.tip.replaceChildren(element("b", "", `run ${DATA.rows[k].run}`));
    for (const axis of [...DATA.axes, this.output]) this.tip.append(element("div", "", `${axis.label}: ${shown(axis, k)}`));
    const right = cx > width / 2;
    this.tip.style.left = right ? "" : `${cx * ratio + 12}px`;
    this.tip.style.right = right ? `${(width - cx) * ratio + 12}px` : "";
    this.tip.style.top = `${Math.max(0, cy * ratio - 20)}px`;
    this.tip.hidden = false;
  }
}

Scatter.all = [];
const charts = document.querySelector(".charts");
for (const output of DATA.outputs) {
  const figure = element("figure"), host = element("div");
  figure.append(element("h3", "", output.label), host);
  charts.append(figure);
  new Scatter(host, output);
}

const across = document.querySelector("[name=across]"), colour = document.querySelector("[name=colour]");
function show() {
  for (const chart of Scatter.all) chart.show(DATA.axes[across.value], Number(colour.value) < 0 ? null : DATA.axes[colour.value]);
}
// The parameter with most values goes across, the one with fewest of the others is the colour.
const counts = DATA.axes.map((axis) => new Set(axis.values.map(String)).size);
across.value = counts.indexOf(Math.max(...counts));
const others = counts.map((count, k) => [count, k]).filter(([count, k]) => k !== Number(across.value) && count > 1);
colour.value = others.length ? others.sort((a, b) => a[0] - b[0])[0][1] : -1;
for (const box of [across, colour]) box.addEventListener("input", show);
show();
window.addEventListener("beforeprint", () => Scatter.all.forEach((chart) => chart.draw(360)));
window.addEventListener("afterprint", () => Scatter.all.forEach((chart) => chart.draw()));
document.documentElement.classList.add("ready");
