// Resampling: many random splits, and their coverages against the theoretical distribution.

import { draw, put, say } from "../shared/dom.js";
import { betaBinomialLaw, betaDensity } from "../shared/coverage_distributions.js";
import { redrawer } from "./redraw.js";
import { strataTies } from "../shared/sets.js";
import { axes, roundTicks } from "../shared/svg.js";
import { counted, percent } from "../shared/formatting.js";

export const DRAWS = 1000;
export const FRAME_MS = 8;
export const STILL_MS = 40;
const AGAIN_AFTER_MS = 200;
const MOST_BINS = 44;

// The range of covered counts that holds nearly all splits, and bins of whole counts over it.
function countBins(law, m) {
  let low = 0;
  let high = m;
  for (let mass = 0; low < m && mass + law[low] < 2e-4; low++) mass += law[low];
  for (let mass = 0; high > 0 && mass + law[high] < 2e-4; high--) mass += law[high];
  const width = Math.max(1, Math.ceil((high - low + 1) / MOST_BINS));
  const count = Math.ceil((high - low + 1) / width);
  const expected = new Float64Array(count);
  for (let i = 0; i < count * width && low + i <= m; i++) expected[Math.floor(i / width)] += law[low + i];
  return { low, width, count, expected };
}

// The histogram of coverages: bars grow with each draw towards the curve of the theoretical distribution.
export function lawFigure(host, label, { ink }, { n, m, alpha, ties = null }) {
  const law = betaBinomialLaw(n, m, alpha, ties);
  const bins = countBins(law, m);
  const from = (bins.low - 0.5) / m;
  const to = (bins.low + bins.count * bins.width - 0.5) / m;
  const perBin = (DRAWS * bins.width) / m;
  const height = (share) => perBin * betaDensity(n, alpha, share);
  const peak = Math.max(
    ...bins.expected.map((share) => DRAWS * share),
    ...Array.from({ length: 119 }, (_, i) => height(from + ((to - from) * (i + 1)) / 120)).filter(Number.isFinite),
  );
  const most = 1.12 * peak;
  const { ticks, digits } = roundTicks(from, to, 7);
  const { svg, x, y } = axes(host, label, {
    xMin: from,
    xMax: to,
    xTicks: ticks,
    xFormat: (tick) => `${(100 * tick).toFixed(Math.max(0, digits - 2))}%`,
    xTitle: "coverage of a split",
    yMax: most,
    yTicks: [0, Math.round(most / 2)],
    yFormat: (tick) => tick.toLocaleString("en"),
  });
  const edge = (i) => x(from + (i * bins.width) / m);
  const bars = Array.from({ length: bins.count }, (_, i) =>
    draw(svg, "rect", {
      class: `fill-${ink}`,
      x: edge(i) + 0.5,
      width: Math.max(1, edge(1) - edge(0) - 1),
      y: y(0),
      height: 0,
    }),
  );
  let line = "";
  let density = "";
  bins.expected.forEach((share, i) => {
    line += `${i ? "L" : "M"}${edge(i).toFixed(1)},${y(DRAWS * share).toFixed(1)}H${edge(i + 1).toFixed(1)}`;
  });
  for (let i = 0, started = false; i <= 120; i++) {
    const at = from + ((to - from) * i) / 120;
    const high = at > 0 && at < 1 ? height(at) : NaN;
    if (!Number.isFinite(high)) continue;
    density += `${started ? "L" : "M"}${x(at).toFixed(1)},${y(Math.min(high, most)).toFixed(1)}`;
    started = true;
  }
  draw(svg, "path", { class: "law", d: line });
  draw(svg, "path", { class: "density", d: density });
  const goal = x(Math.max(from, Math.min(to, 1 - alpha / 1000)));
  draw(svg, "line", { class: "target", x1: goal, x2: goal, y1: y(most), y2: y(0) });
  const own = draw(svg, "path", { class: `dot fill-${ink}`, d: "M0,0l5,-9h-10z" });
  return (coverages, drawn, shown) => {
    const counts = new Int32Array(bins.count);
    const outside = { below: 0, above: 0 };
    for (let i = 0; i < drawn; i++) {
      const bin = Math.floor((Math.round(coverages[i] * m) - bins.low) / bins.width);
      if (bin < 0) outside.below++;
      else if (bin >= bins.count) outside.above++;
      else counts[bin]++;
    }
    bars.forEach((bar, i) => {
      const top = y(Math.min(most, counts[i]));
      put(bar, { y: top, height: y(0) - top });
    });
    own.style.display = shown === null ? "none" : "";
    if (shown !== null) own.setAttribute("transform", `translate(${x(Math.max(from, Math.min(to, shown)))},${y(0)})`);
    return { ...outside, expected: drawn * (1 - bins.expected.reduce((sum, share) => sum + share, 0)) };
  };
}

export function beyondSaid({ below, above, expected }) {
  if (!below && !above) return "";
  const places = [
    [below, "below"],
    [above, "above"],
  ].filter(([count]) => count);
  const [first, second] = places.map(
    ([count, side]) => `${counted(count, "split lies", "splits lie")} ${side} the figure`,
  );
  return ` ${second ? `${first} and ${second}` : first}, where chance alone puts ${expected.toFixed(1)}.`;
}

export function spread(values, drawn) {
  const sorted = values.slice(0, drawn).sort();
  let sum = 0;
  for (const value of sorted) sum += value;
  const at = (share) => sorted[Math.min(drawn - 1, Math.max(0, Math.ceil(share * drawn) - 1))];
  return { mean: sum / drawn, low: at(0.025), high: at(0.975) };
}

export class RedrawnSplits {
  constructor(find) {
    this.find = find;
    this.coverages = new Float64Array(DRAWS);
    this.still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    this.drawn = 0;
    this.wanted = false;
    this.find(".draw").onclick = () => (this.drawing ? this.pause() : this.start(this.drawn >= DRAWS));
    this.find("[data-panel=redraw]").ontoggle = () => this.show();
    this.label();
  }

  // Earlier draws belong to another distribution if the score, the split, the size or alpha changes.
  take(subject) {
    const key = JSON.stringify([subject.key, subject.alpha]);
    if (key === this.key) return;
    this.key = key;
    this.subject = subject;
    this.stop();
    this.drawn = 0;
    this.law = null;
    clearTimeout(this.again);
    if (this.wanted && this.open()) this.again = setTimeout(() => this.start(), AGAIN_AFTER_MS);
    else this.again = setTimeout(() => this.show(), AGAIN_AFTER_MS);
  }

  open() {
    return this.find("[data-panel=redraw]").open;
  }

  start(again = false) {
    if (again) this.drawn = 0;
    this.wanted = true;
    this.drawing = redrawer(this.subject.prepared);
    this.label();
    this.step();
  }

  pause() {
    this.wanted = false;
    this.stop();
    this.show();
  }

  stop() {
    cancelAnimationFrame(this.frame);
    this.drawing = null;
    this.label();
  }

  step() {
    const until = performance.now() + (this.still ? STILL_MS : FRAME_MS);
    do {
      [this.coverages[this.drawn]] = this.drawing.draw(this.drawn, ["exact"], this.subject.alpha);
      this.drawn++;
    } while (this.drawn < DRAWS && performance.now() < until);
    if (this.drawn >= DRAWS) this.stop();
    else this.frame = requestAnimationFrame(() => this.step());
    if (!this.still || !this.drawing) this.show(); // with reduced motion, everything appears at once at the end
  }

  label() {
    const word = this.drawing
      ? "Pause"
      : this.drawn && this.drawn < DRAWS
        ? "Continue"
        : `Draw ${DRAWS.toLocaleString("en")} splits`;
    say(this.find(".draw"), word);
  }

  show() {
    if (!this.subject) return;
    if (this.find("[data-panel=redraw]").open) this.showLaw();
  }

  showLaw() {
    const { slot, alpha, prepared, coverage } = this.subject;
    const { n } = prepared;
    const host = this.find("[data-plot=redraw] .plot");
    const m = this.subject.pool - n;
    if (host.clientWidth !== this.width) this.law = null;
    this.width = host.clientWidth;
    const full = Math.ceil(((n + 1) * (1000 - alpha)) / 1000) > n;
    this.find("[data-plot=redraw]").hidden = full;
    if (full) return say(this.find(".redrawn"), "At this alpha, every option stays in every set for every split.");
    this.law ??= lawFigure(host, `Coverages of random splits by ${slot.title}, against their law`, slot, {
      n,
      m,
      alpha,
      ties: strataTies(prepared)[0],
    });
    const outside = this.law(this.coverages, this.drawn, coverage);
    const many = n.toLocaleString("en");
    const rest = m.toLocaleString("en");
    if (!this.drawn)
      return say(
        this.find(".redrawn"),
        `Each split calibrates on ${many} questions drawn at random and tests on the other ${rest}.`,
      );
    const { mean, low, high } = spread(this.coverages, this.drawn);
    say(
      this.find(".redrawn"),
      `${this.drawn.toLocaleString("en")} splits with ${many} calibration and ${rest} test questions have a mean coverage of ` +
        `${percent(mean, 2)}. 95% of them lie between ${percent(low, 1)} and ${percent(high, 1)}.` +
        beyondSaid(outside),
    );
  }
}
