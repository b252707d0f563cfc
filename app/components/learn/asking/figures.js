// The figures of the lesson on asking, by the names of its steps (../figures.js).

import { shareInterval } from "../../shared/coverage_distributions.js";
import { draw, headRow, make, put } from "../../shared/dom.js";
import { ALPHA_ACROSS, axes, steps, linePath } from "../../shared/svg.js";
import { shareBars } from "../bars.js";
import { keptMover } from "../mover.js";
import { share } from "../numbers.js";
import { ASKING_FACTS, byLetter, byText, examplesText, pointsSpan } from "./facts.js";
import { guessMark } from "../guess_mark.js";

const LETTER_NAMES = "ABCDEFGH";

const withEnds = (hits, n) => {
  const [low, high] = shareInterval(hits, n);
  return { value: hits / n, low, high };
};
const rightShare = ({ hits, m }) => withEnds(hits, m);

// One question with the probability of each option by letter and by text.
function askedTable({ question, options, truth, letters, texts }) {
  const card = make("div.question-card");
  const table = make("table.two-scores");
  table.createTHead().append(headRow(["Option", "By letter", "By text"]));
  const body = table.createTBody();
  options.forEach((option, j) => {
    const row = body.insertRow();
    row.append(make("td", make("b", LETTER_NAMES[j]), ` ${option}${j === truth ? " (right)" : ""}`));
    for (const p of [letters, texts]) {
      const most = p[j] === Math.max(...p);
      row.append(make("td", `${p[j].toFixed(3)}${most ? " ✓" : ""}`));
    }
  });
  card.append(make("p.card-asked", question), table);
  return card;
}

const waysFigure = {
  caption: "How often the answer by letter is right. Below: one question in both ways, ✓ at the pick.",
  answered: "How often each way is right, with 95% intervals. Below: one question both ways, ✓ at the pick.",
  build(host, { run, kept }) {
    kept.case ??= 0;
    const plot = make("div");
    const place = make("div");
    const deal = () => place.replaceChildren(askedTable(run.cases[kept.case % run.cases.length]));
    host.replaceChildren(
      plot,
      place,
      make(
        "button",
        {
          onclick: () => {
            kept.case += 1;
            deal();
          },
        },
        "Another question",
      ),
    );
    const rows = [{ name: "by letter" }, { name: "by text" }, { name: "guessing", outlined: true }];
    const bars = shareBars(plot, rows, "How often each way of asking is right");
    deal();
    return (at, { open, guess }) => {
      bars.update([rightShare(byLetter(run)), open ? rightShare(byText(run)) : null, { value: 1 / run.k }]);
      bars.guessed(guess, 1);
    };
  },
  hidden: "How often the answer by text is right is hidden until you guess.",
  describe: (at) =>
    `${ASKING_FACTS.ask_letter_right(at)} are right by letter and ${ASKING_FACTS.ask_text_right(at)} by text.`,
};

// A slider over the numbers of examples that were asked.
function examplesMover(run, kept, name, { start, line, moved }) {
  return keptMover(kept, name, {
    label: "examples in the prompt",
    max: run.shots.length - 1,
    start,
    line,
    shown: (place) => String(run.shots[place]),
    moved: (place) => moved(run.shots[place]),
  });
}

const habitFigure = {
  caption: "How often each letter is right. What the model picks appears after your guess.",
  answered: "Outlined: how often each letter is right. Full: how often it is picked, with 95% intervals.",
  build(host, { run, kept }) {
    const plot = make("div");
    const line = make("p.figure-said");
    const names = Array.from({ length: run.k }, (_, j) => LETTER_NAMES[j]);
    let bars = null;
    let open = false;
    const slider = examplesMover(run, kept, "habit", {
      start: Math.max(0, run.shots.indexOf(1)),
      line,
      moved: (shots) => {
        const { counts, m, hits } = byLetter(run, shots);
        bars?.update(
          names.flatMap((_, j) => [{ value: counts.true[j] / m }, open ? withEnds(counts.picked[j], m) : null]),
        );
        return `With ${examplesText(shots)}: ${share(hits / m)} right by letter`;
      },
    });
    host.replaceChildren(plot, slider.row, line);
    bars = shareBars(
      plot,
      names.flatMap((name) => [{ name: `${name} is right`, outlined: true }, { name: `${name} is picked` }]),
      "How often each letter is right and is picked",
    );
    return (at, state) => {
      open = state.open;
      slider.row.hidden = line.hidden = !open;
      bars.guessed(state.guess, 1);
      slider.show();
    };
  },
  hidden: "How often each letter is picked is hidden until you guess.",
  describe: (at) =>
    `With one example A is picked for ${ASKING_FACTS.ask_first_picked(at)} and right for ${ASKING_FACTS.ask_first_true(at)} of the questions.`,
};

const askedExamplesFigure = {
  caption: "How often the answers by text are right. The rest appears after your guess.",
  answered: "How often the answers by text are right, with 95% intervals. The slider compares with no examples.",
  build(host, { run, kept }) {
    const plot = make("div");
    const line = make("p.figure-said");
    const slider = examplesMover(run, kept, "examples", {
      start: run.shots.length - 1,
      line,
      moved: (shots) => {
        const paired = run.paired.shots.find((candidate) => candidate.shots === shots);
        const less = paired
          ? `, ${pointsSpan(paired, byText(run, shots), byText(run)).replaceAll("*", "")} from none`
          : "";
        return `With ${examplesText(shots)}: ${share(rightShare(byText(run, shots)).value)} right by text${less}`;
      },
    });
    host.replaceChildren(plot, slider.row, line);
    const bars = shareBars(
      plot,
      run.shots.map((shots) => ({ name: shots ? `by text with ${examplesText(shots)}` : "by text without examples" })),
      "How often the answers by text are right, by the number of examples",
    );
    return (at, { open, guess }) => {
      slider.row.hidden = line.hidden = !open;
      bars.update(run.shots.map((shots, i) => (open || !i ? rightShare(byText(run, shots)) : null)));
      bars.guessed(guess, run.shots.length - 1);
      slider.show();
    };
  },
  hidden: "What examples do is hidden until you guess.",
  describe: (at) =>
    `By text, ${ASKING_FACTS.ask_text_right(at)} are right without examples, and ${ASKING_FACTS.ask_many_right(at)} with ${ASKING_FACTS.ask_most_shots(at)}.`,
};

const askedSizesFigure = {
  alpha: true,
  caption: "Mean size of the LAC sets by letter at each alpha (dashed). The line by text appears after your guess.",
  answered: "Mean size of the LAC sets at each alpha: by text (line) and by letter (dashed).",
  build(host, { run, kept }) {
    const plot = make("div");
    const line = make("p.figure-said");
    plot.style.height = "300px";
    let last = null;
    let show = null;
    const slider = examplesMover(run, kept, "sizes", { start: 0, line, moved: (shots) => show?.(shots) ?? "" });
    host.replaceChildren(plot, slider.row, line);
    const { svg, x, y } = axes(plot, "Mean set size by alpha", {
      ...ALPHA_ACROSS,
      yMax: run.k,
      yTicks: steps(run.k, 1),
      yFormat: String,
      yTitle: "mean set size",
    });
    const now = draw(svg, "line", { class: "now", y1: y(0), y2: y(run.k) });
    const dashed = draw(svg, "path", { class: "target" });
    const full = draw(svg, "path", { class: "curve plain" });
    const dots = [dashed, full].map(() => draw(svg, "circle", { class: "dot plain", r: 5 }));
    const showGuess = guessMark(svg, { x1: x(0), x2: x(1) }, { x: x(0) + 200, y: -6 });
    show = (shots) => {
      if (!last) return "";
      const [{ alpha }, { open }] = last;
      const readings = [byLetter(run, shots), byText(run, shots)];
      put(dashed, { d: linePath(x, y, readings[0].size) });
      put(full, { d: open ? linePath(x, y, readings[1].size) : "" });
      put(now, { x1: x(alpha / 1000), x2: x(alpha / 1000) });
      readings.forEach(({ size }, i) => put(dots[i], { cx: x(alpha / 1000), cy: y(size[alpha - 1]) }));
      dots[1].style.display = open ? "" : "none";
      const [letters, texts] = readings.map(
        ({ size, coverage }) => `${size[alpha - 1].toFixed(2)} options, ${share(coverage[alpha - 1])} hold the truth`,
      );
      return `With ${examplesText(shots)}, by letter: ${letters}${open ? `; by text: ${texts}` : ""}`;
    };
    return (at, state) => {
      last = [at, state];
      slider.row.hidden = !state.open;
      showGuess(state.guess === null ? null : [0, y(state.guess)]);
      slider.show();
    };
  },
  hidden: "The size of the sets by text is hidden until you guess.",
  describe: (at) =>
    `The sets hold ${ASKING_FACTS.ask_letter_size(at)} options by letter and ${ASKING_FACTS.ask_text_size(at)} by text.`,
};

export const ASKING_FIGURES = {
  ways: waysFigure,
  habit: habitFigure,
  examples: askedExamplesFigure,
  setsizes: askedSizesFigure,
};
