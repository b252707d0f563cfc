// verdicts.js against how Python orders the same rows, for every rule and kind.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { chosenRows, readRows } from "../../app/components/jury/verdicts.js";

const { jurors, rules, columns, kinds } = JSON.parse(readFileSync(process.env.HEDGE_GOLDEN, "utf8"));
const table = { numRows: columns.label.length, getChild: (name) => ({ toArray: () => columns[name] }) };
const rows = readRows(table, jurors, rules);

for (const rule of rules) {
  for (const [kind, expected] of Object.entries(kinds[rule])) {
    test(`${rule}: answers of the kind ${kind}, in order`, () =>
      assert.deepEqual(chosenRows(kind, rows, rule, 70), expected));
  }
}
