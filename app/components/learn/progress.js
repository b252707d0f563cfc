// How far the lesson is: "Step 3 of 8", which opens a list of the steps, and a line below it. The buttons below the text
// and the arrow keys go back and on.

import { make, say } from "../shared/dom.js";

export class Progress {
  // `go(place)` opens a step, counted from 1; the end comes after the last. `again()` starts from the beginning.
  constructor(root, find, { go, again }) {
    this.root = root;
    this.find = find;
    this.go = go;
    find(".back").onclick = () => go(this.place - 1);
    find(".on").onclick = () => (this.place > this.steps.length ? again() : go(this.place + 1));
    this.list = find(".steps");
    this.list.onfocusout = ({ relatedTarget }) => {
      if (!this.list.contains(relatedTarget)) this.list.open = false;
    };
    this.list.onkeydown = (event) => {
      if (event.key !== "Escape" || !this.list.open) return;
      this.list.open = false;
      find(".count").focus();
    };
    this.pressed = (event) => this.key(event);
    document.addEventListener("keydown", this.pressed);
  }

  close() {
    document.removeEventListener("keydown", this.pressed);
  }

  load(steps) {
    this.steps = steps;
    this.buttons = steps.map(({ title }, i) => {
      return make("button", { onclick: () => this.go(i + 1) }, `${i + 1}. ${title}`);
    });
    const items = this.buttons.map((button) => {
      return make("li", button);
    });
    this.find(".track").replaceChildren(...items);
  }

  toTop() {
    (document.querySelector("[data-testid=stMain]") ?? window).scrollTo({ top: 0, behavior: "instant" });
  }

  show(place) {
    const { steps } = this;
    const last = steps.length;
    this.place = place;
    this.list.open = false;
    say(this.find(".count"), place > last ? "The end" : `Step ${place} of ${last}`);
    this.find(".done").style.width = `${(100 * Math.min(place, last)) / last}%`;
    this.find(".back").hidden = place === 1;
    say(this.find(".on"), place > last ? "Start again" : place === last ? "Finish" : `Next: ${steps[place].title}`);
    this.buttons.forEach((button, i) => {
      if (i + 1 === place) button.setAttribute("aria-current", "step");
      else button.removeAttribute("aria-current");
    });
  }

  // Arrow keys turn the pages, except where they move a slider, a caret or a choice.
  key(event) {
    const [target] = event.composedPath();
    const turn = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const busy = event.altKey || event.ctrlKey || event.metaKey || event.shiftKey || event.defaultPrevented;
    if (!turn || busy || !(this.steps?.length > 1)) return; // an embed has one step
    if (target !== document.body && !this.root.contains(target)) return;
    if (target.matches("input, select, textarea, [role=slider]")) return;
    event.preventDefault();
    this.go(this.place + turn);
  }
}
