// A slider that moves one figure, with its name and its value. A screen reader hears the value with what follows from it.

import { make, say } from "../shared/dom.js";

// `shown(value)` is the value as text, and `moved(value)` is called now and whenever it moves; it may return what a screen
// reader hears beside the value. Returns the row and `show()`.
function mover({ label, min = 0, max, step = 1, value, shown, moved }) {
  const range = make("input", { type: "range", min, max, step, value });
  const output = make("output");
  const row = make("label.mover", make("span.mover-name", label), output, range);
  const show = () => {
    const at = Number(range.value);
    say(output, shown(at));
    const heard = moved(at);
    range.setAttribute("aria-label", label);
    range.setAttribute("aria-valuetext", heard ? `${shown(at)}, ${heard}` : shown(at));
  };
  range.oninput = show;
  return { row, show };
}

// A slider whose value stays in `kept` under a `name`, from `start` on. The text from `moved` also goes into `line`.
export function keptMover(kept, name, { start, line = null, moved, ...slider }) {
  kept[name] ??= start;
  return mover({
    ...slider,
    value: kept[name],
    moved: (value) => {
      kept[name] = value;
      const text = moved(value);
      if (line) say(line, text);
      return text;
    },
  });
}
