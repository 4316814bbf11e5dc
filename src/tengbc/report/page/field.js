"use strict";
// Frames of numbers, and a picture of one of them cut along the boundary of the domain.

const MISSING = -32768;

function bytesOf(text) {
  const raw = atob(text), bytes = new Uint8Array(raw.length);
  for (let k = 0; k < raw.length; k++) bytes[k] = raw.charCodeAt(k);
  return bytes;
}

class Frames {
  constructor(packed) {
    const bytes = bytesOf(packed.numbers);
    this.numbers = new Int16Array(bytes.buffer);
    this.scales = packed.scales;
    this.size = this.numbers.length / this.scales.length;
  }

  frame(k) {
    const values = new Float32Array(this.size), factor = this.scales[k] / 32767, from = k * this.size;
    for (let i = 0; i < this.size; i++) {
      const whole = this.numbers[from + i];
      values[i] = whole === MISSING ? NaN : whole * factor;
    }
    return values;
  }

  // Lowest and highest value of one frame, or of all; float32 would lose errors below 1e-38 only.
  range(k) {
    let low = Infinity, high = -Infinity;
    const from = k === undefined ? 0 : k * this.size, to = k === undefined ? this.numbers.length : from + this.size;
    for (let i = from; i < to; i++) {
      if (this.numbers[i] === MISSING) continue;
      const value = (this.numbers[i] * this.scales[Math.floor(i / this.size)]) / 32767;
      if (value < low) low = value;
      if (value > high) high = value;
    }
    return low <= high ? [low, high] : [0, 1];
  }
}

// Cubic interpolation (Catmull–Rom) from `count` nodes to `pixels` cell centres: 4 nodes, 4 weights.
function taps(count, pixels, flip) {
  const nodes = new Int32Array(4 * pixels), weights = new Float32Array(4 * pixels);
  for (let p = 0; p < pixels; p++) {
    const at = (((flip ? pixels - 1 - p : p) + 0.5) / pixels) * (count - 1);
    const first = Math.min(Math.floor(at), count - 2), s = at - first;
    const w = [((2 - s) * s - 1) * s / 2, ((3 * s - 5) * s * s + 2) / 2, ((4 - 3 * s) * s + 1) * s / 2, (s - 1) * s * s / 2];
    for (let j = 0; j < 4; j++) {
      nodes[4 * p + j] = Math.max(0, Math.min(count - 1, first - 1 + j));
      weights[4 * p + j] = w[j];
    }
  }
  return { nodes, weights };
}

function enlarge(values, shape, width, height) {
  const [rows, columns] = shape, across = taps(columns, width, false), down = taps(rows, height, true);
  const wide = new Float32Array(rows * width), result = new Float32Array(width * height);
  for (let r = 0; r < rows; r++) for (let p = 0; p < width; p++) {
    let sum = 0;
    for (let j = 4 * p; j < 4 * p + 4; j++) sum += across.weights[j] * values[r * columns + across.nodes[j]];
    wide[r * width + p] = sum;
  }
  for (let q = 0; q < height; q++) for (let p = 0; p < width; p++) {
    let sum = 0;
    for (let j = 4 * q; j < 4 * q + 4; j++) sum += down.weights[j] * wide[down.nodes[j] * width + p];
    result[q * width + p] = sum;
  }
  return result;
}

// Numbers to colours: linear between two limits, or |value| on a logarithmic scale.
function paint(values, colouring) {
  const table = TABLES[colouring.map].pixels, pixels = new Uint32Array(values.length);
  const { low, high, log } = colouring, factor = 255.999 / (high - low || 1);
  for (let k = 0; k < values.length; k++) {
    const value = log ? Math.log10(Math.abs(values[k])) : values[k];
    if (Number.isNaN(value)) continue;
    pixels[k] = table[Math.max(0, Math.min(255, Math.floor((value - low) * factor)))];
  }
  return pixels;
}

function maskCanvas(mask) {
  const bytes = bytesOf(mask.bytes), canvas = document.createElement("canvas");
  canvas.width = canvas.height = mask.size;
  const image = new ImageData(mask.size, mask.size);
  for (let r = 0; r < mask.size; r++) for (let c = 0; c < mask.size; c++) {
    image.data[4 * (r * mask.size + c) + 3] = bytes[(mask.size - 1 - r) * mask.size + c];
  }
  canvas.getContext("2d").putImageData(image, 0, 0);
  return canvas;
}

// Draw one frame of a view on a canvas of any size, cut along the boundary.
function drawField(canvas, view, values, colouring) {
  const { width, height } = canvas;
  const whole = document.createElement("canvas");
  whole.width = width; whole.height = height;
  const image = new ImageData(width, height);
  new Uint32Array(image.data.buffer).set(paint(enlarge(values, view.shape, width, height), colouring));
  whole.getContext("2d").putImageData(image, 0, 0);
  const pen = canvas.getContext("2d", { willReadFrequently: true }); // the pointer asks for pixels
  pen.setTransform(1, 0, 0, 1, 0, 0);
  pen.clearRect(0, 0, width, height);
  pen.save();
  if (view.rings) {
    const outline = new Path2D();
    const px = (x) => ((x - view.lower[0]) / (view.upper[0] - view.lower[0])) * width;
    const py = (y) => height - ((y - view.lower[1]) / (view.upper[1] - view.lower[1])) * height;
    for (const ring of view.rings) {
      for (let k = 0; k < ring.length; k += 2) outline[k ? "lineTo" : "moveTo"](px(ring[k]), py(ring[k + 1]));
      outline.closePath();
    }
    pen.clip(outline, "evenodd");
  }
  pen.drawImage(whole, 0, 0);
  if (view.mask) {
    view.maskImage = view.maskImage || maskCanvas(view.mask);
    pen.globalCompositeOperation = "destination-in";
    pen.imageSmoothingQuality = "high";
    pen.drawImage(view.maskImage, 0, 0, width, height);
  }
  pen.restore();
}
