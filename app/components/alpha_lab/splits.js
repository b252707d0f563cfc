// A run's questions, and views of them, as core/reports/alpha_lab/view.py defines them.
//
// A pool is all calibration and test questions of a run in file order. A look selects which of them calibrate and which
// test, and how many options they have.

import { PURPOSES, firstPart, splitCut } from "../shared/random_numbers.js";

const FEWEST = 5;
const SEEDS = 4294967296;
const LETTERS_OF_OPTIONS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";

// `p` has k options per question. `own` is 1 for the rows that calibrate in the run itself. `extra` are the positions
// of E and F. `letters` are the names of the options. `places` are the rows of the run's file, if the pool leaves some
// out; random numbers are drawn by them.
// `scores` is the table of core/conformal/scores/table.py.
export function makePool({
  k,
  letters = [...LETTERS_OF_OPTIONS.slice(0, k)],
  p,
  labels,
  groups,
  groupNames,
  clusters,
  own,
  extra = [],
  seed,
  places = null,
  scores = [],
}) {
  return {
    k,
    letters,
    p,
    labels,
    groups,
    groupNames,
    clusters,
    own,
    extra,
    seed,
    places: places ?? labels.map((_, i) => i),
    dropped: null,
    scoreTable: new Map(scores.map((score) => [score.name, score])),
  };
}

// The pool of the tables that core.reports.frames.lab_tables sends.
export function poolOf(data) {
  const { rows } = data;
  const count = rows.numRows;
  let k = 0;
  while (rows.getChild(`p${k}`)) k++;
  const p = new Float64Array(count * k);
  for (let j = 0; j < k; j++) {
    const column = rows.getChild(`p${j}`).toArray();
    for (let i = 0; i < count; i++) p[i * k + j] = column[i];
  }
  const whole = (name, Kind = Int32Array) => Kind.from(rows.getChild(name).toArray());
  return makePool({
    k,
    letters: data.letters,
    p,
    labels: whole("y"),
    groups: whole("group"),
    groupNames: data.group_names,
    clusters: whole("cluster"),
    own: whole("own", Uint8Array),
    extra: data.extra,
    seed: data.seed,
    places: whole("place"),
    scores: data.scores,
  });
}

// Probabilities without the options at `extra`, each row rescaled to sum to 1. If a row has nothing left, its options
// get equal probabilities. Options that a question lacks stay NaN.
function renormalised(p, k, options) {
  const n = p.length / k;
  const count = options.length;
  const out = new Float64Array(n * count).fill(NaN);
  for (let i = 0; i < n; i++) {
    const own = options.filter((j) => !Number.isNaN(p[i * k + j])).length;
    let sum = 0;
    for (let j = 0; j < own; j++) sum += p[i * k + options[j]];
    for (let j = 0; j < own; j++) out[i * count + j] = sum > 0 ? p[i * k + options[j]] / sum : 1 / own;
  }
  return out;
}

// The pool without E and F, computed once.
function withoutExtra(pool) {
  const { k, p, labels, extra } = pool;
  if (extra.length === 0)
    throw new Error("This run has no options E “I don't know” and F “None of the above” to leave out.");
  if (labels.some((label) => extra.includes(label))) {
    throw new Error("This run has questions whose truth is E or F; they can't be left out.");
  }
  const options = Array.from({ length: k }, (_, j) => j).filter((j) => !extra.includes(j));
  if (options.length < 2)
    throw new Error(`Without E and F, only ${options.length} option is left. A set needs at least 2 to choose from.`);
  pool.dropped ??= {
    k: options.length,
    kept: options,
    p: renormalised(p, k, options),
    labels: labels.map((label) => options.indexOf(label)),
  };
  return pool.dropped;
}

function rowsWhere(flags, value) {
  const rows = [];
  for (let i = 0; i < flags.length; i++) if (flags[i] === value) rows.push(i);
  return Int32Array.from(rows);
}

// A seeded subset of the calibration rows. A smaller subset is part of a larger one.
function fewer(pool, rows, n) {
  const inside = firstPart(
    rows.map((row) => pool.places[row]),
    n,
    pool.seed,
    PURPOSES.FEWER,
  );
  return rows.filter((_, i) => inside[i]);
}

// The pool as a view shows it: `seed` draws another split (null: the run's own), `n` is the number of calibration
// questions used (null: all), `drop` leaves out E and F. Throws an Error with one sentence if that is not possible.
export function lookAt(pool, { seed = null, n = null, drop = false } = {}) {
  if (seed !== null && !(Number.isInteger(seed) && seed >= 0 && seed < SEEDS)) {
    throw new Error(`The seed of a split must be a whole number from 0 to ${SEEDS - 1}, got ${seed}.`);
  }
  const size = pool.own.reduce((sum, value) => sum + value, 0);
  const side = seed === null ? pool.own : splitCut(pool.clusters, size, seed);
  const all = rowsWhere(side, 1);
  const test = rowsWhere(side, 0);
  if (seed !== null && size > 0 && size < side.length && test.length === 0) {
    throw new Error("This run has too few different questions to split again.");
  }
  if (all.length === 0 || test.length === 0) {
    throw new Error(`This run has ${all.length} calibration and ${test.length} test questions; both are needed.`);
  }
  const smallest = Math.min(FEWEST, all.length);
  if (n !== null && !(Number.isInteger(n) && n >= smallest && n <= all.length)) {
    throw new Error(`Choose from ${smallest} to ${all.length} calibration questions, not ${n}.`);
  }
  const { k, p, labels, kept } = drop ? withoutExtra(pool) : { ...pool, kept: null };
  return {
    k,
    p,
    labels,
    groups: pool.groups,
    letters: kept ? kept.map((j) => pool.letters[j]) : pool.letters,
    optionPlaces: kept ?? pool.letters.map((_, j) => j),
    calibration: n === null || n === all.length ? all : fewer(pool, all, n),
    test,
    nAll: all.length,
    smallest,
    pool,
    view: { seed, n, drop },
  };
}
