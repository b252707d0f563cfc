// A lesson in the presenter view: what it lends to the keys, and the size of its words.

import { Presenter, fitText } from "../shared/presenter.js";

const SMALLEST_FIGURE_TEXT = 12; // pixels
const WORD_SIZES = [22, 20, 19, 18]; // in the units of the presenter view

export function presenterOf(lesson) {
  return new Presenter(lesson.section, {
    smallest: SMALLEST_FIGURE_TEXT,
    view: () => (lesson.course.sheet ? { ...lesson.presented, present: "0" } : lesson.presented),
    change: (values) => {
      if (lesson.course.sheet) return;
      Object.assign(lesson.presented, values);
      lesson.report();
    },
    alpha: () => (lesson.stage.follows() ? lesson.alpha : null),
    move: (alpha) => lesson.move(alpha),
    release: () => lesson.released(),
    layout: () => lesson.build(),
    scores: () => lesson.stage.figure?.scores ?? [],
    things: () => "step",
    turn: (direction) => lesson.go(lesson.place + direction),
    hidden: () => Boolean(lesson.step) && !lesson.open,
    answer: () => {
      lesson.guessed(null);
      lesson.presenter.hint();
    },
  });
}

// The words are as large as they fit beside the figure.
export function fitWords({ find, presenter }) {
  const words = find(".words");
  if (presenter?.on) fitText(words, WORD_SIZES);
  else words.style.fontSize = "";
}
