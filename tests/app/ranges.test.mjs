// What the figures between two ends say.

import assert from "node:assert/strict";
import test from "node:test";
import {
  between,
  exactText,
  probabilityText,
  rangeVerdict,
  setText,
  stretches,
  word,
} from "../../app/components/shared/ranges/ranges.js";

test("two ends are one figure where they are shown alike", () => {
  const share = (value) => `${(100 * value).toFixed(1)}%`;
  assert.equal(between(0.9, 0.90001, share), "90.0%");
  assert.equal(between(0.842, 1, share), "84.2 to 100.0%");
  assert.equal(
    between(3, 6, (value) => value.toFixed(2)),
    "3.00 to 6.00",
  );
});

test("stretches of alpha at which all sets are known", () => {
  assert.deepEqual(stretches([1, 1, 0.5, 1]), [
    [1, 2],
    [4, 4],
  ]);
  assert.deepEqual(stretches([0.2]), []);
});

test("the nearest alpha at which all sets are known is named", () => {
  assert.equal(exactText(100, []), "At no alpha are all sets known exactly.");
  const known = [
    [10, 20],
    [130, 999],
  ];
  assert.match(exactText(100, known), /^At 881 of 999 alphas, .* The nearest of them is 0\.13\.$/);
  assert.match(exactText(15, known), / as all from 0\.01 to 0\.02\.$/);
});

test("the guarantee is judged only where both ends agree", () => {
  const band = { low: 0.86, high: 0.94 };
  assert.match(rangeVerdict(0.7, 0.8, band), /^▼/);
  assert.match(rangeVerdict(0.95, 1, band), /^▲/);
  assert.match(rangeVerdict(0.84, 1, band), /can't be told/);
  assert.match(rangeVerdict(0.9, 1, band), /^✓ No part of the range is below/);
  assert.match(rangeVerdict(0.9, 0.91, band), /^✓ Within/);
});

test("an option is in, out, or can't be told", () => {
  assert.deepEqual(
    [100, 101, 200, 201].map((alpha) => word(alpha, 100, 200)),
    ["in", "can't be told", "can't be told", "out"],
  );
  assert.equal(setText(["A", "B", "C"], ["in", "can't be told", "out"]), "{A}; for B it can't be told");
  assert.equal(setText(["A", "B"], ["out", "out"]), "{ }, known exactly");
});

test("a probability with an upper bound alone", () => {
  assert.equal(probabilityText(0, 0.04), "at most 0.040");
  assert.equal(probabilityText(0, 0.0002), "at most 0.001");
  assert.equal(probabilityText(0.0001, 0.0002), "< 0.001");
  assert.equal(probabilityText(0.31, 0.33), "0.310 to 0.330");
});
