// One sentence says what can't be shown, as in Python.

import assert from "node:assert/strict";
import test from "node:test";
import { lookAt, makePool } from "../../app/components/alpha_lab/splits.js";
import { stripReach } from "../../app/components/alpha_lab/figures.js";
import { beyondSaid } from "../../app/components/alpha_lab/resampling.js";
import { MEASURES } from "../../app/components/compare/comparison/matrix.js";
import { PANELS, written } from "../../app/components/compare/comparison/scales.js";
import {
  bandSaid,
  besideThreshold,
  differenceShown,
  fixed,
  labAnswer,
  pSaid,
  percent,
  percentsApart,
  promiseKept,
  thresholdText,
  verdict,
} from "../../app/components/shared/formatting.js";

// Four options, eight questions; the last two options are E and F.
function pool(changes = {}) {
  const n = 8;
  const k = 4;
  return makePool({
    k,
    p: Float64Array.from({ length: n * k }, () => 1 / k),
    labels: Int32Array.from({ length: n }, (_, i) => i % 2),
    groups: new Int32Array(n),
    groupNames: ["g"],
    clusters: Int32Array.from({ length: n }, (_, i) => i),
    own: Uint8Array.from({ length: n }, (_, i) => (i < 6 ? 1 : 0)),
    extra: [2, 3],
    seed: 0,
    ...changes,
  });
}

const refused = (made, view, sentence) => assert.throws(() => lookAt(made, view), { name: "Error", message: sentence });

test("a share in the middle of two percentages is written as Python writes it", () => {
  assert.deepEqual(
    [1 / 16, 3 / 16, 101 / 400, -1 / 16, 0.3125].map((share) => percent(share, 1)),
    ["6.2%", "18.8%", "25.2%", "-6.2%", "31.2%"],
  );
  assert.deepEqual(
    [1 / 8, 3 / 8, 1 / 3].map((share) => percent(share, 0)),
    ["12%", "38%", "33%"],
  );
});

test("a number in the middle of two is written as Python writes it, alone and in a difference", () => {
  // f"{x:.2f}" and f"{x:.3f}" in Python, and round(round(2.125, 2) - round(1, 2), 2)
  assert.deepEqual(
    [2.125, 2.375, 2.625, 0.005, -0.125].map((value) => fixed(value, 2)),
    ["2.12", "2.38", "2.62", "0.01", "-0.12"],
  );
  assert.deepEqual(
    [0.0625, 0.1875].map((value) => fixed(value, 3)),
    ["0.062", "0.188"],
  );
  assert.equal(differenceShown(2.125, 1, 2), 1.12);
  assert.equal(written([2.125, 2.1, 2.375], PANELS.set_size), "2.12 (2.10 to 2.38)");
  assert.equal(MEASURES.set_size.value(2.125), "2.12");
});

test("a look says how many questions calibrate, and how few may", () => {
  const { nAll, smallest, view } = lookAt(pool(), { n: 5 });
  assert.deepEqual([nAll, smallest, view], [6, 5, { seed: null, n: 5, drop: false }]);
  assert.equal(lookAt(pool({ own: Uint8Array.from([1, 1, 1, 0, 0, 0, 0, 0]) })).smallest, 3);
});

test("too few or too many calibration questions", () => {
  for (const n of [4, 7, 5.5, NaN]) {
    refused(pool(), { n }, `Choose from 5 to 6 calibration questions, not ${n}.`);
  }
});

test("seeds that can't be", () => {
  for (const seed of [-1, 0.5, 2 ** 32, NaN]) {
    refused(pool(), { seed }, `The seed of a split must be a whole number from 0 to 4294967295, got ${seed}.`);
  }
  assert.equal(lookAt(pool(), { seed: 2 ** 32 - 1 }).nAll, 6);
});

test("nothing to calibrate or to test on", () => {
  refused(pool({ own: new Uint8Array(8) }), {}, "This run has 0 calibration and 8 test questions; both are needed.");
  refused(
    pool({ own: new Uint8Array(8).fill(1) }),
    {},
    "This run has 8 calibration and 0 test questions; both are needed.",
  );
});

test("questions all alike", () => {
  refused(
    pool({ clusters: new Int32Array(8) }),
    { seed: 1 },
    "This run has too few different questions to split again.",
  );
});

test("E and F that are not there, are true, or leave nothing to choose from", () => {
  refused(
    pool({ extra: [] }),
    { drop: true },
    "This run has no options E “I don't know” and F “None of the above” to leave out.",
  );
  refused(
    pool({ extra: [1, 3] }),
    { drop: true },
    "This run has questions whose truth is E or F; they can't be left out.",
  );
  refused(
    pool({ extra: [1, 2, 3], labels: new Int32Array(8) }),
    { drop: true },
    "Without E and F, only 1 option is left. A set needs at least 2 to choose from.",
  );
});

test("a question with nothing left is spread evenly", () => {
  const p = Float64Array.from({ length: 32 }, (_, at) => (at % 4 === 2 ? 1 : 0));
  assert.ok(lookAt(pool({ p }), { drop: true }).p.every((value) => value === 0.5));
});

test("where every true option has one score, the strip holds the coverage and no band is a point", () => {
  const always = new Float64Array(999).fill(1);
  assert.equal(stripReach({ testLow: always, testHigh: always }), 100);
  assert.equal(bandSaid({ low: 1, high: 1 }, 1), "100.0% in every draw");
  assert.equal(bandSaid({ low: 0.9, high: 0.95 }, 1), "band 90.0 to 95.0%");
});

test("sets of every option are no success of the guarantee", () => {
  const result = { thresholds: [1], threshold: 1, coverage: 1, meanSize: 4 };
  assert.match(verdict(result, "all", { low: 1, high: 1 }, 4), /^Every option stays in every set/);
  assert.match(verdict({ ...result, meanSize: 3.9 }, "all", { low: 1, high: 1 }, 4), /^✓ Within the band/);
});

test("the lab's answer says what the sets leave, and whether chance explains the difference", () => {
  const result = { thresholds: [0.9], threshold: 0.9, coverage: 0.8883, meanSize: 1.4972 };
  const figures = { model: "m", title: "LAC", result, k: 6, digits: 1, band: { low: 0.874, high: 0.925 } };
  assert.equal(
    labAnswer(100, figures),
    "At alpha 0.1 m leaves 1.50 of 6 options (by LAC), and the truth is among them on 88.8% of questions.",
  );
  const kept = (alpha, coverage) => promiseKept(alpha, "all", { ...figures, result: { ...result, coverage } });
  assert.equal(kept(100, 0.88), "9 in 10 were promised. Chance alone explains so small a difference.");
  assert.equal(kept(120, 0.88), "88% were promised, and the promise is kept.");
  assert.equal(kept(115, 0.8), "88.5% were promised. Chance alone rarely gives so little.");
  assert.equal(kept(100, 0.99), "9 in 10 were promised. This is more than chance alone explains.");
  assert.equal(promiseKept(100, "group", { ...figures, band: null }), "9 in 10 were promised.");
  assert.match(promiseKept(1, "all", { ...figures, result: { ...result, meanSize: 6 } }), /^Every option stays/);
});

test("a score above the threshold does not look like one that is in", () => {
  const threshold = 1 - 7.3e-7;
  const written = besideThreshold(threshold, [1 - 8e-7, 1 - 3e-8, 1], 3);
  assert.deepEqual([1 - 8e-7, threshold, 1 - 3e-8, 1].map(written), ["0.999999", "0.999999", "1.000000", "1.000000"]);
  assert.equal(besideThreshold(0.89651, [0.5, 0.89654], 3)(0.89654), "0.89654");
  assert.equal(besideThreshold(0.8965, [0.5, 0.9], 3)(0.8965), "0.896");
  assert.deepEqual(
    [threshold, 1, 1 - 4e-5, Infinity, 3].map((value) => thresholdText(value)),
    ["0.999999", "1.0000", "0.99996", "none", "3"],
  );
});

test("a probability that is in does not look like one that is out", () => {
  assert.deepEqual(percentsApart([0.9, 0.06, 0.04], [[true, true, false]]), ["90.0%", "6.0%", "4.0%"]);
  assert.deepEqual(percentsApart([0.2502, 0.2498], [[true, false]]), ["25.02%", "24.98%"]);
  assert.deepEqual(percentsApart([1 - 1e-7, 9e-8, 2e-9], [[true, true, false]]), [
    "100.0000%",
    "9.0 × 10⁻⁶%",
    "2.0 × 10⁻⁷%",
  ]);
  assert.deepEqual(percentsApart([0.5, 0.5], [[true, false]]), ["50.0%", "50.0%"]); // equal: later options go first
});

test("splits beyond the figure are named by their side", () => {
  assert.equal(beyondSaid({ below: 0, above: 0, expected: 0.3 }), "");
  assert.equal(
    beyondSaid({ below: 1, above: 0, expected: 0.34 }),
    " 1 split lies below the figure, where chance alone puts 0.3.",
  );
  assert.equal(
    beyondSaid({ below: 2, above: 1, expected: 0.34 }),
    " 2 splits lie below the figure and 1 split lies above the figure, where chance alone puts 0.3.",
  );
});

test("a difference is that of the terms that stand beside it", () => {
  assert.equal((100 * (0.8715 - 0.7624)).toFixed(1), "10.9"); // beside 87.2% and 76.2%
  assert.equal(differenceShown(87.15, 76.24, 1), 11);
  assert.equal(differenceShown(76.24, 87.15, 1), -11);
  assert.equal(differenceShown(87.15, 76.24, 1, 9.5), 9.5); // of other questions than the terms
});

test("p-values have one form", () =>
  assert.deepEqual([0.0001, 0.001, 0.0412].map(pSaid), ["p < 0.001", "p = 0.001", "p = 0.041"]));
