// The right side of the lesson: the slider of alpha, the figure of the step and its text alternative.

import { say, shownAlpha } from "../shared/dom.js";
import { percent } from "../shared/formatting.js";
import { tall } from "../shared/svg.js";
import { fared, faredText } from "./ending.js";
import { FIGURES, captionOf, describedBy } from "./figures.js";
import { keyStep, withinAlphas } from "./tangle.js";
import { filled } from "./words.js";

// The run and the questions that a figure shows.
function sourceText({ name, n, m, ...run }, questions) {
  const [calibration, test] = [n, m].map((count) => count.toLocaleString("en"));
  const sentences = {
    calibration: `${calibration} calibration questions`,
    test: `${test} test questions`,
    both: `${calibration} calibration questions and ${test} test questions`,
  };
  const which = typeof questions === "function" ? questions(run) : sentences[questions ?? "both"];
  return `Data: ${[name, which].filter(Boolean).join(", ")}.`;
}

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

  // The height that the presenter view has for a figure, below its caption.
  room(host) {
    return host.parentElement.clientHeight - this.find("figcaption").offsetHeight;
  }

  // Whether anything in the figure moves with alpha.
  follows() {
    return this.figure !== null && this.figure.follows !== false && this.figure.alpha !== false;
  }

  // Draws what does not change while alpha moves. `step` is null at the end of the lesson. `shown` names the scores that
  // are presented (app/state/presented.py), or is "none" outside the presenter view.
  build({ step, steps, guesses, run, examples, kept, at, shown, open }) {
    const host = this.find(".plot");
    const figure = step ? FIGURES[step.name] : null;
    this.figure = figure;
    this.find(".dial").hidden = figure?.alpha === false;
    this.steps = steps;
    host.replaceChildren();
    host.style.setProperty("--figure-room", "9999px");
    if (shown !== "none") host.style.setProperty("--figure-room", `${this.room(host)}px`);
    host.style.height = figure?.height ? tall(figure.height(run)) : "auto";
    say(this.find(".source"), sourceText(run, figure?.questions ?? run.questions));
    if (!figure) say(this.find("figcaption"), faredText(steps, guesses));
    if (figure) this.update = figure.build(host, { run, examples, kept, hands: this.hands, at, shown, open });
    else {
      this.update = null;
      fared(host, steps, guesses, this.hands.go);
    }
  }

  // `state` is {open, guess}: whether the answer may be seen, and a guess in numbers or null.
  draw(at, state) {
    const alpha = shownAlpha(at.alpha);
    this.range.value = at.alpha;
    this.range.setAttribute("aria-valuetext", `${alpha}, target ${percent(1 - at.alpha / 1000, 1)}`);
    say(this.find(".alpha-now"), alpha);
    if (this.figure) say(this.find("figcaption"), captionOf(this.figure, state));
    this.update?.(at, state);
    say(this.find(".alternative"), this.described(at, state));
  }

  described(at, state) {
    if (this.figure) return describedBy(this.figure, at, state);
    return this.steps.map(({ learned }) => filled(learned, at)).join(" ");
  }
}
