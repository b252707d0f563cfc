// The laws of coverage against Python's: shares within 1e-9, counts exactly.

import assert from "node:assert/strict";
import test from "node:test";
import { golden } from "./golden.mjs";
import {
  bands,
  betaBand,
  betaBinomialBand,
  betaBinomialLaw,
  betaDensity,
  guaranteePValue,
  shareInterval,
  strataBand,
  tiesOf,
} from "../../app/components/shared/coverage_distributions.js";
import { besideThreshold } from "../../app/components/shared/formatting.js";
import { saturatedText } from "../../app/components/shared/saturation.js";
import { strataSaid } from "../../app/components/alpha_lab/forest.js";

const { laws } = golden;

function close(found, expected, scale = 1) {
  assert.ok(Math.abs(found - expected) <= 1e-9 * scale, `${found} is not ${expected}`);
}

for (const { n, m, beta_low: betaLow, beta_high: betaHigh, test_low: testLow, test_high: testHigh } of laws.bands) {
  test(`bands of ${n} and ${m}`, () => {
    const found = bands(n, m);
    for (let i = 0; i < 999; i++) {
      close(found.betaLow[i], betaLow[i]);
      close(found.betaHigh[i], betaHigh[i]);
      assert.equal(found.testLow[i], testLow[i], `low end at ${i + 1}`);
      assert.equal(found.testHigh[i], testHigh[i], `high end at ${i + 1}`);
    }
    assert.deepEqual(betaBand(n, 100), [found.betaLow[99], found.betaHigh[99]]);
    assert.deepEqual(betaBinomialBand(n, m, 100), [found.testLow[99], found.testHigh[99]]);
    assert.equal(bands(n, m), found, "they are computed once");
  });
}

test("bands with ties", () => {
  for (const { calibration, test: asked, alphas, low, high } of laws.tied) {
    const ties = tiesOf(Float64Array.from(calibration), Float64Array.from(asked));
    const [n, m] = [calibration.length, asked.length];
    const made = bands(n, m, ties);
    alphas.forEach((alpha, i) => {
      assert.deepEqual(made.at(alpha), [low[i], high[i]], `${n} and ${m} at ${alpha}`);
    });
  }
});

test("intervals of shares", () => {
  for (const [hits, n, low, high] of laws.intervals) {
    const found = shareInterval(hits, n);
    close(found[0], low);
    close(found[1], high);
    assert.equal(shareInterval(hits, n), found, "they are computed once");
  }
});

test("p-values of the guarantee", () => {
  for (const [hits, n, m, alpha, expected] of laws.p_values) close(guaranteePValue(hits, n, m, alpha), expected);
});

test("laws of the number covered", () => {
  for (const [n, m, alpha, expected] of laws.laws) {
    const found = betaBinomialLaw(n, m, alpha);
    assert.equal(found.length, m + 1);
    expected.forEach((value, x) => close(found[x], value));
  }
});

test("densities of coverage", () => {
  for (const [n, alpha, x, expected] of laws.densities) {
    const found = betaDensity(n, alpha, x);
    if (expected === null) assert.equal(found, Infinity);
    else close(found, expected, Math.max(1, expected));
  }
});

test("bands of strata", () => {
  for (const [n, m, alpha, low, high] of laws.strata) assert.deepEqual(strataBand(n, m, alpha), [low, high]);
});

test("the text about APS thresholds near 1", () => {
  for (const [limits, strata, expected] of laws.saturated) assert.equal(saturatedText("APS", limits, strata), expected);
  for (const [threshold, scores, digits, decimals] of laws.decimals)
    assert.equal(besideThreshold(threshold, scores, digits)(0.5).length, 2 + decimals);
});

test("subjects that are covered too little, with all of them looked at", () => {
  const rows = ["a", "b", "c", "d"].map((name, code) => ({ name, code, m: code === 3 ? 0 : 100 }));
  const said = (hits) => strataSaid(100, rows, hits, (count, code, m) => guaranteePValue(count, 1000, m, 100), "all");
  assert.equal(
    said([90, 95, 85, 0]),
    "None of the 3 subjects is covered significantly below 90.0%, at the 5% level for all of them together.",
  );
  // 83 of 100 alone would be rare (p .02), but not as the worst of three; 80 is.
  assert.ok(guaranteePValue(83, 1000, 100, 100) < 0.05);
  assert.match(said([90, 83, 95, 0]), /^None of the 3/);
  assert.equal(
    said([90, 80, 95, 0]),
    "1 of the 3 subjects is covered significantly below 90.0%, at the 5% level for all of them together: b.",
  );
});
