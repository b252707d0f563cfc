// Step 2: one calibration question with its options' scores, and the scores of the right options collected on a line.
// After the guess all of them are there, as a histogram.

import { draw, make, put, say } from "../../shared/dom.js";
import { histogram } from "../../shared/sets.js";
import { GROUND, axes, steps, tall } from "../../shared/svg.js";
import { questionCard } from "./card.js";
import { guessMark } from "../guess_mark.js";

const LINE_BINS = 50;
const LINE = 190;
const DOT_ROW = 11;
const TOP_LABELS = 50; // px at the top, where the labels of the median and of the guess stand

export const collectedFigure = {
  questions: "calibration",
  follows: false,
  caption: "Each bar is the score of an option. A short bar is a good fit.",
  build(host, { run, examples, kept }) {
    const questions = examples.filter(({ calibration }) => calibration !== null);
    kept.seen ??= 1;
    const place = make("div");
    const more = make("button", "Another question");
    const plot = make("div.line-plot");
    plot.style.height = tall(LINE);
    host.replaceChildren(place, more, plot);
    const counts = histogram(run.lac, LINE_BINS);
    const { svg, x, y } = axes(plot, "Scores of the calibration questions' right options", {
      xMax: 1,
      xTicks: steps(5, 0.2),
      xFormat: (tick) => tick.toFixed(1),
      xTitle: "score of the right option",
      yMax: Math.max(...counts, 1) * 1.08,
      ...GROUND,
    });
    const bars = draw(svg, "g", { class: "fill-lac" });
    counts.forEach((count, i) =>
      draw(bars, "rect", {
        x: x(i / LINE_BINS) + 0.5,
        width: Math.max(1, x(1 / LINE_BINS) - x(0) - 1),
        y: y(count),
        height: y(0) - y(count),
      }),
    );
    const dots = draw(svg, "g", { class: "seen" });
    const here = draw(svg, "g", { class: "this-question" });
    draw(here, "path", { d: "M0,0l-5,-8h10z" });
    const hereText = draw(here, "text", {}, "the question above");
    const middle = draw(svg, "g", { class: "answer-mark" });
    draw(middle, "line", { y1: 16, y2: y(0) });
    const middleText = draw(middle, "text", { y: 12 }, "half of them");
    const showGuess = guessMark(svg, { y1: 30, y2: y(0) }, { y: 26 });
    const outward = (at) => ({ "text-anchor": at > 0.8 ? "end" : at < 0.2 ? "start" : "middle" });

    const median = run.sorted[Math.ceil(run.n / 2) - 1];
    const binOf = (question) =>
      Math.min(LINE_BINS - 1, Math.floor(run.lac.calibration[question.calibration] * LINE_BINS));

    const showSeen = () => {
      const now = questions[(kept.seen - 1) % questions.length];
      const { card, show } = questionCard(now);
      place.replaceChildren(card);
      show(Array.from(now.p, (value) => 1 - value));
      dots.replaceChildren();
      const shownBin = binOf(now);
      here.setAttribute("transform", `translate(${x((shownBin + 0.5) / LINE_BINS)},${y(counts[shownBin]) - 3})`);
      const share = shownBin / LINE_BINS; // the label stands on the side of the mark that faces away from the median
      const side = share < 0.3 || (share < 0.7 && share > median) ? 1 : -1;
      const beside = y(counts[shownBin]) < TOP_LABELS; // a tall bar's label stands beside it, below the others
      put(hereText, { "text-anchor": side > 0 ? "start" : "end", x: beside ? side * 12 : 0, y: beside ? 36 : -12 });
      const stacks = new Map();
      questions.slice(0, kept.seen).forEach((question) => {
        const bin = binOf(question);
        const level = stacks.get(bin) ?? 0;
        stacks.set(bin, level + 1);
        draw(dots, "circle", {
          class: question === now ? "now-seen" : "",
          r: question === now ? 6 : 4.5,
          cx: x((bin + 0.5) / LINE_BINS),
          cy: y(0) - 7 - DOT_ROW * level,
        });
      });
    };
    more.onclick = () => {
      kept.seen = Math.min(kept.seen + 1, questions.length);
      more.disabled = kept.seen >= questions.length;
      showSeen();
    };
    more.disabled = kept.seen >= questions.length;
    showSeen();
    return (at, { open, guess }) => {
      bars.style.display = middle.style.display = here.style.display = open ? "" : "none";
      dots.style.display = open ? "none" : "";
      middle.setAttribute("transform", `translate(${x(median)},0)`);
      put(middleText, outward(median));
      say(middleText, `half are at ${median.toFixed(3)} or less`);
      showGuess(guess === null ? null : [x(guess), 0], outward(guess));
    };
  },
  hidden:
    "The scores of the right options are hidden until you guess, except those of the questions that you have seen.",
  describe(at) {
    const { sorted, n } = at.run;
    const score = (share) => sorted[Math.ceil(share * n) - 1].toFixed(3);
    return `A tenth of the ${n} right options score ${score(0.1)} or less, half of them ${score(0.5)} or less, and nine tenths ${score(0.9)} or less.`;
  },
};
