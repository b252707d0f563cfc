// A run at one temperature as core/reports/tempered.py has it. Exponentials and logarithms of the browser and of NumPy
// may part in the last bit, so figures agree within 1e-12 and not to the bit. Nothing here touches a page.

import { exactThreshold } from "../alpha_lab/conformal.js";
import { scoresOf } from "../alpha_lab/scores.js";

export const SMALLEST = 1e-8;
const SCORED = ["lac", "aps"];

// What no temperature changes: the logarithms of the probabilities, and which option is on top (the first of equal ones).
// `own` says which rows calibrate; the others test.
export function hold({ p, labels, own, k }) {
  const rows = (side) => Int32Array.from(labels.keys()).filter((row) => own[row] === side);
  const logs = p.map(Math.log), n = labels.length, best = new Float64Array(n), top = new Int32Array(n);
  for (let i = 0; i < n; i++) {
    for (let j = 1; j < k; j++) if (p[i * k + j] > p[i * k + top[i]]) top[i] = j;
    best[i] = logs[i * k + top[i]];
  }
  const test = rows(0), right = Uint8Array.from(test, (row) => (top[row] === labels[row] ? 1 : 0));
  return { logs, best, top, labels, k, n, test, right, calibration: rows(1), hot: new Float64Array(p.length) };
}

// softmax(log p / T) of all rows.
export function temper({ logs, best, k, n, hot }, temperature) {
  for (let i = 0, at = 0; i < n; i++, at += k) {
    let sum = 0;
    for (let j = at; j < at + k; j++) sum += hot[j] = Math.exp((logs[j] - best[i]) / temperature);
    for (let j = at; j < at + k; j++) hot[j] /= sum;
  }
  return hot;
}

// To twelve decimals, as core/calibration/bins.py places confidences.
const rounded = (value) => Math.round(value * 1e12) / 1e12;

// The bins' edges: of equal width, or the i-th at the ceil(i n / bins)-th smallest confidence.
export function binEdges(confidence, bins, by) {
  if (by === "width") return Float64Array.from({ length: bins + 1 }, (_, i) => rounded(i / bins));
  const sorted = Float64Array.from(confidence, rounded).sort(), n = sorted.length;
  return Float64Array.from({ length: bins + 1 }, (_, i) => (i === 0 ? 0 : i === bins ? 1 : sorted[Math.max(Math.ceil((i * n) / bins), 1) - 1]));
}

// The bin with low < value <= high; 0 is in the first one.
export function binOf(edges, confidence) {
  const value = rounded(confidence);
  let low = 0, high = edges.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (edges[middle] < value) low = middle + 1;
    else high = middle;
  }
  return Math.min(Math.max(low - 1, 0), edges.length - 2);
}

// Counts, mean confidence and accuracy of each bin (NaN where it is empty), and the errors over all of them.
export function reliability(confidence, right, bins, by) {
  const edges = binEdges(confidence, bins, by), counts = new Int32Array(bins), sums = new Float64Array(bins), hits = new Int32Array(bins);
  for (let i = 0; i < confidence.length; i++) {
    const b = binOf(edges, confidence[i]);
    counts[b]++;
    sums[b] += confidence[i];
    hits[b] += right[i];
  }
  let over = 0, under = 0, mce = 0;
  for (let b = 0; b < bins; b++) {
    const gap = hits[b] - sums[b];
    if (gap < 0) over -= gap;
    else under += gap;
    if (counts[b]) mce = Math.max(mce, Math.abs(gap) / counts[b]);
  }
  const n = confidence.length;
  return {
    edges, counts, hits, ece: (over + under) / n, over: over / n, under: under / n, mce,
    confidence: sums.map((sum, b) => sum / counts[b]), accuracies: Float64Array.from(hits, (hit, b) => hit / counts[b]),
  };
}

function setsOf(name, held, alpha) {
  const { hot, k, labels, calibration, test } = held, scores = scoresOf(name, hot, k);
  const threshold = exactThreshold(Float64Array.from(calibration, (row) => scores[row * k + labels[row]]).sort(), alpha);
  let covered = 0, total = 0;
  for (const row of test) {
    for (let j = 0; j < k; j++) if (scores[row * k + j] <= threshold) total++;
    if (scores[row * k + labels[row]] <= threshold) covered++;
  }
  return { threshold, coverage: covered / test.length, meanSize: total / test.length };
}

// Everything at one temperature.
export function atTemperature(held, { temperature, alpha, bins, by }) {
  const hot = temper(held, temperature), { k, labels, test, top, right } = held;
  let loss = 0, hits = 0;
  const confidence = new Float64Array(test.length);
  for (let i = 0; i < test.length; i++) {
    const row = test[i];
    confidence[i] = hot[row * k + top[row]];
    loss -= Math.log(Math.max(hot[row * k + labels[row]], SMALLEST));
    hits += right[i];
  }
  return {
    ...reliability(confidence, right, bins, by), accuracy: hits / test.length, nll: loss / test.length,
    sets: Object.fromEntries(SCORED.map((name) => [name, setsOf(name, held, alpha)])),
  };
}
