// A run at one temperature, computed as in core/reports/calibration/temperature.py. Exponentials and logarithms of the
// browser and of NumPy may differ in the last bit, so figures agree within 1e-12 but not bit for bit. Nothing here
// touches the page.

import { rank } from "../../shared/sets.js";
import { eachRow } from "../../shared/scores/ranking.js";

// Computes what no temperature changes. `below` is how far each log-probability in `logs` is below the largest of its
// row. Rows are sorted by increasing probability; of equal options the later comes last, as in core/conformal/scores.
// `begin` is where a row's own options begin: options that the question lacks (NaN in `logs`) come first. `truth` is
// the position of the true option. `right` says whether the top option, the last of the row, is the true one. `own`
// says which rows calibrate; the others test. `frequencies` of picks have no NLL.
export function hold({ logs, labels, own, k, frequencies = false }) {
  const n = labels.length;
  const below = new Float64Array(n * k).fill(-Infinity);
  const begin = new Uint8Array(n);
  const truth = new Uint8Array(n);
  const right = new Uint8Array(n);
  eachRow(logs, k, (row, order, options) => {
    const i = row / k;
    const best = logs[row + order[options - 1]];
    begin[i] = k - options;
    for (let j = 0; j < options; j++) {
      below[row + begin[i] + j] = logs[row + order[j]] - best;
      if (order[j] === labels[i]) truth[i] = begin[i] + j;
    }
    right[i] = order[options - 1] === labels[i] ? 1 : 0;
  });
  const rows = (side) => Int32Array.from(labels.keys()).filter((row) => own[row] === side);
  const test = rows(0);
  return {
    below,
    begin,
    truth,
    k,
    n,
    test,
    right: right.filter((_, row) => own[row] === 0),
    calibration: rows(1),
    hot: new Float64Array(logs.length),
    sums: new Float64Array(n),
    frequencies,
  };
}

// softmax(log p / T) of all rows, each in its sorted order. The sum of each row's exponentials is kept in `sums`.
export function temper({ below, k, n, hot, sums }, temperature) {
  for (let i = 0, at = 0; i < n; i++, at += k) {
    let sum = 0;
    for (let j = at; j < at + k; j++) sum += hot[j] = Math.exp(below[j] / temperature);
    for (let j = at; j < at + k; j++) hot[j] /= sum;
    sums[i] = sum;
  }
  return hot;
}

// Rounded to twelve decimals, as core/calibration/bins.py rounds confidences.
const rounded = (value) => Math.round(value * 1e12) / 1e12;

// The edges of the bins: of equal width, or edge i at the ceil(i n / bins)-th smallest confidence.
export function binEdges(confidence, bins, by) {
  if (by === "width") return Float64Array.from({ length: bins + 1 }, (_, i) => rounded(i / bins));
  const sorted = Float64Array.from(confidence, rounded).sort();
  const n = sorted.length;
  return Float64Array.from({ length: bins + 1 }, (_, i) =>
    i === 0 ? 0 : i === bins ? 1 : sorted[Math.max(Math.ceil((i * n) / bins), 1) - 1],
  );
}

// The bin with low < value <= high. The value 0 is in the first bin.
export function binOf(edges, confidence) {
  const value = rounded(confidence);
  let low = 0;
  let high = edges.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (edges[middle] < value) low = middle + 1;
    else high = middle;
  }
  return Math.min(Math.max(low - 1, 0), edges.length - 2);
}

// The count, mean confidence and accuracy of each bin (NaN if it is empty), and the errors over all bins.
export function reliability(confidence, right, bins, by) {
  const edges = binEdges(confidence, bins, by);
  const counts = new Int32Array(bins);
  const sums = new Float64Array(bins);
  const hits = new Int32Array(bins);
  for (let i = 0; i < confidence.length; i++) {
    const b = binOf(edges, confidence[i]);
    counts[b]++;
    sums[b] += confidence[i];
    hits[b] += right[i];
  }
  let over = 0;
  let under = 0;
  let mce = 0;
  for (let b = 0; b < bins; b++) {
    const gap = hits[b] - sums[b];
    if (gap < 0) over -= gap;
    else under += gap;
    if (counts[b]) mce = Math.max(mce, Math.abs(gap) / counts[b]);
  }
  const n = confidence.length;
  return {
    edges,
    counts,
    hits,
    ece: (over + under) / n,
    over: over / n,
    under: under / n,
    mce,
    confidence: sums.map((sum, b) => sum / counts[b]),
    accuracies: Float64Array.from(hits, (hit, b) => hit / counts[b]),
  };
}

// The at-th smallest of values, counted from 1. Reorders the values.
export function smallest(values, at) {
  let low = 0;
  let high = values.length - 1;
  while (low < high) {
    const pivot = values[(low + high) >> 1];
    let left = low;
    let right = high;
    while (left <= right) {
      while (values[left] < pivot) left++;
      while (values[right] > pivot) right--;
      if (left > right) break;
      [values[left], values[right]] = [values[right], values[left]];
      left++;
      right--;
    }
    if (at - 1 <= right) high = right;
    else if (at - 1 >= left) low = left;
    else break;
  }
  return values[at - 1];
}

const quantile = (values, alpha) => {
  const needed = rank(values.length, alpha);
  return needed > values.length ? Infinity : smallest(values, needed);
};

// LAC and APS sets. In a sorted row, an option's LAC score is 1 − p, and its APS score is 1 minus the mass of the
// options before it, which rank after it. Both are computed in one pass, because a frame is short.
function setsOf({ hot, k, begin, truth, calibration, test }, alpha) {
  const lac = new Float64Array(calibration.length);
  const aps = new Float64Array(calibration.length);
  for (let i = 0; i < calibration.length; i++) {
    const row = calibration[i] * k;
    const at = row + truth[calibration[i]];
    let after = 0;
    for (let j = row; j < at; j++) after += hot[j];
    lac[i] = 1 - hot[at];
    aps[i] = 1 - after;
  }
  const mostLac = quantile(lac, alpha);
  const mostAps = quantile(aps, alpha);
  let inLac = 0;
  let inAps = 0;
  let coveredLac = 0;
  let coveredAps = 0;
  for (let i = 0; i < test.length; i++) {
    const row = test[i] * k;
    const at = row + truth[test[i]];
    let after = 0;
    for (let j = row + begin[test[i]]; j < row + k; j++) {
      const isLac = 1 - hot[j] <= mostLac ? 1 : 0;
      const isAps = 1 - after <= mostAps ? 1 : 0;
      inLac += isLac;
      inAps += isAps;
      if (j === at) {
        coveredLac += isLac;
        coveredAps += isAps;
      }
      after += hot[j];
    }
  }
  const n = test.length;
  return {
    lac: { threshold: mostLac, coverage: coveredLac / n, meanSize: inLac / n },
    aps: { threshold: mostAps, coverage: coveredAps / n, meanSize: inAps / n },
  };
}

// The NLL as text.
export const nll = ({ nll: mean, nllInfinite }) => (nllInfinite ? "∞" : Number.isNaN(mean) ? "–" : mean.toFixed(3));

// Everything at one temperature. The loss of a true option is log Σ exp(below / T) − below / T. It is infinite if the
// option's probability is 0, and then so is the mean loss, the NLL. `nllInfinite` counts such questions.
export function atTemperature(held, { temperature, alpha, bins, by }) {
  const hot = temper(held, temperature);
  const { k, truth, test, right, below, sums, frequencies } = held;
  let loss = 0;
  let nllInfinite = 0;
  let hits = 0;
  const confidence = new Float64Array(test.length);
  for (let i = 0; i < test.length; i++) {
    const row = test[i] * k;
    confidence[i] = hot[row + k - 1];
    const own = Math.log(sums[test[i]]) - below[row + truth[test[i]]] / temperature;
    loss += own;
    if (own === Infinity) nllInfinite++;
    hits += right[i];
  }
  return {
    ...reliability(confidence, right, bins, by),
    accuracy: hits / test.length,
    nll: frequencies ? NaN : loss / test.length,
    nllInfinite: frequencies ? 0 : nllInfinite,
    n: test.length,
    sets: setsOf(held, alpha),
  };
}
