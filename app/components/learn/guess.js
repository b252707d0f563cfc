// The guess before each answer: a slider or a choice, then how far off it was. Nothing here touches the page but the
// class GuessBox.

import { make, say, shownAlpha } from "../shared/dom.js";
import { percent } from "../shared/formatting.js";

// Each kind of guess with a slider: its range (k: the number of options), the text of a value, and the text of a
// distance between guess and truth. `close` is the distance up to which a guess counts as close.
export const SLIDERS = {
  share: {
    to: () => 1,
    step: 0.01,
    close: 0.05,
    shown: (value) => percent(value, 1),
    off: (distance) => `${(100 * distance).toFixed(1)} points`,
  },
  score: {
    to: () => 1,
    step: 0.01,
    close: 0.05,
    shown: (value) => value.toFixed(3),
    off: (distance) => distance.toFixed(3),
  },
  options: {
    to: (k) => k,
    step: 0.1,
    close: 0.2,
    shown: (value) => value.toFixed(2),
    off: (distance) => distance.toFixed(2),
  },
  points: {
    to: () => 20,
    step: 0.5,
    close: 1,
    shown: (value) => `${value.toFixed(1)} points`,
    off: (distance) => `${distance.toFixed(1)} points`,
  },
  votes: {
    to: (k) => k,
    step: 0.05,
    close: 0.2,
    shown: (value) => `${value.toFixed(2)} votes`,
    off: (distance) => distance.toFixed(2),
  },
  temperature: {
    to: () => 3,
    step: 0.05,
    close: 0.15,
    shown: (value) => value.toFixed(2),
    off: (distance) => distance.toFixed(2),
  },
};

// Whether a guess can be asked: its true value is finite, or one of the choices.
export function askable(guess, truth) {
  return guess.kind === "choice" ? true : Number.isFinite(truth);
}

// How a guess compares with the truth: "right", "close", "off" or "skipped". A kept guess is {value, truth, alpha, k};
// a value of null means that the person asked for the answer without a guess. A truth of "" means that both are right.
export function verdictOf(guess, { value, truth }) {
  if (value === null) return "skipped";
  if (guess.kind === "choice") return truth === "" || value === truth ? "right" : "off";
  const distance = Math.abs(value - truth);
  const { step, close } = SLIDERS[guess.kind];
  return distance <= step / 2 + 1e-9 ? "right" : distance <= close + 1e-9 ? "close" : "off";
}

// Half of an alpha in thousandths, the stricter one that a step compares.
export const halved = (alpha) => Math.max(1, Math.floor(alpha / 2));

// One or two sentences on a guess and the truth, at the alpha of the guess: half of the slider's for some guesses.
export function feedback(guess, answer) {
  const { value, truth } = answer;
  const alpha = guess.of === "small_threshold" ? halved(answer.alpha) : answer.alpha;
  const verdict = verdictOf(guess, answer);
  const at = guess.moves ? `At alpha ${shownAlpha(alpha)} ` : "";
  const sentence = (words) => at + (at ? words : words[0].toUpperCase() + words.slice(1));
  if (guess.kind === "choice") {
    if (truth === "") return sentence("neither is smaller.");
    if (value === null) return sentence(`it is ${truth}.`);
    return sentence(
      verdict === "right" ? `you chose ${value}, and that is right.` : `you chose ${value}, but it is ${truth}.`,
    );
  }
  const { shown, off } = SLIDERS[guess.kind];
  if (value === null) return sentence(`it is ${shown(truth)}.`);
  const opening = sentence(`you guessed ${shown(value)}. It is ${shown(truth)}`);
  if (verdict === "right") return `${opening}: spot on.`;
  const apart = `${off(Math.abs(value - truth))} ${value > truth ? "too high" : "too low"}`;
  return verdict === "close" ? `${opening}. Close: your guess was ${apart}.` : `${opening}. Your guess was ${apart}.`;
}

// The question with its slider or choices. `onMove(value)` is called while a person thinks, `onGuess(value)` when they
// are done; value is null if they skip the guess.
export class GuessBox {
  constructor(host, { onMove, onGuess }) {
    this.host = host;
    this.onMove = onMove;
    this.onGuess = onGuess;
  }

  ask(guess, k, writeQuestion) {
    this.guess = guess;
    this.host.replaceChildren(
      make(
        "fieldset",
        make("legend", make("span.tag-guess", "Your guess"), writeQuestion(make("span"))),
        ...(guess.kind === "choice" ? this.choices() : this.slider(k)),
      ),
    );
    this.host.hidden = false;
  }

  slider(k) {
    const { to, step, shown } = SLIDERS[this.guess.kind];
    const range = make("input.guessed", {
      type: "range",
      min: 0,
      max: to(k),
      step,
      value: to(k) / 2,
      "aria-label": "your guess",
    });
    const output = make("output");
    const moved = () => {
      say(output, shown(Number(range.value)));
      range.setAttribute("aria-valuetext", shown(Number(range.value)));
      this.onMove(Number(range.value));
    };
    range.oninput = moved;
    moved();
    const row = make("div.guess-row", range, output);
    return [row, this.buttons(this.button("Check my guess", "check", () => this.onGuess(Number(range.value))))];
  }

  choices() {
    this.onMove(null);
    return [this.buttons(...this.guess.choices.map((name) => this.button(name, "check", () => this.onGuess(name))))];
  }

  buttons(...choices) {
    return make(
      "div.guess-buttons",
      ...choices,
      this.button("Just show me", "skip", () => this.onGuess(null)),
    );
  }

  button(text, className, onclick) {
    return make("button", { className, onclick }, text);
  }

  // The question as it was asked, and what the guess was worth.
  tell(guess, answer, question) {
    const reply = make(
      "div",
      { className: `told ${verdictOf(guess, answer)}`, tabIndex: -1 },
      make("p.told-question", question),
      make("p.told-answer", feedback(guess, answer)),
    );
    this.host.replaceChildren(reply);
    this.host.hidden = false;
    return reply;
  }

  hide() {
    this.host.replaceChildren();
    this.host.hidden = true;
  }
}
