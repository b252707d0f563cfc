// Who sits in the class and who has answered.

import { make } from "../shared/dom.js";

const MOST_SHOWN = 200;

export function whoSaid({ phase, position, n, answers }, { joined, answered }) {
  const people = `${joined} joined`;
  if (phase === "lobby") return people;
  if (phase === "ended") return "The class is over.";
  if (phase === "results") return `${people} · the quiz is over`;
  const where = `Question ${position + 1} of ${n}`;
  return phase === "shown" ? `${where} · ${answers} answers` : `${where} · ${answered} of ${joined} answered`;
}

// A box for each seat; one that has answered is filled. A seat without a name is its number.
export function paintSeats(element, people, showsAnswers) {
  const key = JSON.stringify([people, showsAnswers]);
  if (element.dataset.shown === key) return;
  element.dataset.shown = key;
  element.replaceChildren(
    ...people.slice(0, MOST_SHOWN).map(([number, name, answered]) => {
      const done = showsAnswers && answered;
      const seat = make("span", { className: done ? "seat done" : "seat" }, name || String(number));
      if (done) seat.append(make("span.unseen", " has answered"));
      return seat;
    }),
  );
}
