// A slider that moves one figure, with its name and its value. A screen reader hears the value with what follows from it.

import { make, say } from "../shared/dom.js";

// `shown(value)` is the value as text, and `moved(value)` is called now and whenever it moves; it may return what a screen
// reader hears beside the value. Returns the row and `set(value)`.
export function mover({ label, min = 0, max, step = 1, value, shown, moved }) {
  const row = make("label", "mover");
  const range = make("input");
  Object.assign(range, { type: "range", min, max, step });
  range.value = value;
  const output = make("output");
  row.append(make("span", "mover-name", label), output, range);
  const show = () => {
    const at = Number(range.value);
    say(output, shown(at));
    const heard = moved(at);
    range.setAttribute("aria-label", label);
    range.setAttribute("aria-valuetext", heard ? `${shown(at)}, ${heard}` : shown(at));
  };
  range.oninput = show;
  const set = (to) => {
    range.value = to;
    show();
  };
  return { row, set, show };
}
