// The cost of five wrong ways to find the threshold. With hundreds of calibration questions most of them cost almost
// nothing, so this panel draws splits with its own small number of questions and says so.

import { THOUSAND, rank } from "../shared/sets.js";
import { draw, make, say, plainAlpha } from "../shared/dom.js";
import { DRAWS, FRAME_MS, STILL_MS, spread } from "./resampling.js";
import { PROCEDURES, procedureFits, redrawer } from "./redraw.js";
import { MARKS, canvas, linear, roundTicks, tall } from "../shared/svg.js";
import { counted } from "../shared/formatting.js";

// With 19 questions the right procedure is exactly on target at alpha 0.1: the 18th smallest score of 19 covers 18/20.
// There, "higher" and "summed again" are visible. At alpha 0.01 the rank is 20 of 19, so "clamped" and "linear" break
// the guarantee. No single alpha can show all five: "clamped" differs from the right procedure only if "higher" does
// not.
const BUG_QUESTIONS = 19;
const BUG_ALPHAS = [100, 10];
const BUG_ROW = 46;
const RIGHT = 0; // the place of the right procedure

// One row per procedure: the range of 95% of its splits, their mean, and the distance of the mean from the target.
function bugsFigure(host, label, rows, { ink, mark }, alpha, results) {
  const height = 30 + BUG_ROW * rows.length + 24;
  host.style.height = tall(height);
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

// A game: one bug is planted beside the right procedure, and a person says which description it has. All of them can be
// shown instead.
export class Bugs {
  constructor(find) {
    this.find = find;
    this.coverages = BUG_ALPHAS.map(() => PROCEDURES.map(() => new Float64Array(DRAWS)));
    this.showsAll = false;
    this.drawn = 0;
    this.frameMs = matchMedia("(prefers-reduced-motion: reduce)").matches ? STILL_MS : FRAME_MS;
    this.panel = find("[data-panel=bugs]");
    this.figures = BUG_ALPHAS.map((alpha) => find(`[data-plot=bugs-${String(alpha).padStart(3, "0")}]`));
    this.figures.forEach((figure, i) => {
      figure.dataset.alpha = BUG_ALPHAS[i];
      say(figure.querySelector("b"), `Mean coverage at alpha ${plainAlpha(BUG_ALPHAS[i])}`);
    });
    find(".draw-bugs").onclick = () => this.start();
    find(".another-bug").onclick = () => this.plant();
    find(".all-bugs").onclick = () => {
      this.showsAll = !this.showsAll;
      this.show();
    };
    this.panel.ontoggle = () => this.show();
    this.label();
  }

  // Earlier draws belong to another distribution if the score or the questions change. The slider's alpha plays no
  // part.
  take(subject) {
    const key = JSON.stringify(subject.key);
    if (key === this.key) return this.drawFigures(); // they may have another size
    this.key = key;
    this.stop();
    this.subject = subject;
    this.n = Math.min(BUG_QUESTIONS, Math.floor(subject.pool / 2));
    this.order = PROCEDURES.flatMap((procedure, i) => (procedureFits(procedure, subject.slot.name) ? [i] : []));
    const again = this.drawn > 0 && this.panel.open;
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
      this.plant();
    }
  }

  // Another bug than before, among those that can be seen on these splits.
  plant() {
    const others = this.order.filter((place) => place !== RIGHT && place !== this.planted);
    const seen = others.filter((place) => !this.alike(place, RIGHT));
    const bugs = seen.length ? seen : others;
    this.planted = bugs[Math.floor(Math.random() * bugs.length)];
    this.showsAll = false;
    this.show();
  }

  // With very few calibration questions, some procedures are the same.
  alike(place, other) {
    return this.coverages.every((own) => own[place].every((coverage, i) => coverage === own[other][i]));
  }

  answer(place) {
    const { name, shows } = PROCEDURES[place];
    const isRight = this.alike(place, this.planted);
    say(this.find(".bug-told"), isRight ? `Right, it is “${name}”. ${shows}` : `No. That is “${name}”. ${shows}`);
    for (const [i, button] of [...this.find(".suspects").querySelectorAll("button")].entries()) {
      const own = this.suspects[i];
      button.classList.toggle("found", isRight && own === place);
      if (own === place) say(button.querySelector(".mark"), isRight ? " ✓ right" : " ✗ no");
    }
  }

  label() {
    const button = this.find(".draw-bugs");
    button.disabled = Boolean(this.drawing);
    say(button, this.drawing ? "Drawing …" : `Draw ${DRAWS.toLocaleString("en")} splits`);
    button.hidden = this.drawn === DRAWS;
    say(this.find(".all-bugs"), this.showsAll ? "Back to the question" : "Show all");
    for (const own of [".another-bug", ".all-bugs"]) this.find(own).hidden = this.drawn < DRAWS;
  }

  show() {
    if (!this.subject || !this.panel.open || this.drawing) return;
    const { slot } = this.subject;
    const { n, drawn } = this;
    this.label();
    const isAsked = drawn && !this.showsAll;
    this.panel.classList.toggle("all-shown", Boolean(drawn && this.showsAll));
    this.figures.forEach((figure) => {
      figure.hidden = !drawn;
    });
    this.find(".suspects").hidden = !isAsked;
    say(this.find(".bug-told"), "");
    this.find(".bugs").replaceChildren(...(drawn && this.showsAll ? this.order.map(described) : []));
    const few = counted(n, "calibration question", "calibration questions");
    const alphas = BUG_ALPHAS.map(plainAlpha);
    if (!drawn) {
      return say(
        this.find(".bugged"),
        `Draw splits to see the coverage of each procedure. With many calibration questions, most bugs cost almost nothing, ` +
          `so these splits have only ${few}. They are shown at alpha ${alphas.join(" and ")}, wherever the slider is.`,
      );
    }
    const full = BUG_ALPHAS.filter((alpha) => rank(n, alpha) > n).map(plainAlpha);
    say(
      this.find(".bugged"),
      (isAsked ? "Which bug is planted here? " : "") +
        `Each procedure was tried on ${DRAWS.toLocaleString("en")} splits with ${slot.title} and ${few}. The mark is the mean coverage, and the line spans 95% of the splits.` +
        (full.length
          ? ` At alpha ${full.join(" and ")}, this is too few for a threshold, so the right procedure keeps every option.`
          : ""),
    );
    if (isAsked) this.listSuspects();
    this.drawFigures();
  }

  listSuspects() {
    this.suspects = this.order.filter((place) => place !== RIGHT);
    this.find(".suspects").replaceChildren(
      ...this.suspects.map((place) =>
        make(
          "li",
          make("button", { onclick: () => this.answer(place) }, PROCEDURES[place].does, make("span.mark", "")),
        ),
      ),
    );
  }

  drawFigures() {
    if (this.drawn < DRAWS || !this.panel.open) return;
    const { slot } = this.subject;
    const places = this.showsAll ? this.order : [RIGHT, this.planted];
    const rows = places.map((place) => ({ title: this.showsAll ? PROCEDURES[place].name : titleOf(place) }));
    this.figures.forEach((figure, at) => {
      bugsFigure(
        figure.querySelector(".plot"),
        `Mean coverage of the right procedure and of ${this.showsAll ? "the bugs" : "the planted bug"} at alpha ${plainAlpha(BUG_ALPHAS[at])}`,
        rows,
        slot,
        BUG_ALPHAS[at],
        places.map((place) => spread(this.coverages[at][place], DRAWS)),
      );
    });
  }
}

const titleOf = (place) => (place === RIGHT ? "The right procedure" : "The planted bug");

function described(place) {
  const { name, does, shows } = PROCEDURES[place];
  return make("li", make("b", name), `: ${does} ${shows}`);
}
