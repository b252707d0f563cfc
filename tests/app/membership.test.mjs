// membership.js against what Python counted, for every case and alpha that the golden file holds.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { leavesAt, lettersOf, membersAt } from "../../app/components/one_question/option_bars/membership.js";
import {
  answer,
  namesOf,
  nextToLeave,
  setInTable,
  verdict,
} from "../../app/components/one_question/option_bars/words.js";

const { cases } = JSON.parse(readFileSync(process.env.HEDGE_GOLDEN, "utf8"));

for (const { name, n, counts, top, leaves, sets } of cases) {
  test(`${name}: where each option leaves`, () => {
    assert.deepEqual(
      counts.map((count) => leavesAt(count, n)),
      leaves,
    );
  });
  for (const policy of ["allow", "top1"]) {
    test(`${name}: its set at every alpha, ${policy}`, () => {
      sets[policy].forEach((expected, i) => {
        const members = membersAt({ counts, n, top }, i + 1, policy === "top1");
        assert.equal(lettersOf(members, [..."ABCDEFGHIJKLMNOPQRSTUVWXYZ"].slice(0, counts.length)).join(""), expected);
      });
    });
  }
}

test("a set is said in the texts of its options", () => {
  assert.equal(answer(["Toronto", "Ottawa"], 6), "Toronto or Ottawa can’t be ruled out");
  assert.equal(answer(["Ottawa"], 6), "Only Ottawa can’t be ruled out");
  assert.equal(answer(["a", "b", "c", "d", "e"], 6), "a, b, c, d or 1 other can’t be ruled out");
  assert.equal(answer([], 6), "Every option is ruled out");
  assert.equal(answer(["a", "b"], 2), "No option can be ruled out");
  const long = ["x".repeat(60), "y".repeat(60), "z"];
  assert.equal(answer(long, 6), `${long[0]} or 2 others can’t be ruled out`);
  assert.equal(setInTable(long, 6), "3 of 6 options");
  assert.equal(setInTable(["Toronto", "Ottawa"], 6), "Toronto or Ottawa");
});

test("of long texts and of those that look alike, the letter is said, too", () => {
  const long = "a rather long option that goes on, and on, and on";
  assert.deepEqual(namesOf(["Rome", long, " Rome ", "Paris", ""], [..."ABCDE"]), [
    "A (Rome)",
    "B (a rather long option that goes on, and…)",
    "C (Rome)",
    "Paris",
    "E",
  ]);
});

test("the truth is named, unless nobody knows it", () => {
  assert.equal(verdict(["a", "b"], 6, "b"), "2 of 6 options are in the set. The truth, b, is one of them.");
  assert.equal(verdict(["a"], 6, "a"), "1 of 6 options is in the set, and it is the truth.");
  assert.equal(verdict([], 6, "a"), "0 of 6 options are in the set. The truth, a, is ruled out.");
  assert.equal(verdict(["a"], 6, null), "1 of 6 options is in the set.");
  assert.equal(
    nextToLeave([true, true, false], ["a", "b", "c"], [277, 277, 9]),
    "Next to leave: a and b at alpha 0.277.",
  );
});
