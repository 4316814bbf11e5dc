"use strict";
// Colour maps that people with any colour vision can read, as tables of 256 packed pixels.

const MAPS = {
  viridis: "440154 482878 3e4989 31688e 26828e 1f9e89 35b779 6ece58 b5de2b fde725",
  cividis: "00224e 123570 3b496c 575d6d 707173 8a8678 a59c74 c3b369 e1cc55 fee838",
  diverging: "053061 2166ac 4393c3 92c5de d1e5f0 f7f7f7 fddbc7 f4a582 d6604d b2182b 67001f",
};

function colourTable(name) {
  const stops = MAPS[name].split(" ").map((hex) => [0, 2, 4].map((k) => parseInt(hex.slice(k, k + 2), 16)));
  const table = new Uint8ClampedArray(4 * 256);
  for (let k = 0; k < 256; k++) {
    const place = (k / 255) * (stops.length - 1);
    const first = Math.min(Math.floor(place), stops.length - 2);
    for (let c = 0; c < 3; c++) {
      table[4 * k + c] = stops[first][c] + (place - first) * (stops[first + 1][c] - stops[first][c]);
    }
    table[4 * k + 3] = 255;
  }
  return { pixels: new Uint32Array(table.buffer), css: `linear-gradient(to right, ${stops.map((c) => `rgb(${c})`).join(", ")})` };
}

const TABLES = Object.fromEntries(Object.keys(MAPS).map((name) => [name, colourTable(name)]));
