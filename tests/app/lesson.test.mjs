// The lesson's figures against golden values from Python, its words and its guesses.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { At, FACTS, SENTENCES, TRUTHS, lessonRun } from "../../app/components/learn/facts.js";
import { askable, feedback, verdictOf } from "../../app/components/learn/guess.js";
import { filled, pieces } from "../../app/components/learn/words.js";
import { BOUND, keyStep, withinAlphas } from "../../app/components/learn/tangle.js";
import { faredText } from "../../app/components/learn/ending.js";
import { FIGURES, captionOf, describedBy } from "../../app/components/learn/figures.js";

const golden = JSON.parse(readFileSync(process.env.HEDGE_GOLDEN, "utf8"));

// A table as the browser gets it.
const table = (columns) => ({
  numRows: Object.values(columns)[0].length,
  getChild: (name) =>
    columns[name] && { toArray: () => Float64Array.from(columns[name]), get: (i) => columns[name][i] },
});

function received(data) {
  const tables = ["rows", "questions", "examples", "least_covered", "curves"];
  return lessonRun({ ...data, ...Object.fromEntries(tables.map((name) => [name, table(data[name])])) });
}

const numbersIn = (sentence) =>
  [...sentence.matchAll(/\*\*(.+?)\*\*/g)].map(([, text]) => text).filter((text) => text !== "threshold");

const runs = golden.runs.map(({ data, expected, truths }) => ({ run: received(data), expected, truths }));

for (const { run, expected, truths } of runs) {
  for (const [alpha, figures] of Object.entries(expected)) {
    test(`${run.model}, alpha ${alpha}`, () => {
      const at = new At(run, Number(alpha));
      assert.deepEqual(Object.keys(FACTS).sort(), Object.keys(figures).sort());
      for (const [name, value] of Object.entries(figures)) {
        const text = FACTS[name](at);
        if (Array.isArray(value)) assert.deepEqual(numbersIn(text), value, `${name}: ${text}`);
        else assert.equal(text, value, name);
      }
      for (const [name, value] of Object.entries(truths[alpha]))
        assert.ok(Math.abs(TRUTHS[name](at) - (value ?? Infinity)) < 1e-9 || value === null, `${name} at ${alpha}`);
      const smaller = TRUTHS.smaller_score(at);
      assert.equal(figures.smaller_said.startsWith(smaller || "Both"), true);
    });
  }
}

test("every name in the texts is computed, and none for nothing", () => {
  assert.deepEqual(golden.names, Object.keys(FACTS).sort());
  assert.ok(Object.keys(BOUND).every((name) => golden.names.includes(name)));
  assert.ok(SENTENCES.every((name) => golden.names.includes(name)));
  assert.deepEqual(golden.guessed.sort(), Object.keys(TRUTHS).sort());
});

test("every figure describes itself, and keeps the answer until it is guessed", () => {
  const { run } = runs[0];
  const at = new At(run, 100);
  for (const name of golden.steps) {
    const figure = FIGURES[name];
    for (const open of [true, false]) assert.ok(captionOf(figure, { open }).length > 20, name);
    assert.ok(describedBy(figure, at, { open: true }).length > 20, name);
    if (name !== "threshold" && name !== "luck") assert.match(describedBy(figure, at, { open: false }), /hidden/, name);
  }
});

test("a number in the text shows alpha as the figure of its name does", () => {
  for (const { run } of runs)
    for (const alpha of [1, 137, 999])
      for (const [name, { shown }] of Object.entries(BOUND))
        assert.equal(shown(alpha), FACTS[name](new At(run, alpha)));
});

test("a text is read in pieces, and text from data is not", () => {
  assert.deepEqual(pieces("At **{alpha}** it is *{coverage}*."), [
    { kind: "text", text: "At " },
    { kind: "term", text: "{alpha}" },
    { kind: "text", text: " it is " },
    { kind: "stress", text: "{coverage}" },
    { kind: "text", text: "." },
  ]);
  const at = new At(runs[0].run, 100);
  assert.equal(filled("{n} of *{m}*", at), "200 of 200");
});

test("keys move a number by one or by ten thousandths, and never out of range", () => {
  assert.equal(keyStep({ key: "ArrowRight" }), 1);
  assert.equal(keyStep({ key: "ArrowDown", shiftKey: true }), -10);
  assert.equal(keyStep({ key: "PageUp" }), 10);
  assert.equal(keyStep({ key: "a" }), 0);
  assert.deepEqual([-5, 0.4, 500.4, 1200].map(withinAlphas), [1, 1, 500, 999]);
});

const share = { kind: "share", of: "single_share", moves: true };
const made = (value, truth, more = {}) => ({ value, truth, alpha: 100, k: 4, ...more });

test("a guess is right, close or off", () => {
  assert.equal(verdictOf(share, made(0.67, 0.6704)), "right");
  assert.equal(verdictOf(share, made(0.64, 0.6704)), "close");
  assert.equal(verdictOf(share, made(0.5, 0.6704)), "off");
  assert.equal(verdictOf(share, made(null, 0.6704)), "skipped");
  assert.equal(
    feedback(share, made(0.5, 0.6704)),
    "At alpha 0.100 you guessed 50.0%. It is 67.0%. Your guess was 17.0 points too low.",
  );
  assert.equal(feedback(share, made(null, 0.6704)), "At alpha 0.100 it is 67.0%.");
  assert.match(feedback(share, made(0.7, 0.6704)), /Close: your guess was 3\.0 points too high/);
  assert.match(feedback({ kind: "options" }, made(1.6, 1.63)), /spot on/);
  assert.match(
    feedback({ kind: "points" }, made(10, 5.1)),
    /^You guessed 10\.0 points\. It is 5\.1 points\. Your guess was 4\.9 points too high/,
  );
  assert.match(feedback({ kind: "score" }, made(0.5, 0.998)), /0\.498 too low/);
  const halved = { kind: "score", of: "small_threshold", moves: true };
  assert.equal(feedback(halved, made(null, 0.861)), "At alpha 0.050 it is 0.861.");
});

test("a choice is right or wrong, and a tie is right both ways", () => {
  const choice = { kind: "choice", of: "smaller_score", moves: true };
  assert.equal(feedback(choice, made("LAC", "LAC")), "At alpha 0.100 you chose LAC, and that is right.");
  assert.equal(feedback(choice, made("APS", "LAC")), "At alpha 0.100 you chose APS, but it is LAC.");
  assert.equal(verdictOf(choice, made("APS", "")), "right");
  assert.equal(feedback(choice, made(null, "LAC")), "At alpha 0.100 it is LAC.");
});

test("no guess is asked where there is no answer", () => {
  assert.ok(askable(share, 0));
  assert.ok(!askable(share, NaN));
  assert.ok(!askable({ kind: "score" }, Infinity));
  assert.ok(askable({ kind: "choice" }, ""));
});

test("the end says how the guesses fared", () => {
  const steps = [
    { name: "a", guess: share },
    { name: "b", guess: share },
  ];
  assert.match(faredText(steps, {}), /You made no guesses/);
  assert.equal(faredText(steps, { a: made(0.5, 0.5) }), "You made one guess. It was right or close.");
  assert.equal(faredText(steps, { a: made(0.5, 0.5), b: made(0.1, 0.9) }), "You made 2 guesses. 1 was right or close.");
  assert.equal(
    faredText(steps, { a: made(0.5, 0.9), b: made(null, 0.9) }),
    "You made one guess. None was close, so the data had something to teach.",
  );
});
