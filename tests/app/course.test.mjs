// The figures of the course's further lessons against golden values from core, and their figures, guesses and names.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { ALL_FACTS, ALL_SENTENCES, ALL_TRUTHS, LESSONS } from "../../app/components/learn/every_lesson.js";
import { FACTS } from "../../app/components/learn/facts.js";
import { FIGURES, captionOf, describedBy } from "../../app/components/learn/figures.js";
import { BOUND } from "../../app/components/learn/tangle.js";
import { rightAnswer } from "../../app/components/learn/sheet.js";
import { feedback, verdictOf } from "../../app/components/learn/guess.js";

const golden = JSON.parse(readFileSync(process.env.HEDGE_GOLDEN, "utf8"));

const WORDS = { nan: NaN, inf: Infinity, "-inf": -Infinity };
const number = (value) => (value in WORDS ? WORDS[value] : value);

// A table as the browser gets it.
function table(columns) {
  const read = Object.fromEntries(Object.entries(columns).map(([name, values]) => [name, values.map(number)]));
  const kind = (values) => (typeof values[0] === "string" ? Array : Float64Array);
  return {
    numRows: Object.values(read)[0].length,
    getChild: (name) => read[name] && { toArray: () => kind(read[name]).from(read[name]), get: (i) => read[name][i] },
  };
}

const received = (data) =>
  Object.fromEntries(Object.entries(data).map(([name, value]) => [name, value?.table ? table(value.table) : value]));
const numbersIn = (sentence) => [...sentence.matchAll(/\*\*(.+?)\*\*/g)].map(([, text]) => text.replace(" points", ""));

for (const [name, { data, alpha, expected, truths, names, guessed, steps }] of Object.entries(golden.lessons)) {
  const { prepare, at: atAlpha } = LESSONS[name];
  const at = atAlpha(prepare(received(data)), alpha);

  test(`${name}: every figure in the texts`, () => {
    assert.deepEqual(Object.keys(expected).sort(), names);
    for (const [fact, value] of Object.entries(expected)) {
      const text = ALL_FACTS[fact](at);
      if (Array.isArray(value)) assert.deepEqual(numbersIn(text), value, `${fact}: ${text}`);
      else assert.equal(text, value, fact);
      assert.equal(Array.isArray(value), ALL_SENTENCES.includes(fact), fact);
    }
  });

  test(`${name}: every value that is guessed`, () => {
    assert.deepEqual(Object.keys(truths).sort(), guessed);
    for (const [truth, value] of Object.entries(truths)) {
      const found = ALL_TRUTHS[truth](at);
      if (typeof value === "string") assert.equal(found, value);
      else assert.ok(Math.abs(found - value) < 1e-9, `${truth}: ${found}, not ${value}`);
    }
  });

  test(`${name}: every figure describes itself, and keeps the answer until it is guessed`, () => {
    for (const step of steps) {
      const figure = FIGURES[step];
      for (const open of [true, false]) assert.ok(captionOf(figure, { open }).length > 20, step);
      assert.ok(describedBy(figure, at, { open: true }).length > 20, step);
      assert.match(describedBy(figure, at, { open: false }), /hidden/, step);
      assert.ok(!/NaN|undefined/.test(describedBy(figure, at, { open: true })), step);
    }
  });
}

const SHARED = ["alpha", "k", "m", "model", "n", "target"];

test("a name means one figure in all lessons", () => {
  const own = Object.values(golden.lessons).map(({ names }) => names.filter((name) => !SHARED.includes(name)));
  const all = [...own.flat(), ...Object.keys(FACTS).filter((name) => !SHARED.includes(name))];
  assert.equal(new Set(all).size, all.length);
  assert.deepEqual(
    Object.keys(ALL_FACTS).sort(),
    [...new Set([...all, ...SHARED.filter((name) => name in ALL_FACTS)])].sort(),
  );
  assert.ok(Object.keys(BOUND).every((name) => name in ALL_FACTS));
});

test("a guess of votes or of a temperature is judged in its own unit", () => {
  const votes = { kind: "votes", of: "votes", moves: false };
  assert.equal(verdictOf(votes, { value: 2, truth: 1.89 }), "close");
  assert.equal(
    feedback(votes, { value: 3, truth: 1.89 }),
    "You guessed 3.00 votes. It is 1.89 votes. Your guess was 1.11 too high.",
  );
  assert.equal(verdictOf({ kind: "temperature" }, { value: 1.5, truth: 0.97 }), "off");
});

test("the sheet says the right answer in words", () => {
  assert.equal(rightAnswer({ kind: "share" }, 0.571), "57.1%");
  assert.equal(rightAnswer({ kind: "choice" }, "by text"), "by text");
  assert.equal(rightAnswer({ kind: "choice" }, ""), "Both are right.");
});
