// A run at a temperature, against golden values from Python: shares and losses within 1e-12, counts exactly.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";

const { alpha, runs } = JSON.parse(readFileSync(process.env.HEDGE_GOLDEN, "utf8"));
const { atTemperature, binEdges, binOf, hold, smallest, temper } = await import(pathToFileURL(join(process.env.HEDGE_SCRIPTS, "tempering.js")));

const close = (found, expected, what) =>
  assert.ok(found === expected || Math.abs(found - expected) <= 1e-12 * Math.max(1, Math.abs(expected)), `${what}: ${found} is not ${expected}`);
const orNaN = (found, expected, what) => (expected === null ? assert.ok(Number.isNaN(found), what) : close(found, expected, what));

for (const { name, k, p, labels, own, found } of runs) {
  const held = hold({ p: Float64Array.from(p.flat(), (value) => value ?? NaN), labels: Int32Array.from(labels), own: Uint8Array.from(own), k });
  for (const expected of found) {
    const { temperature, bins, by } = expected;
    test(`${name} at ${temperature} in ${bins} bins by ${by}`, () => {
      const made = atTemperature(held, { temperature, alpha, bins, by });
      for (const figure of ["accuracy", "nll", "ece", "mce", "over", "under"]) close(made[figure], expected[figure], figure);
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
    const sorted = p.map((row) => row.map((value) => value ?? 0).sort((a, b) => a - b)).flat();
    temper(held, 1).forEach((value, at) => close(value, sorted[at], at));
  });
}

test("edges belong to the bin below", () => {
  const edges = binEdges(new Float64Array(), 5, "width");
  assert.deepEqual([0, 0.1, 0.2, 0.2000001, 1].map((value) => binOf(edges, value)), [0, 0, 0, 1, 4]);
});

test("the at-th smallest is that of a sorted copy", () => {
  let state = 1;
  const random = () => ((state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 4294967296);
  for (let length = 1; length < 60; length++) {
    const values = Float64Array.from({ length }, () => Math.floor(random() * length) / length), sorted = values.slice().sort();
    for (let at = 1; at <= length; at++) assert.equal(smallest(values.slice(), at), sorted[at - 1]);
  }
});
