// The Stream lab's arithmetic against golden values from Python: equal to the bit.

import assert from "node:assert/strict";
import test from "node:test";
import { golden, numbers } from "./golden.mjs";
import { promisedBand } from "../../app/components/stream_lab/adaptive.js";
import { streamAnswer } from "../../app/components/stream_lab/answer.js";
import { alarmOf, simpleJumper } from "../../app/components/stream_lab/betting.js";
import {
  drawnOrder,
  follow,
  poolOfStreams,
  streamAt,
  stretch,
  usualChange,
  windowCoverage,
} from "../../app/components/stream_lab/streams.js";

function sameAll(found, expected, message) {
  assert.equal(found.length, expected.length, message);
  for (let i = 0; i < expected.length; i++)
    if (!Object.is(found[i], expected[i])) assert.fail(`${message} [${i}]: ${found[i]} is not ${expected[i]}`);
}

function checkFigures(stream, { alpha, gamma, threshold, arrays }, title) {
  const found = follow(stream, alpha, gamma);
  const { fixed, adaptive } = found;
  sameAll([fixed.threshold], numbers(threshold), `${title} threshold`);
  const coverage = windowCoverage(fixed.missed, golden.window);
  const mine = [fixed.missed, fixed.sizes, adaptive.levels, adaptive.thresholds, adaptive.missed, adaptive.sizes];
  [...mine, coverage].forEach((values, i) => sameAll(values, numbers(arrays[i]), `${title}, array ${i}`));
}

for (const { name, streams, options, truth, ...rest } of golden.pools) {
  const pool = poolOfStreams({ ...rest, options: numbers(options), truth: numbers(truth) });
  for (const { change, order, length, made, alarm, arrays, calibration, figures } of streams) {
    const title = `${name}: change ${change}, order ${order}, length ${length}`;
    test(title, () => {
      const drawn = drawnOrder(pool, { order, length });
      const stream = streamAt(drawn, change);
      assert.equal(stream.change, made);
      sameAll(drawn.sorted, numbers(calibration), "calibration");
      const { mantissas, exponents } = stream.capital;
      [stream.truth, stream.pValues, mantissas, exponents].forEach((values, i) =>
        sameAll(values, numbers(arrays[i]), `array ${i}`),
      );
      assert.equal(alarmOf(stream.capital), alarm);
      for (const one of figures) checkFigures(stream, one, `alpha ${one.alpha}, gamma ${one.gamma}`);
    });
  }
}

test("capital that grows or shrinks beyond a number's range", () => {
  for (const [p, mantissas, exponents] of golden.capitals) {
    const found = simpleJumper(numbers(p));
    sameAll(found.mantissas, numbers(mantissas), "mantissa");
    sameAll(found.exponents, numbers(exponents), "exponent");
  }
  assert.ok(golden.capitals.some(([, , exponents]) => numbers(exponents).some((bits) => bits > 1000)));
});

test("what is promised for a stream", () => {
  for (const [questions, alpha, gamma, band] of golden.bands)
    sameAll(promisedBand(questions, alpha, gamma), band, "band");
});

test("a change that asks for more than there are comes after the last question", () => {
  const pool = poolOfStreams({
    n: 1,
    k: 1,
    options: [0.1, 0.2, 0.3],
    truth: Float64Array.of(0.1, 0.2, 0.3),
    firstCount: 2,
  });
  const drawn = drawnOrder(pool, { order: 0, length: 0 });
  assert.deepEqual([streamAt(drawn, 99).change, usualChange(drawn), drawn.longest], [1, 1, 2]);
  assert.equal(usualChange(drawnOrder(pool, { order: 0, length: 500 })), 250);
});

test("the figures of a stretch of sets", () => {
  const sets = { missed: Uint8Array.of(0, 1, 1, 0), sizes: Uint8Array.of(2, 0, 1, 6) };
  assert.deepEqual(stretch(sets, 1, 4), { count: 3, coverage: 1 / 3, meanSize: 7 / 3, empty: 1 });
  assert.ok(Number.isNaN(stretch(sets, 4, 4).coverage));
});

test("the answer says what failed, who noticed it, and where nothing can be told", () => {
  const failed = {
    ...{ alpha: 100, n: 650, isFull: false, after: { fixed: 0.7003, adaptive: 0.8915 }, band: [0.87, 0.92] },
    ...{ alarm: 686, change: 650, second: "Question answering" },
  };
  const said = (values) => streamAnswer({ ...failed, ...values }).join(" ");
  assert.equal(
    said({}),
    "After the change to Question answering, the fixed threshold covers only 70.0% instead of the promised 90%. " +
      "The adaptive one covers 89.1%. The betting test notices the change after 37 questions.",
  );
  assert.match(said({ alpha: 125, alarm: 650 }), /promised 87\.5%\. .* after 1 question\.$/);
  assert.match(said({ after: { fixed: 0.98, adaptive: 0.93 } }), /covers 98\.0%, more than the promised 90%\./);
  assert.match(said({ after: { fixed: 0.88, adaptive: 0.9 } }), /88\.0%: chance alone explains the difference/);
  assert.match(said({ alarm: -1 }), /does not notice the change, which does not show that nothing has changed\.$/);
  assert.match(said({ alarm: 649 }), /a false alarm after 650 questions, before the change, so it can't say when/);
  assert.match(said({ after: { fixed: NaN, adaptive: NaN } }), /^No question comes after the change, so nothing can/);
  assert.doesNotMatch(said({ after: { fixed: NaN, adaptive: NaN }, alarm: -1 }), /betting/);
  assert.match(
    said({ alpha: 1, isFull: true }),
    /^With 650 calibration questions, alpha 0\.001 is too small: every set/,
  );
  assert.match(said({ second: "", alarm: -1 }), /^Without a change, .* The betting test raises no alarm\.$/);
  assert.match(said({ second: "", change: 800 }), /a false alarm after 687 questions, though nothing changed\.$/);
});
