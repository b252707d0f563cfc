// Sets and all that is counted of them, against golden values from Python: equal to the bit at every alpha.

import assert from "node:assert/strict";
import test from "node:test";
import { golden, numbers } from "./golden.mjs";
import { hashes, firstPart, uniformsAt } from "../../app/components/shared/random_numbers.js";
import { lookAt, makePool } from "../../app/components/alpha_lab/splits.js";
import { SCORES } from "../../app/components/shared/scores.js";
import {
  accuracy,
  byClass,
  byGroup,
  curves,
  evaluate,
  histogram,
  memberRow,
  prepare,
  rank,
  scoreRange,
  strataTies,
} from "../../app/components/shared/sets.js";
import {
  bands,
  guaranteePValue,
  shareInterval,
  strataBand,
} from "../../app/components/shared/coverage_distributions.js";
import { PROCEDURES, procedureFits, redrawer } from "../../app/components/alpha_lab/redraw.js";

const ALPHAS = Array.from({ length: 999 }, (_, i) => i + 1);
const close = (found, expected) => assert.ok(Math.abs(found - expected) <= 1e-9, `${found} is not ${expected}`);
const orEndless = (value) => value ?? Infinity;
// Twenty million numbers are compared: a message is written only for one that differs.
function same(found, expected, message) {
  if (!Object.is(found, expected)) assert.fail(`${message}: ${found} is not ${expected}`);
}

function sameAll(found, expected, message) {
  assert.equal(found.length, expected.length, message);
  for (let i = 0; i < expected.length; i++)
    if (!Object.is(found[i], expected[i])) same(found[i], expected[i], `${message} [${i}]`);
}

test("draws", () => {
  for (const { places, seed, purpose, draw, hashes: drawn, uniforms, parts } of golden.draws) {
    const where = Int32Array.from(places);
    assert.deepEqual([...hashes(where, seed, purpose, draw)], drawn);
    sameAll(uniformsAt(where, seed), uniforms, "uniform");
    parts.forEach((part, size) => assert.deepEqual([...firstPart(where, size, seed, purpose, draw)], part));
  }
});

test("the browser has Python's scores, in their order and with their ranges", () => {
  assert.deepEqual(
    Object.keys(SCORES),
    golden.scores.map(({ name }) => name),
  );
  for (const [name, k, parameters, expected] of golden.ranges)
    assert.deepEqual(SCORES[name].range(k, parameters), expected);
});

function poolOf(sent) {
  return makePool({
    k: sent.k,
    p: numbers(sent.p),
    labels: Int32Array.from(sent.y),
    groups: Int32Array.from(sent.group),
    groupNames: sent.group_names,
    clusters: Int32Array.from(sent.cluster),
    own: Uint8Array.from(sent.own),
    extra: sent.extra,
    seed: sent.seed,
    places: Int32Array.from(sent.place),
    scores: golden.scores,
  });
}

// Each row of the figures at all alphas: thresholds of the strata, coverage, mean size, empty rate, sizes, covered by
// size, and whether some threshold that is used is endless.
function checkFigures(prepared, policy) {
  const { by, empty, strata } = policy;
  const options = { by, fillEmpty: empty === "top1" };
  const { k } = prepared;
  const rows = numbers(policy.figures);
  const width = strata + 3 + 2 * (k + 1) + 1;
  const drawn = curves(prepared, options);
  assert.equal(rows.length, 999 * width);
  for (const alpha of ALPHAS) {
    const row = rows.subarray((alpha - 1) * width, alpha * width);
    const found = evaluate(prepared, alpha, options);
    const all = [
      ...found.thresholds,
      found.coverage,
      found.meanSize,
      found.emptyRate,
      ...found.sizes,
      ...found.bySize,
      Number(found.full),
    ];
    sameAll(all, row, `${by} ${empty} alpha ${alpha}`);
    same(found.threshold, by === "all" ? row[0] : NaN, "threshold");
    same(drawn.coverage[alpha - 1], row[strata], `curve of coverage at ${alpha}`);
    same(drawn.meanSize[alpha - 1], row[strata + 1], `curve of sizes at ${alpha}`);
  }
  const members = new Uint8Array(k);
  for (const [alpha, sets] of Object.entries(policy.members)) {
    const found = evaluate(prepared, Number(alpha), options);
    sets.forEach((set, i) => assert.equal(memberRow(prepared, i, found, options, members).join(""), set));
  }
}

function checkHistogram(prepared) {
  const [low, high] = scoreRange(prepared);
  const { calibration } = prepared;
  assert.ok(prepared.scores.every((score) => Number.isNaN(score) || (score >= low - 1e-12 && score <= high + 1e-12)));
  for (const bins of [1, 7, 50]) {
    const edge = (i) => low + ((high - low) * i) / bins;
    const expected = Array.from(
      { length: bins },
      (_, i) =>
        calibration.filter((score) => (i === 0 || score > edge(i)) && (i === bins - 1 || score <= edge(i + 1))).length,
    );
    assert.deepEqual([...histogram(prepared, bins)], expected);
  }
}

function checkRedraw(prepared, { n, alpha, draws, procedures, coverage }) {
  const drawn = redrawer(prepared, { n });
  const rows = numbers(coverage);
  assert.deepEqual(
    PROCEDURES.filter((one) => procedureFits(one, prepared.name)).map(({ name }) => name),
    procedures,
  );
  for (let i = 0; i < draws; i++) {
    sameAll(
      drawn.draw(i, procedures, alpha),
      rows.subarray(i * procedures.length, (i + 1) * procedures.length),
      `draw ${i}`,
    );
    assert.ok(drawn.m(i) <= prepared.n + prepared.m - n);
  }
  const others = PROCEDURES.filter((one) => !procedures.includes(one.name)).map(({ name }) => name);
  assert.ok(drawn.draw(0, others, alpha).every(Number.isNaN));
}

// The report of `python -m core report` at one alpha, figure by figure.
function checkReport(prepared, { alpha, empty, by, figures }, letters) {
  const expected = figures[prepared.name];
  const options = { by, fillEmpty: empty === "top1" };
  const found = evaluate(prepared, alpha, options);
  const { n, m } = prepared;
  same(accuracy(prepared), figures.accuracy, "accuracy");
  for (const [mine, its] of [
    ["coverage", "coverage"],
    ["meanSize", "mean_set_size"],
    ["emptyRate", "empty_rate"],
  ]) {
    same(found[mine], expected[its], its);
  }
  if (by === "all") same(found.threshold, orEndless(expected.threshold), "threshold");
  assert.deepEqual([...found.sizes], expected.sizes);
  for (const { size, m: asked, coverage, low, high } of expected.by_size) {
    assert.equal(found.sizes[size], asked);
    same(found.bySize[size] / asked, orNaN(coverage), "coverage by size");
    const ends = shareInterval(found.bySize[size], asked);
    close(ends[0], low);
    close(ends[1], high);
  }
  assert.equal(prepared.tunedOn, expected.tuned_on);
  if (expected.parameters)
    assert.deepEqual(prepared.parameters, {
      weight: expected.parameters.weight,
      freeRanks: expected.parameters.free_ranks,
    });
  const shown = (by === "class" ? byClass : byGroup)(prepared, alpha, options);
  const names = by === "class" ? letters : prepared.groupNames;
  assert.deepEqual(
    names.filter((_, code) => shown.m[code] > 0).sort(),
    expected.strata.map(({ stratum }) => stratum),
  );
  for (const row of expected.strata) {
    const code = names.indexOf(row.stratum);
    assert.deepEqual([shown.n[code], shown.m[code]], [row.n, row.m]);
    same(shown.hits[code] / row.m, row.coverage, "coverage of a stratum");
    same(shown.meanSize[code], row.mean_set_size, "size in a stratum");
    same(shown.thresholds[code], orEndless(row.threshold), "threshold of a stratum");
  }
  for (const [name, threshold] of Object.entries(by === "all" ? {} : expected.thresholds)) {
    same(found.thresholds[names.indexOf(name)], orEndless(threshold), `threshold of ${name}`);
  }
  const hits = found.bySize.reduce((sum, count) => sum + count, 0);
  if (by === "all") {
    const [ties] = strataTies(prepared);
    const { testLow, testHigh } = bands(n, m, ties);
    assert.deepEqual([testLow[alpha - 1], testHigh[alpha - 1]], expected.coverage_band);
    close(guaranteePValue(hits, n, m, alpha), expected.p_value);
  } else {
    assert.deepEqual(strataBand(shown.n, shown.m, alpha, strataTies(prepared, by)), expected.coverage_band);
  }
}

const orNaN = (value) => value ?? NaN;

for (const sent of golden.cases) {
  const pool = poolOf(sent);
  for (const { view, k, letters, calibration, test: asked, p, scores, reports } of sent.looks) {
    const look = lookAt(pool, { seed: view.split_seed, n: view.n_calibration, drop: view.drop_extra });
    const title = `${sent.name}, ${JSON.stringify(view)}`;
    test(`${title}: rows and probabilities`, () => {
      assert.deepEqual([...look.calibration], calibration);
      assert.deepEqual([...look.test], asked);
      assert.deepEqual([look.k, look.letters], [k, letters]);
      sameAll(look.p, numbers(p), "p");
    });
    for (const score of scores) {
      const prepared = prepare(score.name, look);
      test(`${title}: ${score.name}`, () => {
        assert.deepEqual([prepared.n, prepared.m], [score.n, asked.length]);
        sameAll(prepared.calibration, numbers(score.own), "calibration score");
        sameAll(prepared.scores, numbers(score.asked), "test score");
        score.policies.forEach((policy) => checkFigures(prepared, policy));
        checkHistogram(prepared);
        score.redraws.forEach((redraw) => checkRedraw(prepared, redraw));
        reports.forEach((report) => checkReport(prepared, report, look.letters));
      });
    }
  }
}

test("ranks are whole numbers, as Python's", () => {
  for (const n of [0, 1, 8, 9, 999, 1000, 50000]) {
    for (const alpha of ALPHAS)
      assert.equal(BigInt(rank(n, alpha)), (BigInt(n + 1) * BigInt(1000 - alpha) + 999n) / 1000n);
  }
});

test("the places of a pool are its rows where none are given", () => {
  const sent = golden.cases.find(({ name }) => name === "two options");
  const pool = makePool({
    ...sent,
    p: numbers(sent.p),
    labels: Int32Array.from(sent.y),
    groups: [],
    clusters: [],
    own: [],
    places: null,
  });
  assert.deepEqual(
    [...pool.places],
    sent.y.map((_, i) => i),
  );
});
