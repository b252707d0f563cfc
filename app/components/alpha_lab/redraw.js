// The effect of chance, and the cost of bugs. tests/reference/redraw.py describes the procedures.

import { THOUSAND, countUpTo, rank } from "../shared/sets.js";
import { PURPOSES, hashes, smallestAt } from "../shared/random_numbers.js";

const WITHOUT_LIMIT = Infinity;

function clampedAt({ calibration }, alpha) {
  return calibration[Math.min(rank(calibration.length, alpha), calibration.length) - 1];
}

// NumPy's "higher" quantile at rank / n.
function higherAt({ calibration }, alpha) {
  const n = calibration.length;
  const level = rank(n, alpha) / n;
  return level > 1 ? WITHOUT_LIMIT : calibration[Math.ceil((n - 1) * level)];
}

// NumPy's linear quantile at min(rank / n, 1).
function linearAt({ calibration }, alpha) {
  const n = calibration.length;
  const place = (n - 1) * Math.min(rank(n, alpha) / n, 1);
  const at = Math.floor(place);
  const part = place - at;
  const below = calibration[at];
  const above = calibration[Math.min(at + 1, n - 1)];
  return part < 0.5 ? below + (above - below) * part : above - (above - below) * (1 - part);
}

function exactAt({ calibration }, alpha) {
  const at = rank(calibration.length, alpha);
  return at > calibration.length ? WITHOUT_LIMIT : calibration[at - 1];
}

// The smallest threshold that covers 1 - alpha of the test questions themselves.
function seenAt({ test }, alpha) {
  return test[Math.ceil((test.length * (THOUSAND - alpha)) / THOUSAND) - 1];
}

const thresholdCoverage = (at) => (sides, alpha) => countUpTo(sides.test, at(sides, alpha)) / sides.test.length;

// Adds the probabilities again to form the set, and keeps the option with which the sum passes the threshold.
function summedAgain(sides, alpha) {
  const q = exactAt(sides, alpha);
  const { before } = sides;
  let covered = 0;
  for (let i = 0; i < before.length; i++) if (before[i] <= q) covered++;
  return covered / before.length;
}

// The right procedure and five similar but wrong ones: what each does, and how that shows. `scores` names the scores to
// which a procedure applies (null: all).
export const PROCEDURES = [
  {
    name: "exact",
    does: "Takes the ⌈(n+1)(1−α)⌉-th smallest calibration score.",
    shows: "This is the right procedure.",
    scores: null,
    coverage: thresholdCoverage(exactAt),
  },
  {
    name: "higher",
    does: "Takes numpy’s “higher” quantile at rank/n.",
    shows: "It is usually one score too high, so coverage is above the target and sets are larger than necessary.",
    scores: null,
    coverage: thresholdCoverage(higherAt),
  },
  {
    name: "clamped",
    does: "Lowers a rank above n to n.",
    shows:
      "It agrees with the right procedure unless the rank is above n, as with few calibration questions and a small alpha. There, coverage falls below the target, and the promise is broken.",
    scores: null,
    coverage: thresholdCoverage(clampedAt),
  },
  {
    name: "linear",
    does: "Interpolates between two scores at rank/n, or at 1 if that is less.",
    shows:
      "It differs a little from the right procedure, and where the rank is above n, coverage falls below the target: with few calibration questions, the promise is broken.",
    scores: null,
    coverage: thresholdCoverage(linearAt),
  },
  {
    name: "test set",
    does: "Calibrates on the test questions themselves.",
    shows: "Coverage is on target every time, with almost no spread, but nothing is promised for any other question.",
    scores: null,
    coverage: thresholdCoverage(seenAt),
  },
  {
    name: "summed again",
    does: "Adds the probabilities up again to form the set and keeps the option that crosses the threshold.",
    shows: "That is one option too many, so coverage is far above the target.",
    scores: ["aps"],
    coverage: summedAgain,
  },
];

export function procedureFits(procedure, scoreName) {
  return procedure.scores === null || procedure.scores.includes(scoreName);
}

// The look's calibration and test rows in ascending order of their true option's score.
function byScore({ look, calibrationRows, calibration, truth, n }) {
  const { k, p, labels, test, pool } = look;
  const count = n + test.length;
  const rowAt = (i) => (i < n ? calibrationRows[i] : test[i - n]);
  const scoreAt = (i) => (i < n ? calibration[i] : truth[i - n]);
  const order = Int32Array.from({ length: count }, (_, i) => i).sort((i, j) => scoreAt(i) - scoreAt(j));
  return {
    scores: Float64Array.from(order, scoreAt),
    before: Float64Array.from(order, (i) => scoreAt(i) - p[rowAt(i) * k + labels[rowAt(i)]]),
    clusters: Int32Array.from(order, (i) => pool.clusters[rowAt(i)]),
    seed: pool.seed,
  };
}

// Draws random splits of a prepared score's questions: n calibrate and all others test. More than n calibrate if the
// cluster at the cut would be divided. draw(i, names, alpha) gives the coverage of each named procedure in draw i, with
// empty sets left empty and one threshold for all; it is NaN if the procedure does not apply to this score. m(i) counts
// the test questions.
export function redrawer(prepared, { n = prepared.n } = {}) {
  const { scores, before, clusters, seed } = byScore(prepared);
  const count = scores.length;
  const drawn = new Uint32Array(count);
  const sides = { calibration: null, test: null, before: null };
  const left = new Float64Array(count);
  const right = new Float64Array(count);
  const crossing = new Float64Array(count);
  let done = -1;

  function split(i) {
    if (done === i) return;
    hashes(clusters, seed, PURPOSES.REDRAW, i, drawn);
    const cut = smallestAt(drawn, n);
    let calibrating = 0;
    let testing = 0;
    for (let at = 0; at < count; at++) {
      if (drawn[at] <= cut) left[calibrating++] = scores[at];
      else {
        crossing[testing] = before[at];
        right[testing++] = scores[at];
      }
    }
    sides.calibration = left.subarray(0, calibrating);
    sides.test = right.subarray(0, testing);
    sides.before = crossing.subarray(0, testing);
    done = i;
  }

  return {
    n,
    m(i) {
      split(i);
      return sides.test.length;
    },
    draw(i, names, alpha) {
      split(i);
      return names.map((name) => {
        const procedure = PROCEDURES.find((candidate) => candidate.name === name);
        return procedureFits(procedure, prepared.name) ? procedure.coverage(sides, alpha) : NaN;
      });
    },
  };
}
