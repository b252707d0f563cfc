// A slider of a whole number, and the field for a number beside it.

import { say } from "./dom.js";

const PAGE = 10;

// `scale` is how many steps make 1 in the field. `move(value)` is called while the slider moves, `released()` once it has
// been chosen, and `rule(most)` says what the field takes.
export class NumberDial {
  constructor(find, name, { scale = 1, least = 0, move, released, rule }) {
    this.range = find(`#${name}`);
    this.number = find(`#${name}-number`);
    this.problem = find(`#${name}-problem`);
    Object.assign(this, { scale, least, move, released, rule });
    this.range.oninput = () => this.moved();
    this.range.onchange = released;
    this.range.onkeydown = (event) => {
      const step = { PageUp: PAGE, PageDown: -PAGE }[event.key];
      if (!step) return;
      event.preventDefault();
      this.jump(Number(this.range.value) + step);
      released();
    };
    this.number.oninput = () => (this.typing = true);
    this.number.onblur = () => (this.typing = false);
    this.number.onchange = () => this.typed();
  }

  get most() {
    return Number(this.range.max);
  }

  // Write into the field, but not over what a person is typing when the page is drawn again.
  write(text) {
    if (!this.typing) this.number.value = text;
  }

  // The ends of the slider, where it stands, and what a screen reader says of it.
  show(value, spoken, most = this.most) {
    if (most !== this.most) this.range.max = this.number.max = most / this.scale;
    this.range.max = most;
    this.range.value = value;
    this.write(String(value / this.scale));
    this.range.setAttribute("aria-valuetext", spoken);
  }

  jump(value) {
    this.range.value = value;
    this.moved();
  }

  moved() {
    say(this.problem, "");
    this.move(Number(this.range.value));
  }

  typed() {
    this.typing = false;
    const value = Math.round(Number(this.number.value) * this.scale);
    if (this.number.value.trim() === "" || !(value >= this.least && value <= this.most)) {
      const stays = String(Number(this.range.value) / this.scale);
      say(this.problem, `${this.rule(this.most)} It stays at ${stays}.`);
      this.number.value = stays;
      return;
    }
    this.number.value = String(value / this.scale);
    this.jump(value);
    this.released();
  }
}
