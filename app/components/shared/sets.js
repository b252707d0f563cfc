// Thresholds, sets, coverage and sizes, computed exactly as in core/conformal: the browser and Python agree to the last
// bit (tests/app/test_arithmetic.py). Nothing here touches the page. alpha is in thousandths.
//
// `by` says which questions share a threshold: "all" of them, those of a "group" (subject), or, for "class", the
// questions with the same true option; that threshold then applies to this option.

import { tiesOf } from "./coverage_distributions.js";
import { PURPOSES, firstPart, uniformsAt } from "./random_numbers.js";
import { SCORES, scoresOf, trueScores } from "./scores.js";
import { topOptions } from "./scores/ranking.js";

export const THOUSAND = 1000;
const TUNING_ALPHA = 100;
const TUNING_SMALLEST = 20;

// ---- thresholds

// ceil((n + 1)(1 - alpha)) in integer arithmetic, from 1. If it exceeds n, every option stays in every set.
export function rank(n, alpha) {
  const product = (n + 1) * (THOUSAND - alpha);
  const rest = product % THOUSAND;
  return (product - rest) / THOUSAND + (rest > 0 ? 1 : 0);
}

// The rank-th smallest of sorted calibration scores; Infinity if the rank exceeds their number.
export function exactThreshold(sorted, alpha) {
  const at = rank(sorted.length, alpha);
  return at > sorted.length ? Infinity : sorted[at - 1];
}

// How many values of a sorted array are at most x.
export function countUpTo(sorted, x) {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] <= x) low = middle + 1;
    else high = middle;
  }
  return low;
}

// ---- preparing a score for any alpha

function rowsOf(matrix, rows, k) {
  const out = new Float64Array(rows.length * k);
  rows.forEach((row, i) => {
    for (let j = 0; j < k; j++) out[i * k + j] = matrix[row * k + j];
  });
  return out;
}

// The total number of options in the sets of the second rows, with the threshold of the first rows.
function totalSize(name, first, second, k, parameters) {
  const sorted = trueScores(scoresOf(name, first.p, k, { parameters }), first.labels, k).sort();
  const q = exactThreshold(sorted, TUNING_ALPHA);
  return scoresOf(name, second.p, k, { parameters }).reduce((total, score) => total + (score <= q ? 1 : 0), 0);
}

// A score's parameters, chosen on a seeded fifth of the calibration rows, which are then not used for calibration. The
// parameters with the smallest sets at alpha 0.1 are chosen, whatever alpha is shown.
export function tune(name, look) {
  const { k, p, labels, calibration, pool } = look;
  const size = Math.floor((2 * calibration.length + 5) / 10);
  const { grid, untuned } = pool.scoreTable.get(name);
  if (grid.length === 0) return { parameters: untuned, tunedOn: null, calibration };
  if (size < TUNING_SMALLEST) return { parameters: untuned, tunedOn: 0, calibration };
  const places = calibration.map((row) => pool.places[row]);
  const part = (count) => firstPart(places, count, pool.seed, PURPOSES.TUNING);
  const aside = part(size);
  const half = part(Math.floor(size / 2));
  const side = (rows) => ({ p: rowsOf(p, rows, k), labels: rows.map((row) => labels[row]) });
  const first = side(calibration.filter((_, i) => half[i]));
  const second = side(calibration.filter((_, i) => aside[i] && !half[i]));
  let best = null;
  let smallest = Infinity;
  for (const parameters of grid) {
    const total = totalSize(name, first, second, k, parameters);
    if (total < smallest) [best, smallest] = [parameters, total];
  }
  return { parameters: best, tunedOn: size, calibration: calibration.filter((_, i) => !aside[i]) };
}

// The scores of a pool's questions. Scores without a tuning grid are cached in the pool.
function poolScores(name, look, parameters) {
  const { k, p, pool } = look;
  const key = `${name} ${k}`;
  const { randomised, grid } = pool.scoreTable.get(name);
  const compute = () => scoresOf(name, p, k, { u: randomised ? uniformsAt(pool.places, pool.seed) : null, parameters });
  if (grid.length > 0) return compute();
  pool.scores ??= new Map();
  if (!pool.scores.has(key)) pool.scores.set(key, compute());
  return pool.scores.get(key);
}

// A score on a look: n questions calibrate and m test. `tunedOn` rows were set aside to choose the parameters (0: too
// few rows, so the parameters are untuned; null: the score has no parameters).
export function prepare(name, look) {
  const { k, p, labels, groups, test, pool } = look;
  const { parameters, tunedOn, calibration } = tune(name, look);
  const all = poolScores(name, look, parameters);
  const pick = (values, rows) => Int32Array.from(rows, (row) => values[row]);
  const scores = rowsOf(all, test, k);
  const testLabels = pick(labels, test);
  return {
    name,
    look,
    k,
    n: calibration.length,
    m: test.length,
    parameters,
    tunedOn,
    groupNames: pool.groupNames,
    scores,
    calibrationRows: calibration,
    calibration: Float64Array.from(calibration, (row) => all[row * k + labels[row]]),
    calibrationLabels: pick(labels, calibration),
    calibrationGroups: pick(groups, calibration),
    truth: trueScores(scores, testLabels, k),
    labels: testLabels,
    groups: pick(groups, test),
    top: topOptions(rowsOf(p, test, k), k),
    strata: {},
  };
}

// The sorted calibration scores of each stratum.
function strataOf(prepared, by) {
  prepared.strata[by] ??= sortedStrata(prepared, by);
  return prepared.strata[by];
}

function sortedStrata({ k, groupNames, calibration, calibrationLabels, calibrationGroups }, by) {
  if (by === "all") return [calibration.slice().sort()];
  const codes = by === "group" ? calibrationGroups : calibrationLabels;
  const places = Array.from({ length: by === "group" ? groupNames.length : k }, () => []);
  codes.forEach((code, i) => places[code].push(calibration[i]));
  return places.map((values) => Float64Array.from(values).sort());
}

// The ties among the true options' scores of calibration and test questions, one entry for each stratum.
export function strataTies(prepared, by = "all") {
  const { calibrationGroups, calibrationLabels, calibration, truth, groups, labels, k, groupNames } = prepared;
  prepared.ties ??= {};
  prepared.ties[by] ??=
    by === "all"
      ? [tiesOf(calibration, truth)]
      : Array.from({ length: by === "group" ? groupNames.length : k }, (_, code) => {
          const [own, testCodes] = by === "group" ? [calibrationGroups, groups] : [calibrationLabels, labels];
          return tiesOf(
            calibration.filter((_, i) => own[i] === code),
            truth.filter((_, i) => testCodes[i] === code),
          );
        });
  return prepared.ties[by];
}

function thresholdsOf(prepared, alpha, by) {
  return Float64Array.from(strataOf(prepared, by), (sorted) => exactThreshold(sorted, alpha));
}

// The threshold of every option, k per row of limits. A question's row begins at firstLimit.
function limitsOf({ k }, thresholds, by) {
  if (by === "class") return thresholds;
  return Float64Array.from({ length: thresholds.length * k }, (_, at) => thresholds[Math.floor(at / k)]);
}

function firstLimit({ k, groups }, by, i) {
  return by === "group" ? groups[i] * k : 0;
}

// ---- sets

// Calls visit(i, size, holds) for each test question: the size of its set and whether the set holds the truth.
function eachSet(prepared, thresholds, { fillEmpty = false, by = "all" }, visit) {
  const { k, m, scores, labels, top } = prepared;
  const limits = limitsOf(prepared, thresholds, by);
  for (let i = 0, at = 0; i < m; i++, at += k) {
    const base = firstLimit(prepared, by, i);
    let size = 0;
    for (let j = 0; j < k; j++) if (scores[at + j] <= limits[base + j]) size++;
    if (size > 0) visit(i, size, scores[at + labels[i]] <= limits[base + labels[i]]);
    else visit(i, fillEmpty ? 1 : 0, fillEmpty && top[i] === labels[i]);
  }
}

// Every question's set at one alpha. `sizes` counts the sets with 0 ... k options after empty sets are filled. `bySize`
// counts those of them that hold the truth. `full` says whether some question or option has an infinite threshold.
export function evaluate(prepared, alpha, { fillEmpty = false, by = "all" } = {}) {
  const { k, m, groups } = prepared;
  const thresholds = thresholdsOf(prepared, alpha, by);
  const sizes = new Int32Array(k + 1);
  const bySize = new Int32Array(k + 1);
  let covered = 0;
  let total = 0;
  eachSet(prepared, thresholds, { fillEmpty, by }, (_, size, holds) => {
    sizes[size]++;
    total += size;
    if (holds) {
      bySize[size]++;
      covered++;
    }
  });
  const full = by === "group" ? groups.some((code) => thresholds[code] === Infinity) : thresholds.includes(Infinity);
  return {
    threshold: by === "all" ? thresholds[0] : NaN,
    thresholds,
    coverage: covered / m,
    meanSize: total / m,
    emptyRate: sizes[0] / m,
    sizes,
    bySize,
    full,
  };
}

// Writes to `members` (k values, 0 or 1) which options are in test question i's set.
export function memberRow(prepared, i, evaluated, { fillEmpty = false, by = "all" }, members) {
  const { k, scores, groups, top } = prepared;
  const { thresholds } = evaluated;
  let size = 0;
  for (let j = 0; j < k; j++) {
    const stratum = by === "all" ? 0 : by === "group" ? groups[i] : j;
    members[j] = scores[i * k + j] <= thresholds[stratum] ? 1 : 0;
    size += members[j];
  }
  if (size === 0 && fillEmpty) members[top[i]] = 1;
  return members;
}

// Coverage and size within strata of the test questions, one entry per code. The size is NaN if a stratum has no test
// questions.
function within(prepared, alpha, options, codes, calibrationCodes, count, thresholdsShown) {
  const totalsShown = { n: new Array(count).fill(0), m: new Array(count).fill(0), hits: new Array(count).fill(0) };
  const totals = new Array(count).fill(0);
  const thresholds = thresholdsOf(prepared, alpha, options.by ?? "all");
  calibrationCodes.forEach((code) => totalsShown.n[code]++);
  eachSet(prepared, thresholds, options, (i, size, holds) => {
    totalsShown.m[codes[i]]++;
    totals[codes[i]] += size;
    if (holds) totalsShown.hits[codes[i]]++;
  });
  const meanSize = totals.map((total, code) => total / totalsShown.m[code]);
  return { ...totalsShown, meanSize, thresholds: totals.map((_, code) => thresholdsShown(thresholds, code)) };
}

// Figures by subject: n questions calibrate, m test, and hits of m are covered. The threshold is NaN if a subject has
// no single threshold.
export function byGroup(prepared, alpha, options = {}) {
  const { by = "all" } = options;
  const { groups, calibrationGroups, groupNames } = prepared;
  const shown = (thresholds, code) => (by === "all" ? thresholds[0] : by === "group" ? thresholds[code] : NaN);
  return within(prepared, alpha, options, groups, calibrationGroups, groupNames.length, shown);
}

// The same figures by true option.
export function byClass(prepared, alpha, options = {}) {
  const { by = "all" } = options;
  const { labels, calibrationLabels, k } = prepared;
  const shown = (thresholds, code) => (by === "all" ? thresholds[0] : by === "class" ? thresholds[code] : NaN);
  return within(prepared, alpha, options, labels, calibrationLabels, k, shown);
}

// ---- every alpha at once

// The largest alpha at which a score is at most the threshold, which falls with alpha; 0 if there is none.
function lastAlpha(falling, score) {
  let low = 0;
  let high = falling.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (falling[middle] >= score) low = middle + 1;
    else high = middle;
  }
  return low;
}

// Coverage and mean size at every alpha from 1 to 999. Thresholds fall with alpha, so each option leaves its set only
// once. It is enough to count the alphas at which options leave; no set has to be formed.
export function curves(prepared, { fillEmpty = false, by = "all" } = {}) {
  const { k, m, scores, labels, groups, top } = prepared;
  const alphas = THOUSAND - 1;
  const falling = strataOf(prepared, by).map((sorted) =>
    Float64Array.from({ length: alphas }, (_, i) => exactThreshold(sorted, i + 1)),
  );
  // Changes between one alpha and the next, stored at the last alpha before the change.
  const covered = new Int32Array(THOUSAND + 1);
  const total = new Int32Array(THOUSAND + 1);
  for (let i = 0, at = 0; i < m; i++) {
    let last = 0;
    for (let j = 0; j < k; j++, at++) {
      const leaves = lastAlpha(falling[by === "all" ? 0 : by === "group" ? groups[i] : j], scores[at]);
      total[leaves]--;
      if (j === labels[i]) covered[leaves]--;
      if (leaves > last) last = leaves;
    }
    if (fillEmpty) {
      total[last]++;
      if (top[i] === labels[i]) covered[last]++;
    }
  }
  const coverage = new Float64Array(alphas);
  const meanSize = new Float64Array(alphas);
  let hits = m;
  let options = m * k;
  for (let i = 0; i < alphas; i++) {
    hits += covered[i];
    options += total[i];
    coverage[i] = hits / m;
    meanSize[i] = options / m;
  }
  return { coverage, meanSize };
}

// ---- other figures

// Round bounds of all values of the score.
export function scoreRange({ name, k, parameters }) {
  const [low, high] = SCORES[name].range(k, parameters);
  return [low, Math.ceil(high * 10 - 1e-9) / 10];
}

// How many calibration scores lie in each of `bins` equal bins of that range: low < value <= high. The first bin also
// holds the lowest value.
export function histogram(prepared, bins) {
  const [sorted] = strataOf(prepared, "all");
  const [low, high] = scoreRange(prepared);
  let before = 0;
  return Int32Array.from({ length: bins }, (_, i) => {
    const upTo = i === bins - 1 ? sorted.length : countUpTo(sorted, low + ((high - low) * (i + 1)) / bins);
    const count = upTo - before;
    before = upTo;
    return count;
  });
}

// The share of test questions whose most probable option is the truth.
export function accuracy({ top, labels, m }) {
  return top.reduce((right, option, i) => right + (option === labels[i] ? 1 : 0), 0) / m;
}
