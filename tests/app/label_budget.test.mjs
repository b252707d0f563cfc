// budget.js against the numbers and texts that Python writes for the same table.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { COLUMNS, placeOf, readRows, textsAt } from "../../app/components/jury/label_budget/budget.js";

const { columns, places, texts, fewest } = JSON.parse(readFileSync(process.env.HEDGE_GOLDEN, "utf8"));
const rows = readRows({ getChild: (name) => ({ toArray: () => columns[name] }) });

test("every number is Python's to the bit", () => {
  for (const name of COLUMNS) assert.deepEqual(new Float64Array(rows[name]), new Float64Array(columns[name]));
});

test("a number of labels has its place", () => {
  for (const [n, place] of places) assert.equal(placeOf(rows, n), place);
});

test("every place has Python's texts", () => {
  texts.forEach((expected, place) => assert.deepEqual(textsAt(rows, place, fewest), expected));
});
