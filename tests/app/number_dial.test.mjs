// A slider and its field, where the page is drawn again while a person types.

import assert from "node:assert/strict";
import test from "node:test";
import { AlphaControl } from "../../app/components/shared/alpha_control.js";

function control() {
  const elements = { "#alpha": { max: "999", value: "100" }, "#alpha-number": { value: "0.1" }, "#alpha-problem": {} };
  const moves = [];
  const alpha = new AlphaControl((name) => elements[name], { move: (value) => moves.push(value), released: () => {} });
  return { alpha, number: elements["#alpha-number"], problem: elements["#alpha-problem"], moves };
}

function type(number, text) {
  number.value = text;
  number.oninput?.();
}

test("what is being typed stays when the page is drawn again", () => {
  const { alpha, number, moves } = control();
  type(number, "0.25");
  alpha.paint(100);
  assert.equal(number.value, "0.25");
  number.onchange();
  assert.deepEqual(moves, [250]);
  alpha.paint(300);
  assert.equal(number.value, "0.3");
});

test("nonsense is named, and the field shows where alpha stays", () => {
  const { alpha, number, problem } = control();
  type(number, "1.5");
  alpha.paint(100);
  number.onchange();
  assert.equal(problem.textContent, "alpha must be between 0.001 and 0.999. It stays at 0.1.");
  assert.equal(number.value, "0.1");
});
