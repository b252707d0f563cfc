// Two runs as one stream of questions, and what three ways make of it, as core/reports/stream_lab.py defines it.

import { PURPOSES, hashes, uniformsAt } from "../shared/random_numbers.js";
import { exactThreshold } from "../shared/sets.js";
import { adaptiveSets } from "./adaptive.js";
import { onlinePValues, placesOf, simpleJumper } from "./betting.js";

const [FIRST_ONCE, SECOND_ONCE, FIRST_AGAIN, SECOND_AGAIN] = [0, 1, 2, 3];
const WORD = 4294967296;

// The questions of both runs in one list, the first run's before the second's. `n` of the first calibrate. `options` has
// k scores per question, `truth` the true option's.
export function poolOfStreams({ n, k, options, truth, firstCount }) {
  return { n, k, options, truth, firstCount, secondCount: truth.length - firstCount, ...placesOf(truth) };
}

// The pool of the tables that core.reports.stream_lab.stream_tables sends.
export function poolOfTables({ n, first, second }) {
  const tables = second ? [first, second] : [first];
  let k = 0;
  while (first.getChild(`o${k}`)) k++;
  const count = tables.reduce((sum, table) => sum + table.numRows, 0);
  const options = new Float64Array(count * k);
  const truth = new Float64Array(count);
  let start = 0;
  for (const table of tables) {
    truth.set(table.getChild("s").toArray(), start);
    for (let j = 0; j < k; j++) {
      const column = table.getChild(`o${j}`).toArray();
      for (let i = 0; i < column.length; i++) options[(start + i) * k + j] = column[i];
    }
    start += table.numRows;
  }
  return poolOfStreams({ n, k, options, truth, firstCount: first.numRows });
}

const span = (from, to) => Int32Array.from({ length: to - from }, (_, i) => from + i);

function shuffled(rows, order, draw) {
  const drawn = hashes(rows, order, PURPOSES.ORDER, draw);
  return span(0, rows.length)
    .sort((i, j) => drawn[i] - drawn[j])
    .map((i) => rows[i]);
}

function withReplacement(size, count, order, draw) {
  const drawn = hashes(span(0, size), order, PURPOSES.ORDER, draw);
  return Int32Array.from(drawn, (hash) => Math.floor((hash * count) / WORD));
}

// The rows of the first run in their order: n that calibrate, then those of the stream.
function firstRows({ n, firstCount }, order, length) {
  if (length) return withReplacement(n + length, firstCount, order, FIRST_AGAIN);
  if (order) return shuffled(span(0, firstCount), order, FIRST_ONCE);
  const rows = span(0, firstCount);
  rows.set(shuffled(rows.slice(n), order, FIRST_ONCE), n);
  return rows;
}

// What a stream is made of, whatever the change: calibration scores, and the rows of both runs in their order. `order` is
// the seed of the order; `length` is 0 for each question once, or the number that are drawn with replacement.
export function drawnOrder(pool, { order, length }) {
  const { n, firstCount, secondCount } = pool;
  const own = firstRows(pool, order, length);
  const other = !secondCount
    ? new Int32Array()
    : length
      ? withReplacement(length, secondCount, order, SECOND_AGAIN)
      : shuffled(span(0, secondCount), order, SECOND_ONCE);
  const calibration = own.slice(0, n);
  const most = length || firstCount - n;
  const longest = length || most + secondCount;
  return {
    pool,
    length,
    most,
    longest,
    past: calibration.map((row) => pool.places[row]),
    sorted: Float64Array.from(calibration, (row) => pool.truth[row]).sort(),
    before: own.subarray(n),
    after: other.map((row) => firstCount + row),
    u: uniformsAt(span(0, longest), order, PURPOSES.SMOOTHING),
  };
}

// Where the change is if nobody chose: after all of the first run's questions, or after half of the length.
export function usualChange({ pool, most, length }) {
  return pool.secondCount && length ? Math.floor(length / 2) : most;
}

// A stream with its change after this many questions, and the bets on it; none of this depends on alpha or gamma.
export function streamAt(drawn, wanted) {
  const { pool, most, length, before, after } = drawn;
  const change = pool.secondCount ? Math.min(wanted, most) : most;
  const later = length ? Math.min(after.length, length - change) : after.length;
  const rows = new Int32Array(change + later);
  rows.set(before.subarray(0, change));
  rows.set(after.subarray(0, later), change);
  const truth = new Float64Array(rows.length);
  const places = new Int32Array(rows.length);
  for (let t = 0; t < rows.length; t++) {
    truth[t] = pool.truth[rows[t]];
    places[t] = pool.places[rows[t]];
  }
  const pValues = onlinePValues(drawn.past, places, pool.size, drawn.u);
  return { drawn, change, rows, truth, pValues, capital: simpleJumper(pValues) };
}

// How many options of each question have a score of at most its threshold.
function sizesOf({ drawn, rows }, thresholdAt) {
  const { k, options } = drawn.pool;
  const sizes = new Uint8Array(rows.length);
  for (let t = 0; t < rows.length; t++) {
    const threshold = thresholdAt(t);
    const from = rows[t] * k;
    let size = 0;
    for (let at = from; at < from + k; at++) if (options[at] <= threshold) size++;
    sizes[t] = size;
  }
  return sizes;
}

// The fixed threshold and the adaptive sets of a stream, at alpha and gamma in thousandths.
export function follow(stream, alpha, gamma) {
  const { truth, drawn } = stream;
  const threshold = exactThreshold(drawn.sorted, alpha);
  const missed = new Uint8Array(truth.length);
  for (let t = 0; t < truth.length; t++) missed[t] = truth[t] > threshold ? 1 : 0;
  const adaptive = adaptiveSets(drawn.sorted, truth, alpha, gamma);
  return {
    fixed: { threshold, missed, sizes: sizesOf(stream, () => threshold) },
    adaptive: { ...adaptive, sizes: sizesOf(stream, (t) => adaptive.thresholds[t]) },
  };
}

// The figures of the questions from one to another; NaN shares if there are none. A set is full if its threshold is
// infinite.
export function stretch({ missed, sizes }, from, to) {
  let misses = 0;
  let total = 0;
  let empty = 0;
  for (let t = from; t < to; t++) {
    misses += missed[t];
    total += sizes[t];
    if (sizes[t] === 0) empty++;
  }
  const count = to - from;
  return { count, coverage: (count - misses) / count, meanSize: total / count, empty };
}

// The coverage of the last `window` questions after each; NaN until there are this many.
export function windowCoverage(missed, window) {
  const coverage = new Float64Array(missed.length).fill(NaN);
  let hits = 0;
  for (let t = 0; t < missed.length; t++) {
    hits += 1 - missed[t];
    if (t >= window) hits -= 1 - missed[t - window];
    if (t >= window - 1) coverage[t] = hits / window;
  }
  return coverage;
}
