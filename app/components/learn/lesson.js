// The lesson. Data comes in once, and the browser computes every figure in text and picture while alpha moves. Only
// the step, a released alpha and the guesses are sent to Python.

import { say, shownAlpha } from "../shared/dom.js";
import { learnedList, onwards } from "./ending.js";
import { At, TRUTHS, lessonRun } from "./facts.js";
import { exampleQuestions } from "./figures/card.js";
import { GuessBox, askable, feedback } from "./guess.js";
import { Progress } from "./progress.js";
import { Stage } from "./stage.js";
import { Words } from "./words.js";

const REPORT_AFTER_MS = 60;
const SPEAK_AFTER_MS = 500;
const MEANINGS = ["lac", "aps", "truth", "in", "out", "guarantee"];
const lessons = new WeakMap();

class Lesson {
  constructor(root) {
    this.root = root;
    this.host = root.host ?? root;
    this.find = (selector) => root.querySelector(selector);
    this.section = this.find(".lesson");
    this.hands = {
      move: (alpha) => this.move(alpha),
      release: () => this.released(),
      current: () => this.alpha,
    };
    this.words = new Words(this.hands);
    this.stage = new Stage(this.find, this.hands);
    this.box = new GuessBox(this.find(".guess"), {
      onMove: (value) => this.think(value),
      onGuess: (value) => this.guessed(value),
    });
    this.progress = new Progress(root, this.find, { go: (place) => this.go(place), again: () => this.again() });
    this.watch = new ResizeObserver(() => this.resized());
    this.watch.observe(this.section);
  }

  load(data) {
    this.steps = data.steps;
    this.links = data.links;
    this.run = lessonRun(data);
    this.examples = exampleQuestions(data, this.run);
    this.kept = {};
    say(this.find(".source"), `Data: ${data.name}, ${this.run.m.toLocaleString("en")} test questions.`);
    this.section.classList.remove("fresh");
    this.progress.load(data.steps);
  }

  seed({ step, alpha, guesses }) {
    this.alpha = alpha;
    this.guesses = { ...guesses };
    const moved = this.place !== undefined && this.place !== step;
    this.place = Math.min(step, this.steps.length + 1);
    this.show();
    if (moved) this.toTop();
  }

  get step() {
    return this.steps[this.place - 1] ?? null; // null at the end
  }

  // ---- input

  again() {
    this.guesses = {};
    this.kept = {};
    this.go(1);
  }

  go(place) {
    if (place < 1 || place > this.steps.length + 1) return;
    this.place = place;
    this.show();
    this.toTop();
    this.find("h2").focus({ preventScroll: true });
    this.report();
  }

  toTop() {
    document.querySelector("[data-testid=stMain]")?.scrollTo({ top: 0, behavior: "instant" });
  }

  move(alpha) {
    this.alpha = alpha;
    this.frame ??= requestAnimationFrame(() => this.paint());
  }

  released() {
    this.paint();
    this.report();
    this.speak();
  }

  think(value) {
    this.thought = value;
    if (this.at) this.draw();
  }

  guessed(value) {
    const { guess, name } = this.step;
    const made = { value, truth: TRUTHS[guess.of](this.at), alpha: this.alpha, k: this.run.k };
    this.guesses[name] = made;
    this.showGuess();
    this.paint();
    this.find(".told").focus({ preventScroll: true });
    this.announce(feedback(guess, made));
    this.report();
  }

  report() {
    clearTimeout(this.reporting);
    this.reporting = setTimeout(
      () => this.send("view", { step: this.place, alpha: this.alpha, guesses: this.guesses }),
      REPORT_AFTER_MS,
    );
  }

  // ---- a step

  show() {
    cancelAnimationFrame(this.frame);
    this.frame = null;
    this.at = null;
    this.thought = null;
    const { step } = this;
    this.words.clear();
    this.section.dataset.step = step?.name ?? "end";
    this.progress.show(this.place);
    say(this.find("h2"), step ? step.title : "What you have learned");
    if (step) this.showStep(step);
    else this.showEnd();
    this.build();
  }

  showStep(step) {
    this.words.paragraphs(this.find(".text"), step.text);
    this.words.paragraphs(this.find(".answer"), this.asked(step) ? step.answer : step.without);
    this.showGuess();
  }

  asked({ guess }) {
    return askable(guess, TRUTHS[guess.of](new At(this.run, this.alpha)));
  }

  // The question, or what the guess was worth and the answer.
  showGuess() {
    const { step } = this;
    const made = this.guesses[step.name];
    if (made) this.box.tell(step.guess, made);
    else if (this.asked(step))
      this.box.ask(step.guess, this.run.k, (host) => this.words.line(host, step.guess.question));
    else this.box.hide();
    this.open = Boolean(made) || !this.asked(step);
    this.find(".answer").hidden = !this.open;
  }

  showEnd() {
    const text = this.find(".text");
    text.replaceChildren(
      learnedList(this.steps, this.words),
      onwards(this.links, (name) => this.leave(name)),
    );
    this.box.hide();
    this.find(".answer").hidden = true;
    this.open = true;
  }

  // The view is sent with the wish: a separate report would come back to this page after the other one has opened.
  leave(name) {
    clearTimeout(this.reporting);
    this.trigger("leave", { step: this.place, alpha: this.alpha, guesses: this.guesses, page: name });
  }

  // ---- drawing

  themed() {
    const colors = getComputedStyle(this.host).getPropertyValue("--st-chart-categorical-colors").split(",");
    MEANINGS.forEach((meaning, i) => this.section.style.setProperty(`--${meaning}`, (colors[i] ?? "").trim()));
  }

  resized() {
    const width = this.section.clientWidth;
    if (this.steps && width !== this.width) this.build();
  }

  build() {
    this.width = this.section.clientWidth;
    this.at = new At(this.run, this.alpha);
    const kept = (this.kept[this.step?.name] ??= {});
    this.stage.build({ ...this, step: this.step, kept });
    this.paint();
  }

  paint() {
    cancelAnimationFrame(this.frame);
    this.frame = null;
    if (this.at.alpha !== this.alpha) this.at = new At(this.run, this.alpha);
    this.words.update(this.at);
    this.draw();
  }

  draw() {
    const made = this.step && this.guesses[this.step.name];
    const value = made ? made.value : this.thought;
    this.stage.draw(this.at, { open: this.open, guess: typeof value === "number" ? value : null });
  }

  // What a screen reader is told once alpha rests.
  speak() {
    clearTimeout(this.speaking);
    this.speaking = setTimeout(
      () => this.announce(`At alpha ${shownAlpha(this.alpha)}. ${this.find(".alternative").textContent}`),
      SPEAK_AFTER_MS,
    );
  }

  announce(text) {
    say(this.find(".announced"), text);
  }

  close() {
    clearTimeout(this.reporting);
    clearTimeout(this.speaking);
    cancelAnimationFrame(this.frame);
    this.progress.close();
    this.watch.disconnect();
    lessons.delete(this.root);
  }
}

// Streamlit calls this when it mounts the component, and again whenever the data or the theme changes.
export default function ({ data, parentElement, setStateValue, setTriggerValue }) {
  const lesson = lessons.get(parentElement) ?? new Lesson(parentElement);
  lessons.set(parentElement, lesson);
  lesson.send = setStateValue;
  lesson.trigger = setTriggerValue;
  lesson.themed();
  const isNew = lesson.version !== data.version;
  if (isNew) lesson.load(data);
  lesson.version = data.version;
  if (isNew || lesson.revision !== data.revision) lesson.seed(data.start);
  lesson.revision = data.revision;
  return () => lesson.close();
}
