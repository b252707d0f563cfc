// Calibrate on one kind of questions and test on another: coverage at the lab's alpha, unweighted and weighted.

import { draw, put, say, setThemeColors, plainAlpha } from "../../shared/dom.js";
import { bands } from "../../shared/coverage_distributions.js";
import { ALPHA_ACROSS, MARKS, areaPath, axes, linePath, steps } from "../../shared/svg.js";
import { percent } from "../../shared/formatting.js";
import { Live } from "../../shared/live.js";
import { mounted } from "../../shared/mounted.js";

const KINDS = [
  ["coverage", "plain", "circle"],
  ["weighted_coverage", "weighted", "square"],
];

// The band is that of a pair chosen beforehand; the worst of many pairs leaves it by chance alone.
export function searchedText(pairs) {
  return pairs
    ? ` This pair is the worst of ${pairs.toLocaleString("en")}, so chance has a part in it. The text below says how large a part.`
    : "";
}

class Shift extends Live {
  constructor(root) {
    super(root, ".lab");
    this.heard = ({ detail }) => {
      this.alpha = detail;
      this.paintSoon();
    };
    document.addEventListener("hedge:alpha", this.heard);
  }

  load(data) {
    this.data = data;
    this.curves = Object.fromEntries(
      ["coverage", "size", "weighted_coverage", "weighted_size"].map((name) => [
        name,
        data.curves.getChild(name).toArray(),
      ]),
    );
    this.bands = bands(data.n, data.m);
    if (this.given !== data.alpha) this.alpha = this.given = data.alpha;
    this.width = null;
    this.build();
  }

  build() {
    const width = this.section.clientWidth;
    if (!this.data || width === this.width) return;
    this.width = width;
    const { svg, x, y } = axes(
      this.find(".plot"),
      `Coverage against alpha on ${this.data.target}, calibrated on ${this.data.source}`,
      {
        ...ALPHA_ACROSS,
        yMax: 1,
        yTicks: steps(4, 0.25),
        yFormat: (tick) => `${tick * 100}%`,
      },
    );
    draw(svg, "path", { class: "test", d: areaPath(x, y, this.bands.testLow, this.bands.testHigh) });
    for (const [name, kind] of KINDS)
      draw(svg, "path", { class: `curve ${kind}`, d: linePath(x, y, this.curves[name]) });
    const now = draw(svg, "line", { class: "now", y1: y(0), y2: y(1) });
    const marks = KINDS.map(([, kind, mark]) => draw(svg, "path", { class: `dot ${kind}`, d: MARKS[mark] }));
    this.update = (alpha) => {
      const at = x(alpha / 1000);
      put(now, { x1: at, x2: at });
      KINDS.forEach(([name], i) =>
        marks[i].setAttribute("transform", `translate(${at},${y(this.curves[name][alpha - 1])})`),
      );
    };
    this.paint();
  }

  paint() {
    this.painted();
    const {
      alpha,
      curves,
      bands: { testLow },
      data,
    } = this;
    this.update(alpha);
    const at = (name) => curves[name][alpha - 1];
    for (const [name, size] of [
      ["coverage", "size"],
      ["weighted_coverage", "weighted_size"],
    ]) {
      const figure = this.find(`[data-figure=${name}]`);
      say(figure, percent(at(name), 1));
      figure.dataset.value = at(name);
      say(this.find(`[data-figure=${size}]`), `${at(size).toFixed(2)} options on average`);
    }
    const goal = percent(1 - alpha / 1000, 1);
    const low = testLow[alpha - 1];
    const verdict = (name) => (at(name) >= low ? "is consistent with" : "falls short of");
    say(
      this.find(".said"),
      `At alpha ${plainAlpha(alpha)}, with thresholds calibrated on ${data.source} and tested on ${data.target}, coverage ` +
        `${verdict("coverage")} the promised ${goal}; with weights it ${verdict("weighted_coverage")} it.${searchedText(data.pairs)}`,
    );
  }

  close() {
    super.close();
    document.removeEventListener("hedge:alpha", this.heard);
  }
}

export default mounted(
  (root) => new Shift(root),
  (shift, { data }) => {
    setThemeColors(shift.host, shift.section);
    shift.load(data);
  },
);
