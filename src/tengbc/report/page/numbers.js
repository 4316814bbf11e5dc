"use strict";
// Numbers as people write them.

const SUPERSCRIPT = { "-": "⁻", 0: "⁰", 1: "¹", 2: "²", 3: "³", 4: "⁴", 5: "⁵", 6: "⁶", 7: "⁷", 8: "⁸", 9: "⁹" };

function powerOfTen(exponent) {
  return "10" + String(exponent).split("").map((digit) => SUPERSCRIPT[digit]).join("");
}

function number(value, digits = 4) {
  if (value === null || !Number.isFinite(value)) return "–";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e-3 && size < 1e5) return String(Number(value.toPrecision(digits))).replace("-", "−");
  const [mantissa, exponent] = value.toExponential(digits - 1).split("e");
  const front = String(Number(mantissa)).replace("-", "−");
  return (front === "1" ? "" : front + " × ") + powerOfTen(Number(exponent));
}

// Round steps of 1, 2 or 5 times a power of ten, about `count` of them.
function linearTicks(low, high, count) {
  const rough = (high - low) / Math.max(count, 1);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough * 0.999);
  const ticks = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) {
    ticks.push(Number((k * step).toPrecision(12)));
  }
  return ticks;
}

// Exponents between two logarithms, not more than `count` of them.
function decadeTicks(low, high, count) {
  const stride = Math.max(1, Math.ceil((high - low) / Math.max(count, 1)));
  const ticks = [];
  for (let k = Math.ceil(low - 1e-9); k <= high + 1e-9; k++) if (k % stride === 0) ticks.push(k);
  return ticks;
}
