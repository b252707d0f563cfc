// The cost of five wrong ways to find the threshold. With hundreds of calibration questions most of them cost almost
// nothing, so this panel draws splits with its own small number of questions and says so.

import { THOUSAND, rank } from "../shared/sets.js";
import { draw, make, say, plainAlpha } from "../shared/dom.js";
import { DRAWS, FRAME_MS, STILL_MS, spread } from "./resampling.js";
import { PROCEDURES, procedureFits, redrawer } from "./redraw.js";
import { MARKS, canvas, linear, roundTicks } from "../shared/svg.js";
import { counted } from "../shared/formatting.js";

// With 19 questions the right procedure is exactly on target at alpha 0.1: the 18th smallest score of 19 covers 18/20.
// There, "higher" and "summed again" are visible. At alpha 0.01 the rank is 20 of 19, so "clamped" and "linear" break
// the guarantee. No single alpha can show all five: "clamped" differs from the right procedure only if "higher" does
// not.
const BUG_QUESTIONS = 19;
const BUG_ALPHAS = [100, 10];
const BUG_ROW = 46;

// One row per procedure: the range of 95% of its splits, their mean, and the distance of the mean from the target.
function bugsFigure(host, label, rows, { ink, mark }, alpha, results) {
  const height = 30 + BUG_ROW * rows.length + 24;
  host.style.height = `${height}px`;
  const { svg, width } = canvas(host, label, { height });
  const goal = 1 - alpha / THOUSAND;
  const low = Math.min(goal, ...results.map((result) => result.low));
  const high = Math.max(goal, ...results.map((result) => result.high));
  const pad = Math.max(0.005, (high - low) * 0.08);
  const { ticks, digits } = roundTicks(Math.max(0, low - pad), Math.min(1, high + pad), 6);
  const wide = width > 620;
  const start = wide ? Math.min(330, width * 0.4) : 8;
  const x = linear(Math.max(0, low - pad), Math.min(1, high + pad), start, width - 110);
  const end = 20 + BUG_ROW * rows.length;
  for (const tick of ticks) {
    draw(svg, "line", { class: "grid faint", x1: x(tick), x2: x(tick), y1: 14, y2: end });
    draw(
      svg,
      "text",
      { x: x(tick), y: end + 16, "text-anchor": "middle" },
      `${(100 * tick).toFixed(Math.max(0, digits - 2))}%`,
    );
  }
  draw(svg, "line", { class: "target", x1: x(goal), x2: x(goal), y1: 6, y2: end });
  rows.forEach(({ title }, i) => {
    const result = results[i];
    const y = 20 + BUG_ROW * (i + 0.5);
    draw(svg, "text", { class: "plain", x: 0, y: wide ? y + 4 : y - 10 }, title);
    draw(svg, "line", { class: `whisker ${ink}`, x1: x(result.low), x2: x(result.high), y1: y, y2: y });
    draw(svg, "path", { class: `dot fill-${ink}`, d: MARKS[mark], transform: `translate(${x(result.mean)},${y})` });
    const off = 100 * (result.mean - goal);
    draw(
      svg,
      "text",
      { class: "strong", x: width, y: y + 4, "text-anchor": "end" },
      `${off < 0 ? "−" : "+"}${Math.abs(off).toFixed(2)} points`,
    );
  });
}

export class Bugs {
  constructor(find) {
    this.find = find;
    this.coverages = BUG_ALPHAS.map(() => PROCEDURES.map(() => new Float64Array(DRAWS)));
    this.quiz = false;
    this.drawn = 0;
    this.frameMs = matchMedia("(prefers-reduced-motion: reduce)").matches ? STILL_MS : FRAME_MS;
    this.figures = BUG_ALPHAS.map((alpha) => find(`[data-plot=bugs-${String(alpha).padStart(3, "0")}]`));
    this.figures.forEach((figure, i) => {
      figure.dataset.alpha = BUG_ALPHAS[i];
      say(figure.querySelector("b"), `Mean coverage at alpha ${plainAlpha(BUG_ALPHAS[i])}`);
    });
    find(".draw-bugs").onclick = () => this.start();
    find(".quiz").onclick = () => this.hideNames(!this.quiz);
    find("[data-panel=bugs]").ontoggle = () => this.show();
    this.label();
  }

  // Earlier draws belong to another distribution if the score or the questions change. The slider's alpha plays no
  // part.
  take(subject) {
    const key = JSON.stringify(subject.key);
    if (key === this.key) return;
    this.key = key;
    this.stop();
    this.subject = subject;
    this.n = Math.min(BUG_QUESTIONS, Math.floor(subject.pool / 2));
    this.order = PROCEDURES.flatMap((procedure, i) => (procedureFits(procedure, subject.slot.name) ? [i] : []));
    if (this.quiz) this.shuffle();
    const again = this.drawn > 0 && this.find("[data-panel=bugs]").open;
    this.drawn = 0;
    if (again) this.start();
    else this.show();
  }

  start() {
    this.drawn = 0;
    this.drawing = redrawer(this.subject.prepared, { n: this.n });
    this.label();
    this.step();
  }

  stop() {
    cancelAnimationFrame(this.frame);
    this.drawing = null;
    this.label();
  }

  step() {
    const until = performance.now() + this.frameMs;
    const names = PROCEDURES.map(({ name }) => name);
    do {
      BUG_ALPHAS.forEach((alpha, at) => {
        this.drawing.draw(this.drawn, names, alpha).forEach((coverage, i) => {
          this.coverages[at][i][this.drawn] = coverage;
        });
      });
      this.drawn++;
    } while (this.drawn < DRAWS && performance.now() < until);
    if (this.drawn < DRAWS) this.frame = requestAnimationFrame(() => this.step());
    else {
      this.stop();
      this.show();
    }
  }

  shuffle() {
    for (let i = this.order.length - 1; i > 0; i--) {
      const j = Math.floor(Math.random() * (i + 1));
      [this.order[i], this.order[j]] = [this.order[j], this.order[i]];
    }
  }

  hideNames(quiz) {
    this.quiz = quiz;
    if (quiz) this.shuffle();
    else this.order.sort((a, b) => a - b);
    this.label();
    this.show();
  }

  label() {
    const button = this.find(".draw-bugs");
    button.disabled = Boolean(this.drawing);
    say(button, this.drawing ? "Drawing …" : `Draw ${DRAWS.toLocaleString("en")} splits`);
    say(this.find(".quiz"), this.quiz ? "Show the names" : "Hide the names");
  }

  show() {
    if (!this.subject || !this.find("[data-panel=bugs]").open || this.drawing) return;
    const { slot } = this.subject;
    const { n } = this;
    const list = this.find(".bugs");
    const few = counted(n, "calibration question", "calibration questions");
    const alphas = BUG_ALPHAS.map(plainAlpha);
    this.figures.forEach((figure) => {
      figure.hidden = !this.drawn;
    });
    if (!this.drawn) {
      list.replaceChildren();
      return say(
        this.find(".bugged"),
        `Draw splits to see the coverage of each procedure. With many calibration questions, most bugs cost almost nothing, ` +
          `so these splits have only ${few}. They are shown at alpha ${alphas.join(" and ")}, wherever the slider is.`,
      );
    }
    const rows = this.order.map((place, i) => ({ title: this.quiz ? `Procedure ${i + 1}` : PROCEDURES[place].name }));
    this.figures.forEach((figure, at) => {
      bugsFigure(
        figure.querySelector(".plot"),
        `Mean coverage of the right procedure and of the bugs at alpha ${alphas[at]}`,
        rows,
        slot,
        BUG_ALPHAS[at],
        this.order.map((place) => spread(this.coverages[at][place], DRAWS)),
      );
    });
    const full = BUG_ALPHAS.filter((alpha) => rank(n, alpha) > n).map(plainAlpha);
    say(
      this.find(".bugged"),
      `Each procedure was tried on ${DRAWS.toLocaleString("en")} splits with ${slot.title} and ${few}. The mark is the mean coverage, and the line spans 95% of the splits.` +
        (full.length
          ? ` At alpha ${full.join(" and ")}, this is too few for a threshold, so the right procedure keeps every option.`
          : "") +
        (this.quiz
          ? " Which one is right?"
          : " Only a threshold that has seen the test questions has almost no spread."),
    );
    list.replaceChildren(
      ...(this.quiz
        ? []
        : this.order.map((place) => make("li", make("b", PROCEDURES[place].name), `: ${PROCEDURES[place].sentence}`))),
    );
  }
}
