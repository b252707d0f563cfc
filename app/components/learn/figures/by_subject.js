// Step 6: coverage of each subject with its exact interval, around the coverage of all questions.

import { draw, put, say } from "../../shared/dom.js";
import { shareInterval } from "../../shared/coverage_distributions.js";
import { percent } from "../../shared/formatting.js";
import { MARKS, asPercent, canvas, linear } from "../../shared/svg.js";

const SUBJECTS_TOP = 26;
const SUBJECTS_BOTTOM = 24;
const NAMES = 140;
const LETTERS_SHOWN = 19;
const ALL_NAMED = 30;

const shortName = (text) => (text.length > LETTERS_SHOWN ? `${text.slice(0, LETTERS_SHOWN - 1)}…` : text);

export const subjectsFigure = {
  caption: "Coverage of each subject with its 95% interval (Clopper–Pearson). The dashed line is the target.",
  height: (run) => SUBJECTS_TOP + SUBJECTS_BOTTOM + Math.max(120, Math.min(22 * run.groupNames.length, 480)),
  build(host, { at: first }) {
    const { svg, width, height } = canvas(host, "Coverage by subject");
    const { subjects } = first;
    const few = subjects.length <= ALL_NAMED;
    const row = (height - SUBJECTS_TOP - SUBJECTS_BOTTOM) / subjects.length;
    const x = linear(0, 1, NAMES, width - 14);
    const end = height - SUBJECTS_BOTTOM;
    for (const tick of [0, 0.25, 0.5, 0.75, 1]) {
      draw(svg, "line", { class: "grid faint", x1: x(tick), x2: x(tick), y1: SUBJECTS_TOP, y2: end });
      draw(svg, "text", { x: x(tick), y: end + 16, "text-anchor": "middle" }, asPercent(tick));
    }
    const target = draw(svg, "line", { class: "target", y1: SUBJECTS_TOP - 4, y2: end });
    const all = draw(svg, "line", { class: "overall", y1: SUBJECTS_TOP - 4, y2: end });
    const allText = draw(svg, "text", { class: "strong", y: 12, "text-anchor": "middle" });
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
    draw(mark, "line", { y1: SUBJECTS_TOP - 4, y2: end });
    draw(mark, "text", { y: 12, "text-anchor": "middle" }, "your guess");
    return (at, { open, guess }) => {
      put(target, { x1: x(1 - at.alpha / 1000), x2: x(1 - at.alpha / 1000) });
      put(all, { x1: x(at.lac.coverage), x2: x(at.lac.coverage) });
      const allAt = Math.min(x(at.lac.coverage), width - 40);
      allText.setAttribute("x", allAt);
      say(allText, `all ${percent(at.lac.coverage, 1)}`);
      const ends = [at.worst, at.best];
      at.subjects.forEach((subject, i) => {
        const { middle, label, whisker, dot } = rows[i];
        const special = open && ends.includes(subject);
        whisker.style.display = dot.style.display = open ? "" : "none";
        label.style.display = few || special ? "" : "none";
        label.classList.toggle("strong", special);
        const [low, high] = shareInterval(subject.hits, subject.m);
        put(whisker, { x1: x(low), x2: x(high) });
        dot.setAttribute("transform", `translate(${x(subject.coverage)},${middle})`);
      });
      const near = guess !== null && Math.abs(x(guess) - allAt) < 84;
      mark.style.display = guess === null ? "none" : "";
      mark.setAttribute("transform", `translate(${x(guess ?? 0)},0)`);
      allText.style.display = near ? "none" : "";
    };
  },
  describe(at, { open }) {
    if (!open)
      return `Coverage of all questions is ${percent(at.lac.coverage, 1)}. The subjects are hidden until you guess.`;
    return `Coverage by subject: ${at.subjects.map(({ name, coverage }) => `${name} ${percent(coverage, 1)}`).join(", ")}.`;
  },
};
