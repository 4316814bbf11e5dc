"use strict";
// The solution of one run: panels for u, the exact solution and the error, at a chosen time.

// One picture with its axes and its colour bar.
class MapPanel {
  constructor(host, title) {
    this.host = host;
    host.classList.add("panel");
    this.title = element("figcaption", "", title);
    this.plot = element("div", "plot");
    this.canvas = element("canvas");
    this.canvas.setAttribute("role", "img");
    this.canvas.setAttribute("aria-label", title);
    this.frame = svg("svg", { "aria-hidden": "true" });
    this.frame.dataset.panel = MapPanel.count = (MapPanel.count || 0) + 1;
    this.tip = element("div", "tip");
    this.tip.hidden = true;
    this.plot.append(this.canvas, this.frame, this.tip);
    this.bar = element("div", "bar");
    this.barTicks = element("div", "bar-ticks");
    host.append(this.title, this.plot, this.bar, this.barTicks);
    this.plot.addEventListener("pointermove", (event) => this.point(event));
    this.plot.addEventListener("pointerdown", (event) => this.point(event));
    this.plot.addEventListener("pointerleave", () => { this.tip.hidden = true; });
  }

  show(view, values, colouring, describe, boxes) {
    Object.assign(this, { view, describe, boxes });
    const left = 40, bottom = 24, top = 6, right = 10;
    const width = Math.max(160, this.plot.clientWidth), ratio = (view.upper[1] - view.lower[1]) / (view.upper[0] - view.lower[0]);
    const room = width - left - right;
    const high = Math.min(Math.max(room * ratio, 24), 460), wide = Math.min(room, high / ratio);
    this.box = { left: left + (room - wide) / 2, top, wide, high };
    const density = Math.min(window.devicePixelRatio || 1, 2);
    this.canvas.width = Math.round(wide * density);
    this.canvas.height = Math.round(high * density);
    const height = high + top + bottom, share = (part, all) => `${(100 * part) / all}%`;
    // In shares of the plot, so that picture and axes stay together when paper changes its width.
    Object.assign(this.canvas.style, { left: share(this.box.left, width), top: share(top, height), width: share(wide, width), height: share(high, height) });
    this.plot.style.aspectRatio = `${width} / ${height}`;
    for (const part of [this.bar, this.barTicks]) Object.assign(part.style, { marginLeft: share(this.box.left, width), width: share(Math.max(wide, 120), width) });
    drawField(this.canvas, view, values, colouring);
    this.axes(width, height);
    this.colourBar(colouring);
  }

  axes(width, height) {
    const { view, box } = this;
    const key = [width, height, view.axes, view.lower, view.upper, Boolean(this.boxes)].join();
    if (this.drawn === key) return;
    this.drawn = key;
    this.frame.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.frame.replaceChildren();
    const end = box.top + box.high;
    const sx = (v) => box.left + ((v - view.lower[0]) / (view.upper[0] - view.lower[0])) * box.wide;
    const sy = (v) => end - ((v - view.lower[1]) / (view.upper[1] - view.lower[1])) * box.high;
    this.frame.append(svg("path", { class: "axis", d: `M${box.left} ${end + 2}h${box.wide}M${box.left - 2} ${end}v${-box.high}` }));
    for (const v of linearTicks(view.lower[0], view.upper[0], Math.max(2, box.wide / 70))) {
      this.frame.append(svg("path", { class: "tick", d: `M${sx(v)} ${end + 2}v4` }), svg("text", { x: sx(v), y: end + 19, "text-anchor": "middle" }, number(v, 3)));
    }
    for (const v of linearTicks(view.lower[1], view.upper[1], Math.max(2, box.high / 60))) {
      this.frame.append(svg("path", { class: "tick", d: `M${box.left - 2} ${sy(v)}h-4` }), svg("text", { x: box.left - 9, y: sy(v) + 4, "text-anchor": "end" }, number(v, 3)));
    }
    if (!view.rings) return;
    const path = view.rings.map((ring) => {
      let text = "";
      for (let k = 0; k < ring.length; k += 2) text += `${k ? "L" : "M"}${sx(ring[k]).toFixed(1)} ${sy(ring[k + 1]).toFixed(1)}`;
      return `${text}Z`;
    });
    if (this.boxes) {
      const clip = svg("clipPath", { id: `inside-${this.frame.dataset.panel}` });
      clip.append(svg("path", { d: path.join(""), "clip-rule": "evenodd" }));
      let lines = "";
      for (let k = 0; k < this.boxes.length; k += 4) {
        const [x, y, wide, high] = this.boxes.slice(k, k + 4);
        lines += `M${sx(x).toFixed(1)} ${sy(y).toFixed(1)}H${sx(x + wide).toFixed(1)}V${sy(y + high).toFixed(1)}H${sx(x).toFixed(1)}Z`;
      }
      this.frame.append(clip, svg("path", { class: "patches", d: lines, "clip-path": `url(#${clip.id})` }));
    }
    this.frame.append(svg("path", { class: "rim", d: path.join("") }));
  }

  colourBar(colouring) {
    const { low, high, log, map } = colouring;
    this.bar.style.background = TABLES[map].css;
    const ticks = log ? decadeTicks(low, high, 5).map((k) => [k, powerOfTen(k)]) : linearTicks(low, high, 5).map((v) => [v, number(v, 3)]);
    this.barTicks.replaceChildren(...ticks.map(([value, text]) => {
      const label = element("span", "", text), share = (value - low) / (high - low || 1);
      label.style.left = `${100 * share}%`;
      if (share < 0.04) label.className = "first";
      if (share > 0.96) label.className = "last";
      return label;
    }));
  }

  point(event) {
    if (!this.view) return;
    const { view, box } = this, area = this.plot.getBoundingClientRect();
    const s = (event.clientX - area.left - box.left) / box.wide, r = 1 - (event.clientY - area.top - box.top) / box.high;
    const pixel = this.canvas.getContext("2d");
    const inside = s >= 0 && s < 1 && r > 0 && r <= 1 &&
      pixel.getImageData(Math.floor(s * this.canvas.width), Math.floor((1 - r) * this.canvas.height), 1, 1).data[3] > 127;
    this.tip.hidden = !inside;
    if (!inside) return;
    const place = [s, r].map((share, k) => `${view.axes[k]} = ${number(view.lower[k] + share * (view.upper[k] - view.lower[k]), 3)}`);
    this.tip.replaceChildren(element("b", "", place.join(", ")), ...this.describe(s, r).map((text) => element("div", "", text)));
    const x = event.clientX - area.left;
    this.tip.style.left = x > area.width / 2 ? "" : `${x + 14}px`;
    this.tip.style.right = x > area.width / 2 ? `${area.width - x + 14}px` : "";
    this.tip.style.top = `${Math.max(0, event.clientY - area.top - 20)}px`;
  }
}

// Bilinear value at (s, r) in the unit square, for what the pointer tells.
function valueAt(values, shape, s, r) {
  const [rows, columns] = shape, x = s * (columns - 1), y = r * (rows - 1);
  const i = Math.min(Math.floor(x), columns - 2), j = Math.min(Math.floor(y), rows - 2), a = x - i, b = y - j;
  const at = (row, column) => values[row * columns + column];
  return (1 - b) * ((1 - a) * at(j, i) + a * at(j, i + 1)) + b * ((1 - a) * at(j + 1, i) + a * at(j + 1, i + 1));
}

class Viewer {
  constructor(host, pictures, compact) {
    Object.assign(this, { host, pictures, compact, component: 0, plane: 0, follow: false, index: 0, peers: [this] });
    for (const view of pictures.views) {
      view.u = view.solution.map((packed) => new Frames(packed));
      view.e = view.error ? view.error.map((packed) => new Frames(packed)) : null;
    }
    this.panels = {};
    const known = pictures.reference ? "Reference" : "Exact solution";
    if (this.view.kind === "line") {
      this.add("curves", "Solution");
      if (this.view.e) this.add("misfit", "Error");
    } else {
      this.add("solution", "Solution");
      if (this.view.e && !compact) this.add("exact", known);
      if (this.view.e) this.add("error", "Error");
    }
    new ResizeObserver(() => this.draw()).observe(host);
  }

  get view() { return this.pictures.views[this.plane]; }

  add(name, title) {
    const figure = element("figure");
    figure.dataset.panel = name;
    this.host.append(figure);
    if (this.view.kind === "map") { this.panels[name] = new MapPanel(figure, title); return; }
    figure.append(element("figcaption", "", title));
    const place = element("div");
    figure.append(place);
    this.panels[name] = { place };
  }

  // The frame nearest to a time.
  at(time) {
    const distance = (k) => Math.abs(this.pictures.times[k] - time);
    this.index = this.pictures.times.reduce((best, _, k) => (distance(k) < distance(best) ? k : best), 0);
    this.draw();
  }

  draw() {
    const view = this.view, u = view.u[this.component], e = view.e && view.e[this.component];
    const values = u.frame(this.index), error = e && e.frame(this.index);
    const exact = error && values.map((v, k) => v - error[k]);
    if (view.kind === "line") return this.drawLines(view, u, e, values, exact, error);
    const name = this.pictures.components[this.component];
    const colouring = this.colouring(u);
    const tell = (s, r) => {
      const value = (list) => valueAt(list, view.shape, s, r);
      return [`${name} = ${number(value(values), 3)}`, ...(error ? [`${this.pictures.reference ? "reference" : "exact"}: ${number(value(exact), 3)}`, `error: ${number(value(error), 2)}`] : [])];
    };
    this.panels.solution.show(view, values, colouring, tell, this.patches ? this.pictures.boxes : null);
    if (this.panels.exact) this.panels.exact.show(view, exact, colouring, tell);
    if (this.panels.error) {
      this.panels.error.title.textContent = `Error |${name} − ${this.pictures.reference ? "reference" : "exact"}|`;
      this.panels.error.show(view, error, this.errorColouring(e), tell);
    }
  }

  // The same colours at all times, unless they are to follow the time.
  colouring(frames) {
    const [lowest, highest] = this.range(frames);
    let [low, high] = this.follow ? this.range(frames, this.index) : [lowest, highest];
    const most = Math.max(Math.abs(lowest), Math.abs(highest));
    if (lowest < -0.15 * most && highest > 0.15 * most) {
      const size = Math.max(Math.abs(low), Math.abs(high)) || 1;
      return { map: "diverging", low: -size, high: size };
    }
    if (high - low < 1e-12 * most || high === low) { low -= most / 2 || 1; high += most / 2 || 1; }
    return { map: "viridis", low, high };
  }

  // Lowest and highest value; at all times, those of all runs that are compared.
  range(frames, index) {
    frames.ranges = frames.ranges || {};
    if (index !== undefined) return (frames.ranges[index] = frames.ranges[index] || frames.range(index));
    const every = this.peers.map((peer) => peer.view.u[peer.component]);
    return extent(every.map((one) => { one.ranges = one.ranges || {}; return (one.ranges.all = one.ranges.all || one.range()); }));
  }

  // |error| over four decades below the largest.
  errorColouring(frames) {
    const every = this.peers.flatMap((peer) => (peer.view.e ? peer.view.e[peer.component].scales : []));
    const most = Math.max(...(this.follow ? [frames.scales[this.index]] : every));
    const high = most > 0 ? Math.log10(most) : -15;
    return { map: "cividis", low: high - 4, high, log: true };
  }

  drawLines(view, u, e, values, exact, error) {
    const [low] = view.lower, [high] = view.upper, count = values.length;
    const x = Array.from(values, (_, k) => low + ((high - low) * k) / (count - 1));
    const name = this.pictures.components[this.component];
    u.limits = u.limits || u.range();
    const start = u.start = u.start || Array.from(u.frame(0));
    const span = this.follow ? extent([values]) : u.limits;
    const pad = 0.05 * (span[1] - span[0]) || 1;
    const series = [{ name: "at t = 0", x, y: start, colour: 7, style: "faint" }, { name: "solution", x, y: Array.from(values), colour: 0, style: "dash0" }];
    if (exact) series.push({ name: this.pictures.reference ? "reference" : "exact", x, y: Array.from(exact), colour: 1, style: "dash1" });
    this.lines("curves", { height: 300, x: { label: view.axes[0] }, y: { label: name, limits: [span[0] - pad, span[1] + pad], tight: true }, series });
    if (!e) return;
    const most = Math.max(...e.scales) || 1e-15;
    const limits = this.follow ? undefined : [most * 1e-5, most];
    this.lines("misfit", { height: 300, x: { label: view.axes[0] }, y: { label: `|${name} − exact|`, log: true, limits }, series: [{ name: "error", x, y: Array.from(error, (v) => Math.max(Math.abs(v), limits ? limits[0] : 0)), colour: 0 }] });
  }

  lines(name, spec) {
    const panel = this.panels[name];
    if (panel.chart) panel.chart.update(spec);
    else panel.chart = new Chart(panel.place, spec);
  }
}
