// The lecturer's sheet: each step's question, its answer and what to say, from the texts and figures of the lesson itself.

import { make, shownAlpha } from "../shared/dom.js";
import { ALL_TRUTHS } from "./every_lesson.js";
import { SLIDERS, askable } from "./guess.js";
import { Words } from "./words.js";

const FIXED = { move() {}, release() {}, current: () => 0 };

// The right answer in words.
export function rightAnswer(guess, truth) {
  if (guess.kind === "choice") return truth === "" ? "Both are right." : truth;
  return SLIDERS[guess.kind].shown(truth);
}

// A text with its figures filled in, as paragraphs without anything to drag.
function paragraphs(text, at, words) {
  const host = make("div");
  words.paragraphs(host, text);
  words.update(at);
  for (const bound of host.querySelectorAll(".bound")) bound.replaceWith(make("b", bound.textContent));
  return host;
}

function part(title, ...content) {
  return make("div.sheet-part", make("h4", title), ...content);
}

function sheetStep(step, place, at, words) {
  const { guess } = step;
  const truth = ALL_TRUTHS[guess.of](at);
  const question = askable(guess, truth);
  const host = make("section.sheet-step", make("h3", `${place}. ${step.title}`));
  if (question) {
    const question = paragraphs(guess.question, at, words);
    if (guess.choices.length)
      question.append(make("p.sheet-choices", guess.choices.map((choice) => `☐ ${choice}`).join("   ")));
    host.append(part("Ask", question), part("Right answer", make("p.sheet-right", rightAnswer(guess, truth))));
  }
  host.append(part("Explain", paragraphs(question ? step.answer : step.without, at, words)));
  if (step.say) host.append(part("Say", paragraphs(step.say, at, words)));
  host.append(part("What stays", paragraphs(step.learned, at, words)));
  return host;
}

// The elements of the sheet of the lesson `title`. Its figures are those at the alpha of the link.
export function lecturersSheet({ kind, run, alpha, steps }, { title }) {
  const at = kind.at(run, alpha);
  const words = new Words(FIXED);
  const head = make(
    "header.sheet-head",
    make("h2", `${title}: lecturer’s sheet`),
    make("p", `Figures of ${run.name}, at alpha ${shownAlpha(alpha)}. Computed when this sheet was opened.`),
    make("button.print", { onclick: () => window.print() }, "Print"),
  );
  return [head, ...steps.map((step, i) => sheetStep(step, i + 1, at, words))];
}
