// membership.js against what Python counted, for every case and alpha that the golden file holds.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { leavesAt, lettersOf, membersAt } from "../../app/components/one_question/option_bars/membership.js";

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
