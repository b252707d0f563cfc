// Horizontal bars with names, values and perhaps 95% intervals: shares from 0 to 1, one row for each.

import { draw, put, say } from "../shared/dom.js";
import { asPercent, canvas, linear, tall } from "../shared/svg.js";
import { share } from "./numbers.js";

const BAR_ROW = 40;
const TALLEST_ROW = 60; // in the presenter view, where rows share the height that there is
const BAR_SHARE = 0.45;
const BAR_TOP = 22;
const AXIS = 24;
const VALUE_ROOM = 58;

// `rows` is [{name, ink}], with `outlined` for a value that is only expected. Returns update(values), which takes for each
// row {value, low, high, text} or null to hide it, and `guessed(value)`, which marks a guess on the row `at`.
export function shareBars(host, rows, label) {
  host.style.height = tall(BAR_TOP + BAR_ROW * rows.length + AXIS);
  const { svg, width, height } = canvas(host, label);
  const barRow = Math.min(TALLEST_ROW, (height - BAR_TOP - AXIS) / rows.length);
  const barTall = BAR_SHARE * barRow;
  const x = linear(0, 1, 0, width - VALUE_ROOM);
  const end = BAR_TOP + barRow * rows.length - 8;
  for (const tick of [0, 0.25, 0.5, 0.75, 1]) {
    draw(svg, "line", { class: "grid faint", x1: x(tick), x2: x(tick), y1: 4, y2: end });
    draw(svg, "text", { x: x(tick), y: end + 16, "text-anchor": tick ? "middle" : "start" }, asPercent(tick));
  }
  const drawn = rows.map(({ name, ink = "lac", outlined = false }, i) => {
    const y = BAR_TOP + barRow * i;
    draw(svg, "text", { class: "plain", x: 0, y: y - 5 }, name);
    return {
      bar: draw(svg, "rect", { class: outlined ? "missed" : `fill-${ink}`, x: 0, y, height: barTall, width: 0 }),
      whisker: draw(svg, "line", { class: "bar-whisker", y1: y + barTall / 2, y2: y + barTall / 2 }),
      text: draw(svg, "text", { class: "strong", y: y + barTall / 2 + 5 }),
      y,
    };
  });
  const mark = draw(svg, "g", { class: "your-guess" });
  const line = draw(mark, "line");
  const words = draw(mark, "text", {}, "your guess");
  return {
    update(values) {
      drawn.forEach(({ bar, whisker, text }, i) => {
        const current = values[i];
        const wide = current ? x(current.value) : 0;
        put(bar, { width: wide });
        whisker.style.display = Number.isFinite(current?.low) ? "" : "none";
        if (Number.isFinite(current?.low)) put(whisker, { x1: x(current.low), x2: x(current.high) });
        const after = current?.high === undefined ? wide : Math.max(wide, x(current.high));
        put(text, { x: after + 6 });
        say(text, current ? (current.text ?? share(current.value)) : "?");
      });
    },
    guessed(value, at) {
      mark.style.display = value === null ? "none" : "";
      if (value === null) return;
      const { y } = drawn[at];
      const place = x(value);
      put(line, { x1: place, x2: place, y1: y - 4, y2: y + barTall + 4 });
      put(words, { x: place, y: y - 6, "text-anchor": place > width / 2 ? "end" : "start" });
    },
  };
}
