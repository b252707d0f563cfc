// The lesson. Data comes in once, and the browser computes every figure in text and picture while alpha moves. Only
// the step, a released alpha and the guesses are sent to Python.

import { say, shownAlpha } from "../shared/dom.js";
import { hints } from "../shared/hints.js";
import { Live, mountedLive } from "../shared/live.js";
import { Course } from "./course.js";
import { learnedList, onwards } from "./ending.js";
import { ALL_TRUTHS, LESSONS } from "./every_lesson.js";
import { exampleQuestions } from "./figures/card.js";
import { GuessBox, askable, feedback } from "./guess.js";
import { fitWords, presenterOf } from "./presented.js";
import { Progress } from "./progress.js";
import { Stage } from "./stage.js";
import { Words, filled } from "./words.js";

class Lesson extends Live {
  constructor(root) {
    super(root, ".lesson");
    this.hands = {
      move: (alpha) => this.move(alpha),
      release: () => this.released(),
      current: () => this.alpha,
      go: (place) => this.go(place),
    };
    hints(root);
    this.words = new Words(this.hands);
    this.stage = new Stage(this.find, this.hands);
    this.box = new GuessBox(this.find(".guess"), {
      onMove: (value) => this.think(value),
      onGuess: (value) => this.guessed(value),
    });
    this.progress = new Progress(root, this.find, { go: (place) => this.go(place), again: () => this.again() });
    this.course = new Course(this.find, (name, way) => this.leave(name, way));
  }

  load(data) {
    this.steps = data.steps;
    this.links = data.links;
    this.words.meanings = data.meanings;
    this.kind = LESSONS[data.lesson];
    this.run = this.kind.prepare(data);
    this.examples = data.examples ? exampleQuestions(data, this.run) : [];
    this.course.load(data);
    this.kept = {};
    this.section.classList.remove("fresh");
    this.progress.load(data.steps);
    if (!data.outside) this.presenter ??= presenterOf(this);
  }

  seed({ start: { step, alpha, guesses, present, shown, ...course } }) {
    this.presented = { present, shown };
    this.alpha = alpha;
    this.course.seed(course);
    this.guesses = { ...guesses };
    const moved = this.place !== undefined && this.place !== step;
    this.place = Math.min(step, this.steps.length + 1);
    this.show();
    if (moved) this.progress.toTop();
    this.presenter?.show();
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
    this.progress.toTop();
    this.presenter?.hint();
    this.find("h2").focus({ preventScroll: true });
    this.report();
  }

  move(alpha) {
    this.alpha = alpha;
    this.paintSoon();
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
    const answer = { value, truth: ALL_TRUTHS[guess.of](this.at), alpha: this.alpha, k: this.run.k };
    this.guesses[name] = answer;
    this.showGuess();
    this.course.show(this);
    this.build();
    this.find(".told").focus({ preventScroll: true });
    this.announce(feedback(guess, answer));
    this.report();
  }

  get reported() {
    return { step: this.place, alpha: this.alpha, guesses: this.guesses, ...this.presented };
  }

  // ---- a step

  show() {
    this.painted();
    this.at = null;
    this.thought = null;
    const { step } = this;
    this.words.clear();
    this.course.show(this);
    this.section.dataset.step = step?.name ?? "end";
    this.progress.show(this.place);
    say(this.find("h2"), step ? step.title : "What you have learned");
    if (step) this.showStep(step);
    else this.showEnd();
    this.build();
  }

  showStep(step) {
    this.find(".ending").replaceChildren();
    this.words.paragraphs(this.find(".text"), step.text);
    this.words.paragraphs(this.find(".answer"), this.asked(step) ? step.answer : step.without);
    this.showGuess();
  }

  asked({ guess }) {
    return askable(guess, ALL_TRUTHS[guess.of](this.kind.at(this.run, this.alpha)));
  }

  // The question, or what the guess was worth and the answer.
  showGuess() {
    const { step } = this;
    const answer = this.guesses[step.name];
    if (answer) this.box.tell(step.guess, answer, filled(step.guess.question, this.kind.at(this.run, answer.alpha)));
    else if (this.asked(step))
      this.box.ask(step.guess, this.run.k, (host) => this.words.line(host, step.guess.question));
    else this.box.hide();
    this.open = Boolean(answer) || !this.asked(step);
    this.find(".answer").hidden = !this.open;
  }

  showEnd() {
    this.find(".text").replaceChildren(learnedList(this.steps, this.words));
    this.find(".ending").replaceChildren(onwards(this.links, (name, way) => this.leave(name, way)));
    this.box.hide();
    this.find(".answer").hidden = true;
    this.open = true;
  }

  // The view is sent with the wish: a separate report would come back to this page after the other one has opened.
  // `way` says what the name is of: a "page", a "lesson" of the course, or its "sheet" (on, off).
  leave(name, way = "page") {
    clearTimeout(this.reporting);
    this.trigger("leave", { step: this.place, alpha: this.alpha, guesses: this.guesses, [way]: name });
  }

  // ---- drawing

  resized() {
    if (this.steps && this.section.clientWidth !== this.width) this.build();
  }

  build() {
    this.width = this.section.clientWidth;
    this.at = this.kind.at(this.run, this.alpha);
    this.course.build(this);
    const kept = (this.kept[this.step?.name] ??= {});
    this.stage.build({ ...this, step: this.step, kept, shown: this.presenter?.on ? this.presented.shown : "none" });
    this.paint();
    fitWords(this);
  }

  paint() {
    this.painted();
    if (this.at.alpha !== this.alpha) this.at = this.kind.at(this.run, this.alpha);
    this.words.update(this.at);
    this.draw();
  }

  draw() {
    const { value } = (this.step && this.guesses[this.step.name]) ?? { value: this.thought };
    this.stage.draw(this.at, { open: this.open, guess: typeof value === "number" ? value : null });
  }

  // The text for screen readers once alpha rests.
  speak() {
    const spoken = () => `At alpha ${shownAlpha(this.alpha)}. ${this.find(".alternative").textContent}`;
    this.speakSoon(() => this.announce(spoken()));
  }

  announce(text) {
    say(this.find(".announced"), text);
  }

  close() {
    super.close();
    this.progress.close();
  }
}

export default mountedLive((root) => new Lesson(root));
