// The slider of alpha, in thousandths, and the field for a number beside it.

import { plainAlpha } from "./dom.js";
import { NumberDial } from "./number_dial.js";

// `move(alpha)` is called while alpha changes, and `released()` once it has been chosen.
export class AlphaControl extends NumberDial {
  constructor(find, { move, released }) {
    super(find, "alpha", {
      scale: 1000,
      least: 1,
      move,
      released,
      rule: () => "alpha must be between 0.001 and 0.999.",
    });
  }

  // Where the slider stands, without a word to the component.
  set(alpha) {
    this.range.value = alpha;
  }

  // `spoken` is what a screen reader says of the slider.
  paint(alpha, spoken) {
    this.write(plainAlpha(alpha));
    if (spoken) this.range.setAttribute("aria-valuetext", `${plainAlpha(alpha)}, ${spoken}`);
  }
}
