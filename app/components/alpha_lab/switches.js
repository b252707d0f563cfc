// The controls for how sets are formed: scores, empty sets, E and F, strata, number of calibration questions, split.

import { choices, say } from "../shared/dom.js";
import { counted } from "../shared/formatting.js";

const STEPS = 240;
const LARGEST_SPLIT = 999_999;

// Calibration sizes from the smallest to all, closer together where one more question matters more.
export function sizeSteps(smallest, all) {
  const sizes = new Set([all]);
  for (let i = 0; i <= STEPS; i++) sizes.add(Math.round(smallest * (all / smallest) ** (i / STEPS)));
  return [...sizes].filter((n) => n >= smallest && n <= all).sort((a, b) => a - b);
}

export class Switches {
  constructor(find, all, change) {
    this.find = find;
    this.all = all;
    for (const side of ["left", "right"])
      find(`.${side}-score`).onchange = (event) => this.scoreChosen(side, event.target.value, change);
    for (const name of ["empty", "extra", "by"]) {
      for (const radio of all(`[name=${name}]`)) radio.onchange = () => change({ [name]: radio.value });
    }
    const range = find("#n");
    const number = find("#n-number");
    range.oninput = () => change({ n: this.chosen(range) }, { moving: true });
    range.onchange = () => change({ n: this.chosen(range) });
    number.onchange = () => this.numberTyped(number, change);
    find(".own-split").onclick = () => change({ split: "" });
    find(".next-split").onclick = () =>
      change({ split: String(this.view.split === "" ? 1 : Math.min(LARGEST_SPLIT, Number(this.view.split) + 1)) });
    find("#split").onchange = (event) => this.splitTyped(event.target, change);
  }

  // The same score on both sides would show nothing, so the other side takes the score that this one had.
  scoreChosen(side, name, change) {
    const other = side === "left" ? "right" : "left";
    change(this.view[other] === name ? { [side]: name, [other]: this.view[side] } : { [side]: name });
  }

  // The view stores all questions as 0, so that a link means the same for a run with more questions.
  chosen(range) {
    const n = this.sizes[Number(range.value)];
    return n === this.look.nAll ? 0 : n;
  }

  numberTyped(number, change) {
    const n = Math.round(Number(number.value));
    const { smallest, nAll } = this.look;
    if (!(n >= smallest && n <= nAll)) {
      say(
        this.find("#switch-problem"),
        `Choose from ${smallest} to ${nAll} calibration questions, not ${number.value || "an empty field"}.`,
      );
      number.value = this.look.calibration.length;
      return;
    }
    change({ n: n === nAll ? 0 : n });
  }

  splitTyped(input, change) {
    const text = input.value.trim();
    if (text !== "" && !/^\d{1,6}$/.test(text)) {
      say(
        this.find("#switch-problem"),
        `A split is a whole number from 0 to ${LARGEST_SPLIT.toLocaleString("en")}. Leave the field empty for the run’s own split.`,
      );
      input.value = this.view.split;
      return;
    }
    change({ split: text === "" ? "" : String(Number(text)) });
  }

  catalogue(scores) {
    for (const side of ["left", "right"]) {
      choices(
        this.find(`.${side}-score`),
        scores.map(({ name, title }) => [name, title]),
      );
    }
  }

  seed({ view, look, extra, groupNames }) {
    this.view = view;
    this.look = look;
    const { find } = this;
    for (const side of ["left", "right"]) find(`.${side}-score`).value = view[side];
    for (const name of ["empty", "extra", "by"]) {
      for (const radio of this.all(`[name=${name}]`)) radio.checked = radio.value === view[name];
    }
    find(".extra").hidden = !extra.length;
    // What is not at its default is in sight.
    if (view.empty !== "allow" || view.by !== "all" || view.extra !== "keep" || view.n || view.split !== "")
      find(".forming").open = true;
    for (const radio of this.all("[name=by][value=group]")) radio.disabled = groupNames.length < 2;
    this.sizes = sizeSteps(look.smallest, look.nAll);
    const n = look.calibration.length;
    const place = this.sizes.findIndex((size) => size >= n);
    const range = find("#n");
    range.max = this.sizes.length - 1;
    range.value = place < 0 ? this.sizes.length - 1 : place;
    range.setAttribute(
      "aria-valuetext",
      `${counted(n, "calibration question", "calibration questions")} of ${look.nAll.toLocaleString("en")}`,
    );
    const number = find("#n-number");
    Object.assign(number, { min: look.smallest, max: look.nAll, value: n });
    say(find(".n-all"), `of ${look.nAll.toLocaleString("en")}`);
    find("#split").value = view.split;
    find(".own-split").disabled = view.split === "";
    say(find("#switch-problem"), "");
  }
}
