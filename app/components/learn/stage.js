// The right side of the lesson: the slider of alpha, the figure of the step and its text alternative.

import { say, shownAlpha } from "../shared/dom.js";
import { percent } from "../shared/formatting.js";
import { faredFigure, faredText } from "./ending.js";
import { FIGURES } from "./figures.js";
import { keyStep, withinAlphas } from "./tangle.js";
import { filled } from "./words.js";

export class Stage {
  constructor(find, hands) {
    this.find = find;
    this.hands = hands;
    this.range = find("#lesson-alpha");
    this.range.oninput = () => hands.move(Number(this.range.value));
    this.range.onchange = () => hands.release();
    this.range.onkeydown = (event) => this.key(event);
  }

  // The slider itself moves by one.
  key(event) {
    const step = keyStep(event);
    if (Math.abs(step) <= 1) return;
    event.preventDefault();
    this.hands.move(withinAlphas(this.hands.current() + step));
    this.hands.release();
  }

  // Draws what does not change while alpha moves. `step` is null at the end of the lesson.
  build({ step, steps, guesses, run, examples, kept, at }) {
    const host = this.find(".plot");
    const figure = step ? FIGURES[step.name] : null;
    this.figure = figure;
    this.steps = steps;
    host.replaceChildren();
    host.style.height = figure?.height ? `${figure.height(run)}px` : "auto";
    say(this.find("figcaption"), figure ? figure.caption : faredText(steps, guesses));
    if (figure) this.update = figure.build(host, { run, examples, kept, hands: this.hands, at });
    else {
      this.update = null;
      faredFigure(host, steps, guesses);
    }
  }

  // `state` is {open, guess}: whether the answer may be seen, and a guess in numbers or null.
  draw(at, state) {
    const alpha = shownAlpha(at.alpha);
    this.range.value = at.alpha;
    this.range.setAttribute("aria-valuetext", `${alpha}, target ${percent(1 - at.alpha / 1000, 1)}`);
    say(this.find(".alpha-now"), alpha);
    this.update?.(at, state);
    say(this.find(".alternative"), this.described(at, state));
  }

  described(at, state) {
    if (this.figure) return this.figure.describe(at, state);
    return this.steps.map(({ learned }) => filled(learned, at)).join(" ");
  }
}
