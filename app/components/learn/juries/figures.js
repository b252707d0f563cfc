// The figures of the lesson on juries, by the names of its steps (../figures.js).

import { shareInterval } from "../../shared/coverage_distributions.js";
import { make } from "../../shared/dom.js";
import { shareBars } from "../bars.js";
import { share } from "../numbers.js";
import { crowdFigure, votesFigure } from "./curves.js";
import { JURY_FACTS, independentTally, wrongTally } from "./facts.js";
import { weighingFigure } from "./weighing.js";

const withInterval = (hits, n) => {
  const [low, high] = shareInterval(hits, n);
  return { value: hits / n, low, high };
};

const tallyName = (count, k) =>
  count === 0 ? "none is wrong" : count === k ? `all ${k} are wrong` : `${count} of ${k} wrong`;

const togetherFigure = {
  caption: "How many jurors would be wrong about an answer if they were independent.",
  answered:
    "How many jurors are wrong about an answer: outlined if they were independent, full as counted (95% intervals).",
  build(host, { run }) {
    const names = Array.from({ length: run.k + 1 }, (_, count) => tallyName(count, run.k));
    const rows = names.flatMap((name) => [
      { name: `${name}: independent`, outlined: true },
      { name: `${name}: counted` },
    ]);
    const bars = shareBars(host, rows, "How many jurors are wrong about an answer");
    const expected = independentTally(run.errors);
    const counted = wrongTally(run);
    bars.guessed(null);
    return (at, { open }) =>
      bars.update(expected.flatMap((value, count) => [{ value }, open ? withInterval(counted[count], run.m) : null]));
  },
  hidden: "What was counted is hidden until you guess.",
  describe: (at) =>
    `The majority is right on ${JURY_FACTS.majority(at)}. All jurors are wrong on ${JURY_FACTS.all_wrong(at)} of the answers, and would be on ${JURY_FACTS.all_wrong_independent(at)} if they were independent.`,
};

// One answer with what each juror said of it.
function answerCard({ place, question, answer }, run) {
  const card = make("div.question-card", make("p.card-asked", question));
  const verdict = make(
    "p.card-answer",
    "Answer: ",
    make("b", answer),
    run.labels[place] ? " (it is right)" : " (it is wrong)",
  );
  const list = make("ul.jury-votes");
  run.jurors.forEach((name, j) => {
    const wrong = run.wrong[j][place];
    list.append(
      make(
        "li",
        { className: wrong ? "wrong" : "right" },
        `${wrong === 0.5 ? "=" : wrong ? "✗" : "✓"} ${name} says it is `,
        make("b", ["wrong", "undecided", "right"][2 * run.votes[j][place]]),
      ),
    );
  });
  card.append(verdict, list);
  return card;
}

const unanimityFigure = {
  caption: "Answers on which the jurors disagree. Unanimous ones appear after your guess.",
  answered: "Answers that all jurors got wrong.",
  build(host, { run, kept }) {
    const bars = make("div");
    const place = make("div");
    const more = make("button", "Another answer");
    let open = false;
    const deal = () => {
      const all = run.examples.filter(({ place: at }) => (run.wrongCounts[at] === run.k) === open);
      if (all.length) place.replaceChildren(answerCard(all[(kept.card ?? 0) % all.length], run));
    };
    more.onclick = () => {
      kept.card = (kept.card ?? 0) + 1;
      deal();
    };
    host.replaceChildren(bars, place, more);
    const counted = wrongTally(run);
    const same = counted[0] + counted[run.k];
    const expected = independentTally(run.errors);
    const unanimousBars = shareBars(
      bars,
      [{ name: "unanimous and wrong: independent", outlined: true }, { name: "unanimous and wrong: counted" }],
      "Share of unanimous verdicts that are wrong",
    );
    return (at, state) => {
      open = state.open;
      unanimousBars.update([
        { value: expected[run.k] / (expected[0] + expected[run.k]) },
        open ? withInterval(counted[run.k], same) : null,
      ]);
      unanimousBars.guessed(state.guess, 1);
      deal();
    };
  },
  hidden: "The share of unanimous verdicts that are wrong is hidden until you guess.",
  describe: (at) =>
    `${JURY_FACTS.unanimous_wrong(at)} of the unanimous verdicts are wrong; ${JURY_FACTS.unanimous_wrong_independent(at)} would be if the jurors were independent.`,
};

export const JURY_FIGURES = {
  judges: crowdFigure((run) => run.errors.map((error) => withInterval(Math.round((1 - error) * run.m), run.m)), share),
  together: togetherFigure,
  unanimity: unanimityFigure,
  votes: votesFigure,
  weighing: weighingFigure,
};
