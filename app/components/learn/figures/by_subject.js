// Step 6: coverage of each subject with its exact interval, around the coverage of all questions.

import { draw, put, say } from "../../shared/dom.js";
import { shareInterval } from "../../shared/coverage_distributions.js";
import { percent } from "../../shared/formatting.js";
import { MARKS, asPercent, canvas, linear } from "../../shared/svg.js";

const SUBJECTS_TOP = 52;
const SUBJECTS_BOTTOM = 40;
const ROWS = { guess: 12, all: 28, target: 44 }; // the labels of the vertical lines, each in a row of its own
const CLOSER = 0.4; // after the answer the axis begins here, if nothing lies below it
const NAMES = 140;
const LETTERS_SHOWN = 19;
const ALL_NAMED = 30;
const NAME_ROOM = 13; // pixels of a row that can be named
const RIGHT = 18; // half of the last label, in a wide font
const WORD_WIDTH = 3.7; // half of a letter's width in pixels: labels keep this far from the edge

const shortName = (text) => (text.length > LETTERS_SHOWN ? `${text.slice(0, LETTERS_SHOWN - 1)}…` : text);

export const subjectsFigure = {
  questions: "test",
  caption: "Coverage of all questions. The subjects' own coverage appears after your guess.",
  answered: "Coverage of each subject with its 95% interval (Clopper–Pearson).",
  height: (run) => SUBJECTS_TOP + SUBJECTS_BOTTOM + Math.max(120, Math.min(22 * run.groupNames.length, 480)),
  build(host, { at: first }) {
    const { svg, width, height } = canvas(host, "Coverage by subject");
    const { subjects } = first;
    const row = (height - SUBJECTS_TOP - SUBJECTS_BOTTOM) / subjects.length;
    const few = subjects.length <= ALL_NAMED && row >= NAME_ROOM;
    const end = height - SUBJECTS_BOTTOM;
    const ticks = [0, 0.2, 0.4, 0.6, 0.8, 1].map((share) => ({
      share,
      line: draw(svg, "line", { class: "grid faint", y1: SUBJECTS_TOP, y2: end }),
      text: draw(svg, "text", { y: end + 16, "text-anchor": "middle" }, asPercent(share)),
    }));
    draw(svg, "text", { x: (NAMES + width - RIGHT) / 2, y: end + 33, "text-anchor": "middle" }, "coverage");
    const all = draw(svg, "line", { class: "overall", y1: SUBJECTS_TOP - 4, y2: end });
    const target = draw(svg, "line", { class: "target", y1: SUBJECTS_TOP - 4, y2: end });
    const rows = subjects.map(({ name }, i) => {
      const middle = SUBJECTS_TOP + row * (i + 0.5);
      const label = draw(
        svg,
        "text",
        { class: "plain", x: NAMES - 8, y: middle + 4, "text-anchor": "end" },
        shortName(name),
      );
      draw(label, "title", {}, name);
      return {
        middle,
        label,
        whisker: draw(svg, "line", { class: "whisker lac", y1: middle, y2: middle }),
        dot: draw(svg, "path", { class: "dot fill-lac", d: MARKS.circle }),
      };
    });
    const mark = draw(svg, "g", { class: "your-guess" });
    const guessed = draw(mark, "line", { y1: ROWS.guess + 4, y2: end });
    const guessText = draw(mark, "text", { y: ROWS.guess, "text-anchor": "middle" }, "your guess");
    const allText = draw(svg, "text", { class: "strong", y: ROWS.all });
    const targetText = draw(svg, "text", { class: "plain", y: ROWS.target });
    return (at, { open, guess }) => {
      const intervals = at.subjects.map(({ hits, m }) => shareInterval(hits, m));
      const least = Math.min(guess ?? 1, 1 - at.alpha / 1000, at.lac.coverage, ...intervals.map(([low]) => low));
      const from = open && least >= CLOSER ? CLOSER : 0;
      const x = linear(from, 1, NAMES, width - RIGHT);
      for (const { share, line, text } of ticks) {
        line.style.display = text.style.display = share < from ? "none" : "";
        put(line, { x1: x(share), x2: x(share) });
        text.setAttribute("x", x(share));
      }
      const vertical = (line, label, share, words) => {
        put(line, { x1: x(share), x2: x(share) });
        put(label, { x: Math.min(x(share), width - 2 - WORD_WIDTH * words.length), "text-anchor": "middle" });
        say(label, words);
      };
      vertical(all, allText, at.lac.coverage, `all questions ${percent(at.lac.coverage, 1)}`);
      vertical(target, targetText, 1 - at.alpha / 1000, `target ${percent(1 - at.alpha / 1000, 1)}`);
      at.subjects.forEach((subject, i) => {
        const { middle, label, whisker, dot } = rows[i];
        const special = open && subject.coverage === at.worst.coverage;
        whisker.style.display = dot.style.display = open ? "" : "none";
        label.style.display = few || special ? "" : "none";
        label.classList.toggle("strong", special);
        const [low, high] = intervals[i];
        put(whisker, { x1: x(low), x2: x(high) });
        dot.setAttribute("transform", `translate(${x(subject.coverage)},${middle})`);
      });
      mark.style.display = guess === null ? "none" : "";
      vertical(guessed, guessText, guess ?? 0, "your guess");
    };
  },
  describe(at, { open }) {
    if (!open)
      return `Coverage of all questions is ${percent(at.lac.coverage, 1)}. The subjects are hidden until you guess.`;
    return `Coverage by subject: ${at.subjects.map(({ name, coverage }) => `${name} ${percent(coverage, 1)}`).join(", ")}.`;
  },
};
