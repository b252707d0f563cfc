// The presenter view of a component: its section fills the window, the rest of the page is hidden, and keys do what a
// lecturer needs. Every component that can be presented has one (CONTRIBUTING.md, "Presentable pages").

import { make, say } from "./dom.js";
import { SINGLE_KEYS_CHANGED, isForSpace, isTypedInto, singleKeysWork } from "./single_keys.js";

// In pixels: the projector's window for which the views are laid out (in another one all grows or shrinks), the smallest
// text of a figure there, with a little more than 18 because widths are rounded, and the narrowest window that is filled.
const SCREEN = { wide: 1280, high: 720, text: 18.1, narrowest: 640 };
// In thousandths of alpha: how far an arrow moves it, with Shift, and how fast and between which values it plays.
const PLAY = { step: 10, fine: 1, perSecond: 30, lowest: 10, highest: 500 };
const HINT_FADES_AFTER_MS = 7000;
const REST_OF_THE_PAGE = "body, body * { visibility: hidden !important; overflow: hidden; }";
const TURNS = { ArrowUp: 1, ArrowRight: 1, PageDown: 1, ArrowDown: -1, ArrowLeft: -1, PageUp: -1 };
// Elements that use arrow keys themselves.
const OF_ARROWS = "[type=range], [type=radio], [role=slider]";

// What a key asks for: [name, value], or null if it is not for the presenter view. `turns` says whether the page has
// steps or questions to turn, and `on` whether it is presented.
export function presenterCommand(event, target, { on, turns }) {
  const { key } = event;
  if (event.altKey || event.ctrlKey || event.metaKey || event.isComposing || isTypedInto(target)) return null;
  if (key.toLowerCase() === "p") return event.repeat ? null : ["present", !on];
  if (!on) return null;
  if (key === "Escape") return ["present", false];
  if (["1", "2", "3"].includes(key)) return ["shown", key];
  if ([" ", "Enter"].includes(key)) {
    if (isForSpace(target)) return null;
    return event.repeat ? null : [key === " " ? "play" : "answer", true];
  }
  const direction = TURNS[key];
  if (!direction || target.matches(OF_ARROWS)) return null;
  const alphaKey = !turns || key === "ArrowUp" || key === "ArrowDown";
  return alphaKey ? ["alpha", direction * (event.shiftKey ? PLAY.fine : PLAY.step)] : ["turn", direction];
}

// The next alpha of a play that goes up and down: {alpha, direction} after `by` thousandths.
export function playedAlpha({ alpha, direction }, by) {
  const next = alpha + direction * by;
  if (next >= PLAY.highest) return { alpha: Math.max(PLAY.highest, Math.min(alpha, next)), direction: -1 };
  if (next <= PLAY.lowest) return { alpha: Math.min(PLAY.lowest, Math.max(alpha, next)), direction: 1 };
  return { alpha: next, direction };
}

export class Presenter {
  // `section` is what fills the window. `page` is what its component lends:
  //   name        what the switch is called, unless "Present"
  //   place       where the switch stands, if the component has it: else the page around it says present
  //   smallest    pixels of the smallest text in the component's figures
  //   view()      {present, shown} of the component's view, as in the link
  //   change({present} or {shown})     takes the value into the view and reports it
  //   alpha()     in thousandths, or null where nothing moves with it
  //   move(alpha), release()           as those of AlphaControl
  //   layout()    draws the component again at the size that it has now
  //   scores()    the titles of the two scores behind 1 and 2; empty where there is no choice
  //   about()     whose figures they are: the model, the task and the scores
  //   caveats()   if the figures are those of a run: what a reader of them must know, as text
  //   turn(direction), things          if the page has steps or questions to turn: what they are called
  //   hidden(), answer()               if Enter shows an answer: whether it is hidden, and what shows it
  constructor(section, page) {
    this.section = section;
    this.page = page;
    this.on = false;
    this.sheet = new CSSStyleSheet();
    this.sheet.replaceSync(REST_OF_THE_PAGE);
    this.enter = this.button(page.name ?? "Present", "Fills the window with these figures, in large type.", true);
    this.enter.classList.add("to-present");
    page.place?.append(this.enter);
    this.foot = make("div.presenter-foot");
    this.foot.hidden = true;
    this.caveats = make("p.presenter-caveats");
    this.about = make("p.presenter-about");
    this.keys = make("p.presenter-keys");
    this.leave = this.button("Leave", "Back to the page.", false);
    this.foot.append(this.caveats, this.about, this.keys, this.leave);
    section.append(this.foot);
    this.pressed = (event) => this.key(event);
    this.sized = () => this.page.view()?.present === "1" && this.show();
    this.wake = () => this.on && this.hint();
    this.named = () => this.nameKeys();
    this.nameKeys();
    // Before the page's own keys, which then do not hear of it, and after single keys were held back (shared/shortcuts).
    document.addEventListener("keydown", this.pressed, true);
    window.addEventListener("resize", this.sized);
    window.addEventListener(SINGLE_KEYS_CHANGED, this.named);
    section.addEventListener("pointermove", this.wake);
    section.addEventListener("pointerdown", () => this.stop());
  }

  button(text, hover, present) {
    const button = make("button.small", text);
    button.dataset.hover = hover;
    button.onclick = () => this.change({ present });
    return button;
  }

  // The key is shown where it works.
  nameKeys() {
    for (const button of [this.enter, this.leave]) {
      const { hover } = button.dataset;
      button.title = singleKeysWork() ? `${hover} Key: p` : hover;
      if (singleKeysWork()) button.setAttribute("aria-keyshortcuts", "p");
      else button.removeAttribute("aria-keyshortcuts");
    }
  }

  key(event) {
    const [target] = event.composedPath();
    if (!(target instanceof Element)) return;
    const command = presenterCommand(event, target, { on: this.on, turns: Boolean(this.turns) });
    if (!command || this.act(...command) === false) {
      if (this.on) this.wake();
      return;
    }
    event.preventDefault();
    event.stopImmediatePropagation();
  }

  // Returns false if the page has no use for the key.
  act(name, value) {
    const { page } = this;
    if (name === "present") return value && !this.fits ? false : this.change({ present: value });
    if (name === "shown") return page.scores().length ? this.change({ shown: value }) : false;
    if (name === "answer") return page.hidden?.() ? page.answer() : false;
    if (name === "turn") {
      this.stop();
      return page.turn(value);
    }
    if (page.alpha() === null) return false;
    if (name === "play") return this.play();
    this.stop();
    return this.step(value);
  }

  // A phone's window has no room for what is laid out for a projector.
  get fits() {
    return window.innerWidth >= SCREEN.narrowest;
  }

  get turns() {
    return this.page.things?.();
  }

  step(by) {
    this.page.move(Math.max(1, Math.min(999, this.page.alpha() + by)));
    this.page.release();
  }

  // ---- alpha plays

  play() {
    if (this.frame) return this.stop();
    this.course = { alpha: this.page.alpha(), direction: this.course?.direction ?? 1 };
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) {
      this.course = playedAlpha(this.course, PLAY.step);
      this.page.move(this.course.alpha);
      return this.page.release();
    }
    let last = performance.now();
    const frame = (now) => {
      this.course = playedAlpha(this.course, (PLAY.perSecond * (now - last)) / 1000);
      last = now;
      this.page.move(Math.round(this.course.alpha));
      this.frame = requestAnimationFrame(frame);
    };
    this.frame = requestAnimationFrame(frame);
  }

  stop() {
    if (!this.frame) return;
    cancelAnimationFrame(this.frame);
    this.frame = null;
    this.page.release();
  }

  // ---- in and out

  change(values) {
    const { present, ...others } = values;
    this.stop();
    this.page.change(present === undefined ? others : { present: present ? "1" : "0" });
    this.show();
  }

  // Follows the view. The component calls it after each change of the view, its data or its step.
  show() {
    const { present, shown } = this.page.view();
    const wanted = present === "1" && this.fits;
    if (this.on && !wanted) this.close();
    this.section.dataset.shown = wanted ? shown : "";
    if (!wanted) return;
    if (!this.on) {
      for (const problem of this.section.querySelectorAll(".problem")) say(problem, ""); // of what was typed before
      document.adoptedStyleSheets = [...document.adoptedStyleSheets, this.sheet];
      this.section.classList.add("presented");
      this.section.tabIndex = -1;
      this.section.focus({ preventScroll: true });
    }
    this.on = true;
    this.foot.hidden = false;
    const caveats = this.page.caveats?.() ?? "";
    say(this.caveats, caveats);
    this.caveats.title = caveats; // it shows two lines
    this.foot.classList.toggle("with-caveats", Boolean(caveats));
    this.lay();
    this.hint();
  }

  // Gives the page back. `gone` where the component itself goes.
  close({ gone = false } = {}) {
    if (gone) {
      document.removeEventListener("keydown", this.pressed, true);
      window.removeEventListener("resize", this.sized);
      window.removeEventListener(SINGLE_KEYS_CHANGED, this.named);
      cancelAnimationFrame(this.frame);
    }
    clearTimeout(this.fading);
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((sheet) => sheet !== this.sheet);
    if (!this.on) return;
    this.on = false;
    this.foot.hidden = true;
    this.section.classList.remove("presented");
    this.section.removeAttribute("tabindex");
    for (const name of ["--u", "--figure-zoom"]) this.section.style.removeProperty(name);
    if (gone) return;
    this.page.layout();
    (this.page.place ? this.enter : this.section.querySelector("h2")).focus({ preventScroll: true });
  }

  // A unit is a pixel of the projector's window; figures are drawn larger by the zoom (svg.js).
  lay() {
    const unit = Math.min(window.innerWidth / SCREEN.wide, window.innerHeight / SCREEN.high);
    const zoom = Math.ceil((1000 * unit * SCREEN.text) / this.page.smallest) / 1000;
    this.section.style.setProperty("--u", `${unit}px`);
    this.section.style.setProperty("--figure-zoom", zoom);
    say(this.about, this.page.about?.() ?? "");
    this.page.layout();
  }

  // The keys, said in a line that fades.
  hint() {
    const { page, turns } = this;
    const moves = page.alpha() !== null;
    const single = singleKeysWork();
    const [first, second] = single ? page.scores() : [];
    const hints = [
      turns ? `← → ${turns}` : "",
      moves ? `${turns ? "↑ ↓" : "← →"} alpha` : "",
      moves && single ? "space plays" : "",
      page.hidden?.() ? "Enter answer" : "",
      first ? `1 ${first}, 2 ${second}, 3 both` : "",
      single ? "p or Esc leaves" : "Esc leaves",
    ];
    say(this.keys, hints.filter(Boolean).join(" · "));
    this.foot.classList.remove("faded");
    clearTimeout(this.fading);
    this.fading = setTimeout(() => this.foot.classList.add("faded"), HINT_FADES_AFTER_MS);
  }
}

// Writes an element's text as large as fits into it: the first of `sizes` (in units) with which nothing is cut off.
export function fitText(element, sizes) {
  for (const size of sizes) {
    element.style.fontSize = `calc(${size} * var(--u))`;
    if (element.scrollHeight <= element.clientHeight + 1) return;
  }
}
