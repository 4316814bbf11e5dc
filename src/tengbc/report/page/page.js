"use strict";
// Brings the page to life: charts, pictures, the slider and the play button.

const DATA = JSON.parse(document.getElementById("data").textContent);

for (const host of document.querySelectorAll("[data-chart]")) new Chart(host, DATA.charts[host.dataset.chart]);

const viewers = [...document.querySelectorAll("[data-pictures]")].map(
  (host) => new Viewer(host, DATA.pictures[host.dataset.pictures], host.hasAttribute("data-compact")),
);

if (DATA.alike) for (const viewer of viewers) viewer.peers = viewers;

// All pictures of the page share one clock: the times of the run that has most of them.
class Clock {
  constructor(controls) {
    const longest = viewers.reduce((best, viewer) => (viewer.pictures.times.length > best.length ? viewer.pictures.times : best), []);
    this.times = longest;
    this.slider = controls.querySelector("input[type=range]");
    this.button = controls.querySelector("button.play");
    this.label = controls.querySelector("output");
    this.slider.max = longest.length - 1;
    this.slider.value = viewers.find((viewer) => viewer.pictures.times === longest).pictures.opening || 0;
    this.slider.addEventListener("input", () => this.show());
    this.button.addEventListener("click", () => this.toggle());
    this.button.disabled = this.slider.disabled = longest.length < 2;
    this.show();
  }

  get index() { return Number(this.slider.value); }

  go(index) {
    this.slider.value = index;
    this.show();
  }

  show() {
    const time = this.times[this.index];
    this.label.textContent = `t = ${number(time)}`;
    this.slider.setAttribute("aria-valuetext", `time ${number(time)}`);
    for (const viewer of viewers) viewer.at(time);
    for (const still of document.querySelectorAll(".film button")) still.setAttribute("aria-pressed", String(Number(still.dataset.index) === this.index));
  }

  toggle() {
    if (this.timer) {
      clearInterval(this.timer);
      this.timer = null;
    } else {
      if (this.index === this.times.length - 1) this.go(0);
      this.timer = setInterval(() => {
        this.go(this.index + 1);
        if (this.index === this.times.length - 1) this.toggle();
      }, Math.max(60, 6000 / this.times.length));
    }
    this.button.classList.toggle("playing", Boolean(this.timer));
    this.button.setAttribute("aria-label", this.timer ? "Pause" : "Play");
  }
}

// Five stills below the pictures: a glance at the whole time, and all there is on paper.
function film(host, viewer, clock) {
  const view = viewer.view, last = viewer.pictures.times.length - 1;
  const ratio = (view.upper[1] - view.lower[1]) / (view.upper[0] - view.lower[0]);
  host.replaceChildren();
  for (const index of [...new Set([0, 1, 2, 3, 4].map((k) => Math.round((k * last) / 4)))]) {
    const button = element("button");
    const canvas = element("canvas");
    canvas.width = Math.round(220 / Math.max(1, ratio));
    canvas.height = Math.max(8, Math.round(canvas.width * ratio));
    const frames = view.u[viewer.component];
    drawField(canvas, view, frames.frame(index), { ...viewer.colouring(frames) });
    const time = number(viewer.pictures.times[index], 3);
    button.append(canvas, element("span", "", `t = ${time}`));
    button.type = "button";
    button.dataset.index = index;
    button.setAttribute("aria-label", `Show time ${time}`);
    button.addEventListener("click", () => clock.go(index));
    host.append(button);
  }
}

const controls = document.querySelector(".controls");
if (controls && viewers.length) {
  const clock = new Clock(controls), strip = document.querySelector(".film");
  const stills = () => {
    if (strip && viewers[0].view.kind === "map" && clock.times.length > 1) film(strip, viewers[0], clock);
    clock.show();
  };
  const choose = (name, property) => {
    const box = controls.querySelector(`[name=${name}]`);
    if (!box) return;
    box.addEventListener("input", () => {
      for (const viewer of viewers) viewer[property] = box.type === "checkbox" ? box.checked : Number(box.value);
      stills();
    });
  };
  choose("component", "component");
  choose("plane", "plane");
  choose("follow", "follow");
  choose("patches", "patches");
  stills();
}

const copy = document.querySelector("button.copy");
if (copy && navigator.clipboard) {
  copy.hidden = false;
  copy.addEventListener("click", () => {
    navigator.clipboard.writeText(document.querySelector("pre.command").textContent).then(() => { copy.textContent = "Copied"; });
  });
}
document.documentElement.classList.add("ready");
