// The slim bar with the steps, "3 of 8", and the buttons that go back and on. Arrow keys do the same.

import { make, say } from "../shared/dom.js";

export class Progress {
  // `go(place)` opens a step, counted from 1; the end comes after the last. `again()` starts from the beginning.
  constructor(root, find, { go, again }) {
    this.root = root;
    this.find = find;
    this.go = go;
    for (const name of [".go-back", ".back"]) find(name).onclick = () => go(this.place - 1);
    for (const name of [".go-on", ".on"])
      find(name).onclick = () => (this.place > this.steps.length ? again() : go(this.place + 1));
    this.pressed = (event) => this.key(event);
    document.addEventListener("keydown", this.pressed);
  }

  close() {
    document.removeEventListener("keydown", this.pressed);
  }

  load(steps) {
    this.steps = steps;
    this.buttons = steps.map(({ title }, i) => {
      return make("button", { "aria-label": `Step ${i + 1}: ${title}`, onclick: () => this.go(i + 1) });
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
    say(this.find(".count"), place > last ? "The end" : `${place} of ${last}`);
    for (const name of [".go-back", ".back"]) this.find(name).disabled = place === 1;
    this.find(".go-on").disabled = place > last;
    say(this.find(".on"), place > last ? "Start again" : place === last ? "Finish" : `Next: ${steps[place].title}`);
    this.buttons.forEach((button, i) => {
      button.classList.toggle("done", i + 1 <= place);
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
