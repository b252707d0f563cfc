// The mark of a guess in a figure: a line with its words. `show(place, words)` moves it to [x, y], where the attributes of
// the words may change, or hides it where the place is null.

import { draw, put } from "../shared/dom.js";

export function guessMark(svg, line, words = {}) {
  const mark = draw(svg, "g", { class: "your-guess" });
  draw(mark, "line", line);
  const text = draw(mark, "text", words, "your guess");
  return (place, changed = {}) => {
    mark.style.display = place ? "" : "none";
    if (!place) return;
    mark.setAttribute("transform", `translate(${place})`);
    put(text, changed);
  };
}
