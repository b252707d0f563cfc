// The lessons of the course with the steps that are answered in each, and the way back from the lecturer's sheet.

import { make, wayTo } from "../shared/dom.js";
import { lecturersSheet } from "./sheet.js";

export class Course {
  // `leave(name, way)` opens another lesson ("lesson"), or hides the sheet ("sheet").
  constructor(find, leave) {
    this.find = find;
    this.leave = leave;
  }

  // `lessons` is [{name, short, title, steps, href}], and `lesson` the name of the open one.
  load({ lessons, lesson }) {
    this.lessons = lessons;
    this.own = lessons.find(({ name }) => name === lesson);
  }

  // `answered` is the number of answered steps of each lesson, and `sheet` says whether the sheet is shown.
  seed({ answered, sheet }) {
    this.answered = answered;
    this.sheet = sheet;
  }

  show({ guesses, steps, section }) {
    this.answered = { ...this.answered, [this.own.name]: steps.filter(({ name }) => guesses[name]).length };
    this.find(".lessons").replaceChildren(...this.lessons.map((lesson) => this.entry(lesson)));
    wayTo(this.find(".to-lesson"), this.own.href, () => this.leave("off", "sheet")).hidden = !this.sheet;
    this.find(".sheet").hidden = !this.sheet;
    section.classList.toggle("on-sheet", this.sheet);
  }

  entry(lesson) {
    const done = this.answered[lesson.name] ?? 0;
    const link = wayTo(make("a"), lesson.href, () => this.leave(lesson.name, "lesson"));
    if (lesson === this.own) link.setAttribute("aria-current", "page");
    link.append(lesson.short);
    if (done) link.append(make("span", ` ${done} of ${lesson.steps}`, make("span.unseen", " answered")));
    return make("li", link);
  }

  build(lesson) {
    if (this.sheet) this.find(".sheet").replaceChildren(...lecturersSheet(lesson, this.own));
  }
}
