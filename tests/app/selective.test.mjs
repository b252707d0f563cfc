// Answer or pass against golden values from Python, to the last bit.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { Selective } from "../../app/components/shared/selective/panel.js";
import {
  criticalErrors,
  errorBound,
  fewestAnswers,
  hold,
  selective,
} from "../../app/components/shared/selective/selective.js";

const { arithmetic, cases } = JSON.parse(readFileSync(process.env.HEDGE_GOLDEN, "utf8"));
const known = (value) => (Number.isNaN(value) ? null : value);

for (const { alpha, delta, n, critical, fewest, bounds } of arithmetic)
  test(`the law of ${n} answers at ${alpha} and ${delta}`, () => {
    assert.deepEqual([...criticalErrors(n, alpha, delta)], critical);
    assert.equal(fewestAnswers(alpha, delta), fewest);
    for (const [errors, answers, bound] of bounds) assert.equal(known(errorBound(errors, answers, delta)), bound);
  });

for (const { name, k, calibration, judged, results } of cases) {
  const side = (columns) =>
    columns.map(({ confidence, wrong }) => ({
      confidence: Float64Array.from(confidence),
      wrong: Float64Array.from(wrong),
    }));
  const held = hold({ calibration: side(calibration), judged: side(judged) });
  for (const expected of results)
    test(`${name} at ${expected.alpha} and ${expected.delta}`, () => {
      const result = selective(held, expected.alpha, expected.delta);
      for (const figure of ["n_calibration", "n_judged", "answered", "wrong", "error_high"])
        assert.equal(known(result[figure]), expected[figure], figure);
      result.stages.forEach((stage, j) => {
        for (const [figure, value] of Object.entries(expected.stages[j]))
          assert.equal(known(stage[figure]), value, figure);
      });
      const panel = Object.create(Selective.prototype);
      const data = { judges: judged.map(() => ""), what: "questions", k };
      Object.assign(panel, { data, error: expected.alpha, delta: expected.delta });
      const { words } = expected;
      assert.equal(panel.headline(result), words.headline);
      assert.ok(panel.promised(result).startsWith(words.promise));
      assert.deepEqual(
        result.stages.map(({ threshold }) => panel.from(threshold)),
        words.from,
      );
      assert.deepEqual(
        result.stages.map((stage) => panel.stageNotes(stage)),
        words.notes,
      );
    });
}
