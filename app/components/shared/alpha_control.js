// The slider of alpha, in thousandths, and the field for a number beside it.

import { say, plainAlpha } from "./dom.js";

const PAGE_STEP = 10;

// `move(alpha)` is called while alpha changes, and `released()` once it has been chosen.
export class AlphaControl {
  constructor(find, { move, released }) {
    this.range = find("#alpha");
    this.number = find("#alpha-number");
    this.problem = find("#alpha-problem");
    this.move = move;
    this.released = released;
    this.range.oninput = () => this.moved();
    this.range.onchange = released;
    this.range.onkeydown = (event) => {
      const step = { PageUp: PAGE_STEP, PageDown: -PAGE_STEP }[event.key];
      if (!step) return;
      event.preventDefault();
      this.jump(Number(this.range.value) + step);
      released();
    };
    this.number.onchange = () => this.typed();
  }

  // Where the slider stands, without a word to the component.
  set(alpha) {
    this.range.value = alpha;
  }

  // The slider keeps alpha within its ends.
  jump(alpha) {
    this.set(alpha);
    this.moved();
  }

  moved() {
    say(this.problem, "");
    this.move(Number(this.range.value));
  }

  typed() {
    const thousandths = Math.round(Number(this.number.value) * 1000);
    const stays = plainAlpha(Number(this.range.value));
    if (!(thousandths >= 1 && thousandths <= 999)) {
      say(this.problem, `alpha must be between 0.001 and 0.999. It stays at ${stays}.`);
      this.number.value = stays;
      return;
    }
    this.number.value = plainAlpha(thousandths);
    this.jump(thousandths);
    this.released();
  }

  // `spoken` is what a screen reader says of the slider.
  paint(alpha, spoken) {
    this.number.value = plainAlpha(alpha);
    if (spoken) this.range.setAttribute("aria-valuetext", `${plainAlpha(alpha)}, ${spoken}`);
  }
}
