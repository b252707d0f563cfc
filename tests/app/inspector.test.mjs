// The inspector's filters and the matrix of pairs, on small data whose results are counted by hand.

import assert from "node:assert/strict";
import test, { describe } from "node:test";
import { chosenRows, countOf, readNumbers, sizeOf, wordsOf } from "../../app/components/compare/inspector/rows.js";
import { foremost, gap, listed } from "../../app/components/shared/many_options.js";
import { byPair, cellLines, signed } from "../../app/components/compare/comparison/matrix.js";
import { cut, tickText, written, zoomed, PANELS } from "../../app/components/compare/comparison/scales.js";
import { looksOf } from "../../app/components/compare/comparison/dots.js";

// Four questions with three options; the right answers are A, B, C, A.
//   question      0      1      2      3
//   first picks   A      A      C      B     right, wrong, right, wrong
//   second picks  A      B      A      C     right, right, wrong, wrong
//   first sets   {A}   {A,B}   {C}   {A,B,C}
//   second sets  {A,B}  {B}    {C}    {}
const columns = {
  label: Uint8Array.from([0, 1, 2, 0]),
  pick0: Uint8Array.from([0, 0, 2, 1]),
  pick1: Uint8Array.from([0, 1, 0, 2]),
  set0_0: Uint32Array.from([1, 3, 4, 7]),
  set1_0: Uint32Array.from([3, 2, 4, 0]),
  p0_0: Uint16Array.from([9000, 4500, 500, 2000]),
  p0_1: Uint16Array.from([500, 3000, 500, 4500]),
  p0_2: Uint16Array.from([500, 2500, 9000, 3500]),
  p1_0: Uint16Array.from([8500, 500, 4900, 3000]),
  p1_1: Uint16Array.from([1000, 9000, 200, 3500]),
  p1_2: Uint16Array.from([500, 500, 4900, 3500]),
};
const table = {
  numRows: 4,
  getChild: (name) => (columns[name] ? { toArray: () => columns[name] } : null),
};
const groups = ["sums", "sums", "colours", "colours"];
const words = ["one apple", "two pears", "red apple", "blue sky"];
const texts = { group: (i) => groups[i], holds: (i, asked) => asked.every((word) => words[i].includes(word)) };
const numbers = readNumbers(table, 2, 3);
const everything = { right: "all", change: "all", sure: "all", subject: "", search: "", order: "file" };
const found = (view, first = 0, second = 1) =>
  chosenRows(numbers, first, second, { ...everything, ...view }, texts).found;

describe("the four counts", () => {
  test("each question is in one of them", () =>
    assert.deepEqual(
      [0, 1, 2, 3].map((i) => countOf(numbers, 0, 1, i)),
      ["both", "second", "first", "neither"],
    ));
  test("they count the questions that pass the other filters", () => {
    const { counts } = chosenRows(numbers, 0, 1, { ...everything, subject: "sums", right: "first" }, texts);
    assert.deepEqual(counts, { both: 1, first: 0, second: 1, neither: 0 });
  });
  test("each is a filter", () =>
    assert.deepEqual(
      ["both", "first", "second", "neither"].map((right) => found({ right })),
      [[0], [2], [1], [3]],
    ));
  test("swapping the runs swaps two of them", () => assert.deepEqual(found({ right: "first" }, 1, 0), [1]));
});

describe("other filters", () => {
  test("the change of the set", () =>
    assert.deepEqual(
      ["grew", "shrank", "same"].map((change) => found({ change })),
      [[0], [1, 3], [2]],
    ));
  test("confidence", () =>
    assert.deepEqual(
      ["both", "neither", "first", "second"].map((sure) => found({ sure })),
      [[0], [3], [2], [1]],
    ));
  test("subject and search together", () => {
    assert.deepEqual(found({ search: "apple" }), [0, 2]);
    assert.deepEqual(found({ search: " Apple  ", subject: "colours" }), [2]);
    assert.deepEqual(found({ search: "apple sky" }), []);
    assert.deepEqual(wordsOf(" Two  WORDS "), ["two", "words"]);
  });
});

describe("orders", () => {
  test("by growth, equal ones as in the file", () => assert.deepEqual(found({ order: "grew" }), [0, 2, 1, 3]));
  test("by shrinkage", () => assert.deepEqual(found({ order: "shrank" }), [3, 1, 2, 0]));
  test("by the move of confidence", () => assert.deepEqual(found({ order: "confidence" }), [1, 2, 3, 0]));
});

describe("a hundred options", () => {
  const names = Array.from({ length: 100 }, (_, j) => `class ${j}`);
  test("a set of them is read from four numbers", () => {
    const part = (...places) => Uint32Array.from([places.reduce((sum, j) => sum + 2 ** (j % 32), 0)]);
    const parts = { set0_0: part(0, 31), set0_1: part(), set0_2: part(95), set0_3: part(99) };
    const wide = { numRows: 1, getChild: (name) => (parts[name] ? { toArray: () => parts[name] } : null) };
    const [run] = readNumbers(wide, 1, 100).runs;
    assert.equal(run.sizes[0], 4);
    assert.deepEqual(
      names.map((_, j) => j).filter((j) => run.holds(0, j)),
      [0, 31, 95, 99],
    );
  });
  test("of a long set the first names stand there, and the number of the others", () => {
    assert.equal(listed(["A", "C"]), "A, C");
    assert.equal(listed([..."ABCDEFGHIJKLMNOPQRSTUVWXYZ"]), [..."ABCDEFGHIJKLMNOPQRSTUVWXYZ"].join(", "));
    assert.equal(listed(names), "class 0, class 1, class 2, class 3, class 4, class 5, class 6, class 7, + 92 more");
    assert.equal(listed(names.map((name) => name.repeat(9))).split(", ").length, 4);
  });
  test("letters stand apart by spaces, names by commas", () =>
    assert.deepEqual([gap(["A", "AB"]), gap(["cat", "dog"]), gap(["0", "10"])], [" ", ", ", ", "]));
  test("the twelve most probable ones and the truth stand in their order", () => {
    const p = names.map((_, j) => (j % 8 === 0 ? 0.05 + j / 1e6 : 0.001));
    assert.deepEqual(foremost(p, 3), [3, 8, 16, 24, 32, 40, 48, 56, 64, 72, 80, 88, 96]);
    assert.deepEqual(foremost([0.5, NaN, 0.5]), [0, 2]);
    assert.equal(foremost(names.slice(0, 26).map(() => 1 / 26)).length, 26);
  });
});
test("the size of a set of 32 options", () => assert.deepEqual([0, 1, 7, 0xffffffff].map(sizeOf), [0, 1, 3, 32]));

describe("the matrix", () => {
  const both = byPair([[0, 1, 0.1, 0.02, 0.18, 0.004, 0.012]]);
  test("the other order of a pair turns the sign and the ends", () => {
    assert.deepEqual(both.get("0 1"), { value: 0.1, low: 0.02, high: 0.18, p: 0.004, corrected: 0.012 });
    assert.deepEqual(both.get("1 0"), { value: -0.1, low: -0.18, high: -0.02, p: 0.004, corrected: 0.012 });
  });
  test("a cell says both values, the difference, the interval and the corrected p", () =>
    assert.deepEqual(cellLines("accuracy", "one", "two", [0.5, 0.6], both.get("0 1"), 3), [
      "one → two",
      "Accuracy: 50.0% → 60.0%",
      "Difference: +10.0 points (+2.0 to +18.0)",
      "p, corrected for 3 pairs: 0.012 (alone 0.004)",
      "More than chance.",
    ]));
  test("a cell without its test yet says so", () =>
    assert.match(
      cellLines("uacc", "one", "two", [null, 1], undefined, 3).join(" "),
      /not defined → 1\.000 .*being computed/,
    ));
  test("signs, rounding and undefined differences", () =>
    assert.deepEqual(
      [signed(0.0123, "accuracy"), signed(-0.0123, "accuracy"), signed(0.0001, "accuracy"), signed(null, "uacc")],
      ["+1.2", "−1.2", "0.0", "–"],
    ));
  test("a difference is that of the values as they are shown", () => {
    const pair = { value: 0.8715 - 0.7624, low: 0.08, high: 0.14, p: 0.01, corrected: 0.02 };
    assert.match(
      cellLines("accuracy", "one", "two", [0.7624, 0.8715], pair, 1).join(" "),
      /76\.2% → 87\.2% .*: \+11\.0 /,
    );
  });
});

describe("the zoomed axis", () => {
  test("holds all values and has two or more ticks inside", () => {
    for (const values of [[0.61, 0.63, null], [0.9], [0, 0], [1, 1], [1.2, 3.4, 3.9]]) {
      const panel = Math.max(...values) > 1 ? PANELS.set_size : PANELS.accuracy;
      const { low, high, ticks } = zoomed(values, panel);
      for (const value of values) assert.ok(value === null || (low <= value && value <= high));
      assert.ok(ticks.length >= 2, `${values}: ${ticks}`);
      assert.ok(ticks.every((tick) => tick >= low - 1e-9 && tick <= high + 1e-9));
    }
  });
  test("stays within what can be", () => {
    assert.equal(zoomed([0.99, 1], PANELS.coverage).high, 1);
    assert.equal(zoomed([0, 0.01], PANELS.ece).low, 0);
  });
  test("without values it is the whole axis", () => assert.deepEqual(zoomed([null], PANELS.ece).ticks, [0, 0.5, 1]));
  test("ticks and figures in words", () => {
    assert.equal(tickText(0.905, PANELS.coverage, 3), "90.5%");
    assert.equal(written([0.5, 0.4, 0.6], PANELS.accuracy), "50.0% (40.0% to 60.0%)");
    assert.equal(written([1.5, null, null], PANELS.set_size), "1.50");
    assert.equal(cut("a long name", 6), "a lon…");
  });
});

test("LAC keeps its colour beside any score, and two scores never share one", () => {
  const inks = (...names) => looksOf(names.map((name) => ({ name, title: name }))).map(({ ink }) => ink);
  assert.deepEqual(inks("lac", "aps"), ["lac", "aps"]);
  assert.deepEqual(inks("raps", "lac"), ["aps", "lac"]);
  assert.deepEqual(inks("aps", "lac"), ["aps", "lac"]);
});
