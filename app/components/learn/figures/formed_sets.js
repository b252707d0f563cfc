// Step 4: test questions and their sets. One is easy for the model, one is hard, and one lies between.

import { draw, make, put, say } from "../../shared/dom.js";
import { thresholdText } from "../../shared/formatting.js";
import { canvas, linear, tall } from "../../shared/svg.js";
import { questionCard } from "./card.js";
import { guessMark } from "../guess_mark.js";

const SPREAD = [0.9, 0.5, 0.1];
const MANY_OPTIONS = 4;
const LABEL_WIDTH = 150; // pixels

// Questions by falling certainty: the probability of the most probable option.
function byCertainty(examples) {
  return examples
    .filter(({ test }) => test !== null)
    .sort((first, other) => Math.max(...other.p) - Math.max(...first.p));
}

function chosen(questions, turn, count) {
  const shares = count === 3 ? SPREAD : [SPREAD[0], SPREAD[2]];
  return shares.map((share, i) => {
    const from = Math.floor((i * questions.length) / shares.length);
    const room = Math.max(1, Math.floor(questions.length / shares.length));
    return questions[(from + ((Math.floor(room * (1 - share)) + turn) % room)) % questions.length];
  });
}

export const setsFigure = {
  questions: "test",
  caption: "The bar is the option's score, and the line is the threshold. Options up to the line are in the set.",
  build(host, { run, examples, kept }) {
    const questions = byCertainty(examples);
    const count = run.k > MANY_OPTIONS ? 2 : 3;
    kept.turn ??= 0;
    const list = make("div.cards-of-sets");
    const more = make("button", "Other questions");
    const plot = make("div.mean-plot");
    plot.style.height = tall(64);
    host.replaceChildren(list, more, plot);
    const { svg, width } = canvas(plot, "Mean set size", { height: 64 });
    const x = linear(0, run.k, 8, width - 8);
    draw(svg, "text", { x: width / 2, y: 59, "text-anchor": "middle" }, "options in a set, on average");
    draw(svg, "line", { class: "grid", x1: x(0), x2: x(run.k), y1: 26, y2: 26 });
    for (let size = 0; size <= run.k; size++)
      draw(
        svg,
        "text",
        { x: x(size), y: 42, "text-anchor": size === 0 ? "start" : size === run.k ? "end" : "middle" },
        String(size),
      );
    const bar = draw(svg, "rect", { class: "fill-lac", x: x(0), y: 18, height: 8 });
    const text = draw(svg, "text", { class: "strong", y: 13 });
    const showGuess = guessMark(svg, { y1: 14, y2: 32 }, { y: 11 });
    let shown = [];
    let last = null;
    const update = (at, state) => {
      last = [at, state];
      for (const { question, show } of shown) {
        const start = question.test * run.k;
        show(Array.from(run.lac.scores.subarray(start, start + question.options.length)), at.lac.threshold);
      }
      bar.style.display = text.style.display = state.open ? "" : "none";
      const apart = Math.abs(x(at.lac.meanSize) - x(state.guess ?? 0));
      put(bar, { width: x(at.lac.meanSize) - x(0) });
      put(text, { x: Math.min(x(at.lac.meanSize), width - 100) + 4 });
      say(text, `mean set size ${at.lac.meanSize.toFixed(2)}`);
      const share = (state.guess ?? 0) / run.k;
      showGuess(state.guess === null ? null : [x(state.guess), 0], {
        "text-anchor": share > 0.85 ? "end" : share < 0.15 ? "start" : "middle",
        display: state.open && apart < LABEL_WIDTH ? "none" : "inline",
      });
    };
    const deal = () => {
      shown = chosen(questions, kept.turn, count).map((question) => ({ question, ...questionCard(question) }));
      list.replaceChildren(...shown.map(({ card }) => card));
      if (last) update(...last);
    };
    more.onclick = () => {
      kept.turn++;
      deal();
    };
    deal();
    return update;
  },
  hidden: "Some questions with their sets. The mean set size is hidden until you guess.",
  describe: (at) =>
    `With a threshold of ${thresholdText(at.lac.threshold, 3)} a set holds ${at.lac.meanSize.toFixed(2)} options on average.`,
};
