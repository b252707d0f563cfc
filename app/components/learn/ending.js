// The end of the lesson: what was learned, the result of the guesses, and where to continue.

import { draw, make, wayTo } from "../shared/dom.js";
import { SLIDERS, feedback, verdictOf } from "./guess.js";

const SAID = { right: "right", close: "close", off: "not close", skipped: "no guess" };
const CROSS = "M-5,0h10M0,-5v10";

// One sentence on all guesses.
export function faredText(steps, guesses) {
  const guessed = steps.filter(({ name }) => guesses[name] && guesses[name].value !== null);
  if (!guessed.length) return "You made no guesses this time. They make the lesson stick: go back and try a few.";
  const count = (verdict) => guessed.filter(({ name, guess }) => verdictOf(guess, guesses[name]) === verdict).length;
  const good = count("right") + count("close");
  const times = guessed.length === 1 ? "You made one guess." : `You made ${guessed.length} guesses.`;
  if (!good) return `${times} None was close, so the data had something to teach.`;
  if (good === guessed.length) return `${times} ${good === 1 ? "It was" : "All were"} right or close.`;
  return `${times} ${good} ${good === 1 ? "was" : "were"} right or close.`;
}

function cross(className) {
  const svg = draw(make("i", { className }), "svg", { viewBox: "-7 -7 14 14", "aria-hidden": "true" });
  draw(svg, "path", { class: "guess-dot", d: CROSS });
  return svg.parentElement;
}

// The guess and the truth on the scale of the guess.
function scaleOf(guess, { value, truth, k }) {
  const track = make("div.fared-track");
  const place = (mark, at) => {
    mark.style.left = `${100 * Math.max(0, Math.min(1, at / SLIDERS[guess.kind].to(k)))}%`;
    track.append(mark);
  };
  place(make("i.truth-mark"), truth);
  if (value !== null) place(cross("guess-mark"), value);
  return track;
}

function faredRow(step, guess, go) {
  const verdict = guess ? verdictOf(step.guess, guess) : "skipped";
  const row = make("li", make("b", step.title), make("span", { className: `fared-verdict ${verdict}` }, SAID[verdict]));
  if (guess) row.append(make("p", feedback(step.guess, guess)));
  else {
    row.append(make("button.link", { onclick: go, "aria-label": `Make a guess: ${step.title}` }, "Make a guess"));
  }
  if (guess && step.guess.kind !== "choice") row.append(scaleOf(step.guess, guess));
  return row;
}

// A row for each step with its guess. `go(place)` opens a step.
export function fared(host, steps, guesses, go) {
  const scales = steps.filter(({ name, guess }) => guesses[name] && guess.kind !== "choice");
  const key = make("p.fared-key");
  if (scales.some(({ name }) => guesses[name].value !== null)) key.append(cross("guess-mark"), "your guess ");
  key.append(make("i.truth-mark"), "the answer");
  host.replaceChildren(
    ...(scales.length ? [key] : []),
    make("ol.fared", ...steps.map((step, i) => faredRow(step, guesses[step.name], () => go(i + 1)))),
  );
}

// The lines on what was learned, in a list. `words` fills in the figures.
export function learnedList(steps, words) {
  const list = make("ol.learned");
  for (const { learned } of steps) list.append(words.line(make("li"), learned));
  return list;
}

// Links to other pages and to the next lesson. `go(name, way)` opens one without reloading the app.
export function onwards(links, go) {
  const list = make("ul.onwards");
  for (const { name, title, text, href, way } of links) {
    const link = make("a", make("b", title), make("span", text));
    list.append(
      make(
        "li",
        wayTo(link, href, () => go(name, way)),
      ),
    );
  }
  return list;
}
