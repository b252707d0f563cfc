// The end of the lesson: what was learned, how the guesses fared, and where to go on.

import { draw, make } from "../shared/dom.js";
import { canvas, linear } from "../shared/svg.js";
import { SLIDERS, verdictOf } from "./guess.js";

const ROW_HEIGHT = 44;
const LETTER_WIDTH = 7;
const ROOMY = 480;
const FIRST_ROW = 24;
const SAID = { right: "right", close: "close", off: "", skipped: "no guess" };

// What a guess was worth; on a wide figure with its value.
function worth(guess, made, verdict, width) {
  if (verdict === "skipped" || guess.kind === "choice" || width < ROOMY) return SAID[verdict];
  const { shown } = SLIDERS[guess.kind];
  return `${shown(made.value)}, it is ${shown(made.truth)}${SAID[verdict] && ` · ${SAID[verdict]}`}`;
}

const clipped = (text, most) => (text.length > most ? `${text.slice(0, Math.floor(most) - 1)}…` : text);

// One sentence on all guesses.
export function faredText(steps, guesses) {
  const made = steps.filter(({ name }) => guesses[name] && guesses[name].value !== null);
  if (!made.length) return "You made no guesses this time. They make the lesson stick: go back and try a few.";
  const count = (verdict) => made.filter(({ name, guess }) => verdictOf(guess, guesses[name]) === verdict).length;
  const good = count("right") + count("close");
  const times = made.length === 1 ? "You made one guess." : `You made ${made.length} guesses.`;
  if (!good) return `${times} None was close, so the data had something to teach.`;
  if (good === made.length) return `${times} ${good === 1 ? "It was" : "All were"} right or close.`;
  return `${times} ${good} ${good === 1 ? "was" : "were"} right or close.`;
}

// A row for each step: the guess and the truth on the scale of the guess.
export function faredFigure(host, steps, guesses) {
  const height = FIRST_ROW + ROW_HEIGHT * steps.length + 6;
  host.style.height = `${height}px`;
  const { svg, width } = canvas(host, "Your guesses and the true values", { height });
  const x = linear(0, 1, 8, width - 8);
  draw(svg, "path", { class: "guess-dot", d: "M-5,0h10M0,-5v10", transform: "translate(14,10)" });
  draw(svg, "text", { x: 26, y: 14 }, "your guess");
  draw(svg, "circle", { class: "fill-lac", cx: 122, cy: 10, r: 6 });
  draw(svg, "text", { x: 134, y: 14 }, "the answer");
  steps.forEach((step, i) => {
    const y = FIRST_ROW + ROW_HEIGHT * i;
    const made = guesses[step.name];
    const verdict = made ? verdictOf(step.guess, made) : "skipped";
    draw(
      svg,
      "text",
      { class: "plain", x: x(0), y: y + 16 },
      clipped(`${i + 1}. ${step.title}`, (width - (width < ROOMY ? 90 : 230)) / LETTER_WIDTH),
    );
    draw(
      svg,
      "text",
      { class: "strong", x: x(1), y: y + 16, "text-anchor": "end" },
      worth(step.guess, made, verdict, width),
    );
    if (made && step.guess.kind === "choice") {
      const said = made.truth === "" ? "Neither is smaller." : `It is ${made.truth}.`;
      const text = made.value === null ? said : `You chose ${made.value}. ${said}`;
      draw(svg, "text", { x: x(0), y: y + 34 }, text);
      return;
    }
    draw(svg, "line", { class: "grid", x1: x(0), x2: x(1), y1: y + 30, y2: y + 30 });
    if (!made) return;
    const share = (value) => x(Math.max(0, Math.min(1, value / SLIDERS[step.guess.kind].to(made.k))));
    if (made.value !== null) {
      draw(svg, "line", { class: "apart", x1: share(made.value), x2: share(made.truth), y1: y + 30, y2: y + 30 });
      draw(svg, "path", {
        class: "guess-dot",
        d: "M-5,0h10M0,-5v10",
        transform: `translate(${share(made.value)},${y + 30})`,
      });
    }
    draw(svg, "circle", { class: "fill-lac", cx: share(made.truth), cy: y + 30, r: 6 });
  });
}

// The lines on what was learned, in a list. `words` fills in the figures.
export function learnedList(steps, words) {
  const list = make("ol", "learned");
  for (const { learned } of steps) list.append(words.line(make("li"), learned));
  return list;
}

// Links to other pages. `go(name)` opens one without loading the app anew.
export function onwards(links, go) {
  const list = make("ul", "onwards");
  for (const { name, title, text, href } of links) {
    const link = make("a");
    link.href = href;
    link.append(make("b", "", title), make("span", "", text));
    link.onclick = (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      go(name);
    };
    const item = make("li");
    item.append(link);
    list.append(item);
  }
  return list;
}
