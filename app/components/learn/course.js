// The lessons of the course with the steps that are answered in each, and the way to the lecturer's sheet and back.

import { make, say, wayTo } from "../shared/dom.js";
import { lecturersSheet } from "./sheet.js";

export class Course {
  // `leave(name, way)` opens another lesson ("lesson"), or shows or hides the sheet ("sheet").
  constructor(find, leave) {
    this.find = find;
    this.leave = leave;
  }

  // `lessons` is [{name, short, title, steps, href, sheet}], and `lesson` the name of the open one.
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
    const toSheet = wayTo(this.find(".to-sheet"), this.sheet ? this.own.href : this.own.sheet, () =>
      this.leave(this.sheet ? "off" : "on", "sheet"),
    );
    say(toSheet, this.sheet ? "Back to the lesson" : "Lecturer’s sheet");
    this.find(".sheet").hidden = !this.sheet;
    section.classList.toggle("on-sheet", this.sheet);
  }

  entry(lesson) {
    const done = this.answered[lesson.name] ?? 0;
    const link = wayTo(make("a"), lesson.href, () => this.leave(lesson.name, "lesson"));
    if (lesson === this.own) link.setAttribute("aria-current", "page");
    const bar = make("i.lesson-bar", make("i"));
    bar.firstChild.style.width = `${(100 * done) / lesson.steps}%`;
    link.append(make("b", lesson.short), make("span", `${done} of ${lesson.steps} answered`), bar);
    return make("li", link);
  }

  build(lesson) {
    if (this.sheet) this.find(".sheet").replaceChildren(...lecturersSheet(lesson, this.own));
  }
}
