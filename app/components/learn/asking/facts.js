// Every figure of the lesson on asking, computed from what one model picked by letter and by text. core/reports/course/asking.py
// makes the data, and tests/app/test_course.py compares the figures with Python's.

import { differenceShown, percent } from "../../shared/formatting.js";
import { shownAlpha } from "../../shared/dom.js";
import { share, whole } from "../numbers.js";

const WAY_LETTERS = "letters";
const WAY_TEXTS = "raw";

// The stage leaves n and m out of the run that it gives (../stage.js).
export const testedOf = (run) => `${whole(byLetter(run).m)} test questions`;

// Each reading with what it picked, how often each option was picked and was the truth, and its curves over alpha.
export function askingRun(data) {
  const column = (name) => data.picks.getChild(name).toArray();
  const [reading, pick, truth] = ["reading", "pick", "truth"].map(column);
  const readings = data.readings.map((entry, place) => {
    const counts = { picked: new Array(entry.k).fill(0), true: new Array(entry.k).fill(0) };
    const right = [];
    for (let i = 0; i < reading.length; i++) {
      if (reading[i] !== place) continue;
      counts.picked[pick[i]]++;
      counts.true[truth[i]]++;
      right.push(pick[i] === truth[i] ? 1 : 0);
    }
    const curve = (name) => data.curves.getChild(`${name}_${place}`).toArray();
    const hits = right.reduce((sum, hit) => sum + hit, 0);
    return { ...entry, counts, right, hits, m: right.length, coverage: curve("coverage"), size: curve("size") };
  });
  const run = { readings, cases: data.cases, paired: data.paired, pairedAlpha: data.paired_alpha };
  Object.assign(run, { model: data.model, name: data.name, questions: testedOf });
  const first = askedBy(run, WAY_LETTERS, 0);
  return Object.assign(run, { k: first.k, m: first.m, n: 0, shots: shotsOf(run) });
}

const shotsOf = ({ readings }) => [...new Set(readings.map(({ shots }) => shots))].sort((a, b) => a - b);

export const askedBy = ({ readings }, way, shots) =>
  readings.find((reading) => reading.way === way && reading.shots === shots) ?? null;
export const byLetter = (run, shots = 0) => askedBy(run, WAY_LETTERS, shots);
export const byText = (run, shots = 0) => askedBy(run, WAY_TEXTS, shots);

const rightAsked = ({ hits, m }) => hits / m;
const habitOf = ({ run }) => byLetter(run, 1);
const mostShots = ({ run }) => Math.max(...run.shots);
const at0 = (values, alpha) => values[alpha - 1];
const signedBy = (value, digits) => `${value < 0 ? "−" : ""}${Math.abs(value).toFixed(digits)}`;
const askedSpan = (low, high, digits) =>
  `(**${percent(0.95, 0)}** interval **${signedBy(low, digits)}** to **${signedBy(high, digits)}**)`;

// "**38.4** points (**95%** interval …)" for the difference of two readings' accuracies.
export function pointsSpan({ accuracy, accuracy_low: low, accuracy_high: high }, reading, other) {
  const gap = differenceShown(100 * rightAsked(reading), 100 * rightAsked(other), 1, 100 * accuracy);
  return `**${signedBy(gap, 1)}** points ${askedSpan(100 * low, 100 * high, 1)}`;
}

export const examplesText = (shots) => `${shots} ${shots === 1 ? "example" : "examples"}`;

function waysSaid({ run }) {
  const { right: letters } = byLetter(run);
  const { right: texts } = byText(run);
  let onlyText = 0;
  let onlyLetter = 0;
  for (let i = 0; i < letters.length; i++) {
    if (texts[i] > letters[i]) onlyText++;
    if (texts[i] < letters[i]) onlyLetter++;
  }
  return `**${whole(onlyText)}** are right only by text and **${whole(onlyLetter)}** only by letter, a difference of ${pointsSpan(run.paired.ways, byText(run), byLetter(run))}.`;
}

function habitSaid(at) {
  const { counts, m } = habitOf(at);
  return `With one example it picks A for **${whole(counts.picked[0])}** of **${whole(m)}** questions.`;
}

function shotsSaid(at) {
  const { run } = at;
  const most = run.paired.shots.at(-1);
  return `The difference from none is ${pointsSpan(most, byText(run, mostShots(at)), byText(run))}.`;
}

function askedSizeSaid({ run }) {
  const { set_size: mean, set_size_low: low, set_size_high: high } = run.paired.ways;
  const [texts, letters] = [byText(run), byLetter(run)].map(({ size }) => at0(size, run.pairedAlpha));
  const gap = differenceShown(texts, letters, 2, mean);
  return `At alpha **${shownAlpha(run.pairedAlpha)}** the difference of text from letter is **${signedBy(gap, 2)}** options ${askedSpan(low, high, 2)}.`;
}

export const ASKING_TRUTHS = {
  ask_text_right: ({ run }) => rightAsked(byText(run)),
  ask_first_picked: (at) => habitOf(at).counts.picked[0] / habitOf(at).m,
  ask_many_right: (at) => rightAsked(byText(at.run, mostShots(at))),
  ask_text_size: ({ run, alpha }) => at0(byText(run).size, alpha),
};

export const ASKING_SENTENCES = ["ask_pairs_said", "ask_habit_said", "ask_shots_said", "ask_size_said"];

export const ASKING_FACTS = {
  ask_letter_right: ({ run }) => share(rightAsked(byLetter(run))),
  ask_text_right: (at) => share(ASKING_TRUTHS.ask_text_right(at)),
  ask_guessing: ({ run }) => share(1 / run.k),
  ask_pairs_said: waysSaid,
  ask_first_true: (at) => share(habitOf(at).counts.true[0] / habitOf(at).m),
  ask_first_picked: (at) => share(ASKING_TRUTHS.ask_first_picked(at)),
  ask_habit_said: habitSaid,
  ask_habit_right: (at) => share(rightAsked(habitOf(at))),
  ask_most_shots: (at) => whole(mostShots(at)),
  ask_many_right: (at) => share(ASKING_TRUTHS.ask_many_right(at)),
  ask_shots_said: shotsSaid,
  ask_letter_size: ({ run, alpha }) => at0(byLetter(run).size, alpha).toFixed(2),
  ask_text_size: (at) => ASKING_TRUTHS.ask_text_size(at).toFixed(2),
  ask_letter_coverage: ({ run, alpha }) => share(at0(byLetter(run).coverage, alpha)),
  ask_text_coverage: ({ run, alpha }) => share(at0(byText(run).coverage, alpha)),
  ask_size_said: askedSizeSaid,
};
