// Step 1: accuracy as one bar, and below it the share of questions with sets of each size. The guess stands on the bar
// of sets with a single option.

import { draw, put, say } from "../../shared/dom.js";
import { percent } from "../../shared/formatting.js";
import { accuracy } from "../../shared/sets.js";
import { asPercent, canvas, linear } from "../../shared/svg.js";
import { guessMark } from "../guess_mark.js";

const SHARE_ROW = 38;
const BAR = 20;
const LABELS = 92;
const FIRST = 26;

export const sharesFigure = {
  questions: "test",
  caption: "Full colour: the right answer is in the set. Faded: it is missed.",
  height: (run) => FIRST + SHARE_ROW * (run.k + 2.6),
  build(host, { run }) {
    const { svg, width } = canvas(host, "Accuracy, and the share of questions by set size");
    const x = linear(0, 1, LABELS, width - 62);
    const rowAt = (i) => FIRST + SHARE_ROW * i;
    const sizeRow = (size) => rowAt(size + 1.6);
    for (const tick of [0, 0.25, 0.5, 0.75, 1]) {
      draw(svg, "line", { class: "grid faint", x1: x(tick), x2: x(tick), y1: FIRST - 6, y2: sizeRow(run.k) + BAR + 8 });
      draw(svg, "text", { x: x(tick), y: sizeRow(run.k) + BAR + 22, "text-anchor": "middle" }, asPercent(tick));
    }
    const bar = (y, name) => ({
      name: draw(svg, "text", { class: "plain", x: LABELS - 10, y: y + BAR / 2 + 4, "text-anchor": "end" }, name),
      whole: draw(svg, "rect", { class: "missed", x: x(0), y, height: BAR, width: 0 }),
      held: draw(svg, "rect", { class: "fill-lac", x: x(0), y, height: BAR, width: 0 }),
      value: draw(svg, "text", { class: "strong", y: y + BAR / 2 + 4 }),
    });
    const set = (row, held, whole, text) => {
      put(row.held, { width: Math.max(0, x(held) - x(0)) });
      put(row.whole, { width: Math.max(0, x(whole) - x(0)) });
      row.value.setAttribute("x", x(whole) + 7);
      say(row.value, text);
    };
    draw(svg, "text", { class: "strong", x: 0, y: 14 }, "One number for all questions");
    const right = bar(rowAt(0), "right");
    set(right, accuracy(run.lac), 1, percent(accuracy(run.lac), 1));
    put(right.value, { x: x(accuracy(run.lac)) + 7 });
    draw(svg, "text", { class: "strong", x: 0, y: rowAt(1) + 14 }, "A set for each question");
    const rows = Array.from({ length: run.k + 1 }, (_, size) =>
      bar(sizeRow(size), size === 0 ? "empty" : size === 1 ? "1 option" : `${size} options`),
    );
    const showGuess = guessMark(svg, { y1: sizeRow(1) - 5, y2: sizeRow(1) + BAR + 5 }, { y: sizeRow(1) - 8 });
    return (at, { open, guess }) => {
      const { sizes, bySize } = at.lac;
      rows.forEach((row, size) => {
        if (open) set(row, bySize[size] / run.m, sizes[size] / run.m, percent(sizes[size] / run.m, 1));
        else set(row, 0, 0, "?");
      });
      const anchor = guess > 0.85 ? "end" : guess < 0.08 ? "start" : "middle";
      showGuess(guess === null ? null : [x(guess), 0], { "text-anchor": anchor });
    };
  },
  hidden: "The shares of set sizes are hidden until you guess.",
  describe(at) {
    const shares = Array.from(at.lac.sizes, (count, size) => `${size}: ${percent(count / at.run.m, 1)}`);
    return `Share of the questions by number of options in the set: ${shares.join(", ")}.`;
  },
};
