// A run at a temperature, against golden values from Python: shares and losses within 1e-12, counts exactly.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import {
  atTemperature,
  binEdges,
  binOf,
  hold,
  nll,
  smallest,
  temper,
} from "../../app/components/calibration/temperature/tempering.js";

const { alpha, runs } = JSON.parse(readFileSync(process.env.HEDGE_GOLDEN, "utf8"));

const close = (found, expected, what) =>
  assert.ok(
    found === expected || Math.abs(found - expected) <= 1e-12 * Math.max(1, Math.abs(expected)),
    `${what}: ${found} is not ${expected}`,
  );
const orNaN = (found, expected, what) =>
  expected === null ? assert.ok(Number.isNaN(found), what) : close(found, expected, what);

for (const { name, k, logs, labels, own, found } of runs) {
  const held = hold({
    logs: Float64Array.from(logs.flat(), (value) => (value === null ? NaN : value === "-inf" ? -Infinity : value)),
    labels: Int32Array.from(labels),
    own: Uint8Array.from(own),
    k,
  });
  for (const expected of found) {
    const { temperature, bins, by } = expected;
    test(`${name} at ${temperature} in ${bins} bins by ${by}`, () => {
      const made = atTemperature(held, { temperature, alpha, bins, by });
      for (const figure of ["accuracy", "ece", "mce", "over", "under"]) close(made[figure], expected[figure], figure);
      close(made.nll, Number(expected.nll), "nll");
      assert.equal(made.nllInfinite, expected.nll_infinite);
      assert.deepEqual([...made.counts], expected.counts);
      expected.confidence.forEach((value, b) => orNaN(made.confidence[b], value, `confidence ${b}`));
      expected.accuracies.forEach((value, b) => orNaN(made.accuracies[b], value, `accuracy ${b}`));
      for (const [score, sets] of Object.entries(expected.sets)) {
        close(made.sets[score].threshold, Number(sets.threshold), `${score} threshold`);
        close(made.sets[score].coverage, sets.coverage, `${score} coverage`);
        close(made.sets[score].meanSize, sets.mean_set_size, `${score} size`);
      }
    });
  }
  test(`${name} at 1 is as it was`, () => {
    const sorted = logs
      .map((row) => row.map((value) => (typeof value === "number" ? Math.exp(value) : 0)).sort((a, b) => a - b))
      .flat();
    temper(held, 1).forEach((value, at) => close(value, sorted[at], at));
  });
}

test("a loss keeps its size where the probability itself is too small for a number", () => {
  const held = hold({
    logs: Float64Array.of(0, -1000, -0.5, -0.9),
    labels: Int32Array.of(1, 0),
    own: Uint8Array.of(0, 1),
    k: 2,
  });
  const found = atTemperature(held, { temperature: 2, alpha: 100, bins: 15, by: "width" });
  assert.equal(found.nll, 500);
  assert.equal(found.nllInfinite, 0);
});

test("a truth of probability 0 has an infinite loss at every temperature", () => {
  const held = hold({
    logs: Float64Array.of(0, -Infinity, -0.5, -0.9),
    labels: Int32Array.of(1, 0),
    own: Uint8Array.of(0, 0),
    k: 2,
  });
  for (const temperature of [0.2, 1, 5]) {
    const found = atTemperature(held, { temperature, alpha: 100, bins: 15, by: "width" });
    assert.equal(found.nll, Infinity);
    assert.equal(found.nllInfinite, 1);
    assert.equal(nll(found), "∞");
  }
});

test("frequencies have no loss", () => {
  for (const truth of [0, 1]) {
    const logs = Float64Array.of(0, -Infinity, -0.5, -0.9);
    const own = Uint8Array.of(0, 1);
    const held = hold({ logs, labels: Int32Array.of(truth, 0), own, k: 2, frequencies: true });
    const found = atTemperature(held, { temperature: 2, alpha: 100, bins: 15, by: "width" });
    assert.ok(Number.isNaN(found.nll));
    assert.equal(nll(found), "–");
  }
});

test("of equally probable options the later is on top", () => {
  const held = hold({
    logs: Float64Array.of(Math.log(0.5), Math.log(0.5)),
    labels: Int32Array.of(1),
    own: Uint8Array.of(0),
    k: 2,
  });
  assert.equal(atTemperature(held, { temperature: 1.3, alpha: 100, bins: 15, by: "width" }).accuracy, 1);
});

test("edges belong to the bin below", () => {
  const edges = binEdges(new Float64Array(), 5, "width");
  assert.deepEqual(
    [0, 0.1, 0.2, 0.2000001, 1].map((value) => binOf(edges, value)),
    [0, 0, 0, 1, 4],
  );
});

test("the at-th smallest is that of a sorted copy", () => {
  let state = 1;
  const random = () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 4294967296;
  for (let length = 1; length < 60; length++) {
    const values = Float64Array.from({ length }, () => Math.floor(random() * length) / length);
    const sorted = values.slice().sort();
    for (let at = 1; at <= length; at++) assert.equal(smallest(values.slice(), at), sorted[at - 1]);
  }
});
