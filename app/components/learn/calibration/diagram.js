// The reliability diagram of the lesson: a circle for each bin, with the interval of its accuracy, around the diagonal.

import { shareInterval } from "../../shared/coverage_distributions.js";
import { draw, put } from "../../shared/dom.js";
import { SHARE_ACROSS, SHARE_UP, axes, tall } from "../../shared/svg.js";
import { guessMark } from "../guess_mark.js";

const TALL = 300;
const LARGEST = 15;

// Draws an empty diagram for at most `most` bins. Returns update(found, {shown, lit, guess}): `found` is what
// tempering.js makes of bins, `shown` says whether circles may be seen, and `lit` is the number of a bin or null.
export function reliabilityDiagram(host, most, label, { whiskers = true, height = TALL } = {}) {
  host.style.height = tall(height);
  const { svg, x, y } = axes(host, label, {
    ...SHARE_ACROSS,
    xTitle: "confidence",
    ...SHARE_UP,
    yTitle: "share that is right",
  });
  draw(svg, "line", { class: "target", x1: x(0), y1: y(0), x2: x(1), y2: y(1) });
  const column = draw(svg, "rect", { class: "lit-bin", y: y(1), height: y(0) - y(1) });
  const marks = Array.from({ length: most }, () => ({
    gap: draw(svg, "line", { class: "bin-gap" }),
    whisker: draw(svg, "line", { class: "whisker lac" }),
    circle: draw(svg, "circle", { class: "dot fill-lac" }),
    tick: draw(svg, "line", { class: "now", y1: y(0), y2: y(0) - 6 }),
  }));
  const showGuess = guessMark(svg, { x1: x(0), x2: x(1) }, { x: x(0) + 6, y: -8 });
  return (bins, { shown = true, lit = null, guess = null } = {}) => {
    const n = bins.counts.reduce((sum, count) => sum + count, 0);
    column.style.display = lit === null ? "none" : "";
    if (lit !== null) put(column, { x: x(bins.edges[lit]), width: x(bins.edges[lit + 1]) - x(bins.edges[lit]) });
    marks.forEach(({ gap, whisker, circle, tick }, b) => {
      const count = b < bins.counts.length ? bins.counts[b] : 0;
      const seen = count > 0 && shown;
      for (const node of [gap, circle]) node.style.display = seen ? "" : "none";
      whisker.style.display = seen && whiskers ? "" : "none";
      tick.style.display = count > 0 && !shown ? "" : "none";
      if (!count) return;
      const at = x(bins.confidence[b]);
      put(tick, { x1: at, x2: at });
      put(gap, { x1: at, x2: at, y1: y(bins.confidence[b]), y2: y(bins.accuracies[b]) });
      put(circle, { cx: at, cy: y(bins.accuracies[b]), r: 3 + LARGEST * Math.sqrt(count / n) });
      circle.classList.toggle("lit", b === lit);
      if (!whiskers) return;
      const [low, high] = shareInterval(bins.hits[b], count);
      put(whisker, { x1: at, x2: at, y1: y(low), y2: y(high) });
    });
    showGuess(guess === null ? null : [0, y(guess)]);
  };
}
