// One question with its options, as elements: a bar for each option's score, the threshold on it, and whether the
// option is in the set.

import { make, say } from "../../shared/dom.js";
import { besideThreshold } from "../../shared/formatting.js";

const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";

// The mark of the right option. Narrow figures show its first word alone.
export function rightTag() {
  return make("span.tag", "right", make("span.long", " answer"));
}

function optionRow(text, letter, isTrue) {
  const row = make("li", { className: isTrue ? "option right" : "option" });
  const label = make("span.option-text", make("b", letter), ` ${text}`);
  if (isTrue) label.append(" ", rightTag());
  const bar = make("i.score-bar");
  const limit = make("i.score-limit");
  const track = make("span.score-track", bar, limit);
  const value = make("span.score-value");
  const state = make("span.score-state");
  row.append(label, track, value, state);
  return { row, bar, limit, value, state };
}

// The paragraphs of a question's context and of the question.
export function questionParagraphs({ context, asked }) {
  const question = make("p.card-asked", asked);
  return context ? [make("p.card-context", context), question] : [question];
}

// `question` is {asked, context, options, label}. Returns the element, and a function that shows scores (one per
// option) and, with a threshold, which options are in the set.
export function questionCard(question, { order = question.options.map((_, j) => j) } = {}) {
  const rows = question.options.map((text, j) => optionRow(text, LETTERS[j], j === question.label));
  const card = make(
    "div.question-card",
    ...questionParagraphs(question),
    make("ol.options", ...order.map((j) => rows[j].row)),
  );
  const show = (scores, threshold = null) => {
    card.classList.toggle("with-set", threshold !== null);
    const written = besideThreshold(threshold ?? Infinity, Array.from(scores), 3);
    rows.forEach((row, j) => {
      const inside = threshold !== null && scores[j] <= threshold;
      row.bar.style.width = `${100 * Math.max(0, Math.min(1, scores[j]))}%`;
      row.limit.style.display = Number.isFinite(threshold) && threshold !== null ? "" : "none";
      row.limit.style.left = `${100 * Math.min(1, threshold ?? 0)}%`;
      row.row.classList.toggle("out", threshold !== null && !inside);
      say(row.value, written(scores[j]));
      say(row.state, threshold === null ? "" : inside ? "✓ in" : "out");
    });
  };
  return { card, show };
}

// The examples of a run: texts, and where each stands among the calibration or test questions of the prepared scores.
export function exampleQuestions(data, run) {
  const texts = data.questions;
  const at = data.examples.getChild("row").toArray();
  const place = (rows) => new Map(Array.from(rows, (row, i) => [row, i]));
  const calibrating = place(run.lac.calibrationRows);
  const testing = place(run.look.test);
  const { k, p, labels } = run.look;
  return Array.from(at, (row, i) => {
    const cell = (name) => texts.getChild(name).get(i);
    const own = Array.from(p.subarray(row * k, row * k + k)).filter((value) => !Number.isNaN(value)).length;
    return {
      row,
      calibration: calibrating.get(row) ?? null,
      test: testing.get(row) ?? null,
      asked: cell("question"),
      context: cell("context"),
      options: Array.from({ length: own }, (_, j) => cell(`o${j}`)),
      label: labels[row],
      p: p.subarray(row * k, row * k + own),
    };
  });
}

// The order of a question's options by falling probability.
export function byProbability({ p }) {
  return Array.from(p, (_, j) => j).sort((i, j) => p[j] - p[i] || j - i);
}
