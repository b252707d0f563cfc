// Step 5: coverage of this split, and after the guess the law of coverage and as many redrawn splits as a person asks
// for. The axis counts from the target, so that it stays still while alpha moves.

import { draw, make, put, say } from "../../shared/dom.js";
import { bands, betaBinomialLaw } from "../../shared/coverage_distributions.js";
import { percent } from "../../shared/formatting.js";
import { strataTies } from "../../shared/sets.js";
import { GROUND, axes, roundTicks, tall } from "../../shared/svg.js";
import { stripReach } from "../../alpha_lab/figures.js";
import { redrawer } from "../../alpha_lab/redraw.js";

const MANY = 1000;
const MOST_BARS = 41;
const PER_FRAME = 20;
const AGAIN_MS = 200;

const signed = (points) => `${points > 0 ? "+" : points < 0 ? "−" : ""}${Math.abs(points)}`;

export const shuffledFigure = {
  questions: "both",
  caption: "The triangle is the coverage of this run's split. Your guess is a range around the target.",
  answered:
    "Triangle: this run's split. Bars: your shuffles. Line: what theory expects. Shaded: where 95% of draws lie.",
  build(host, { run, kept }) {
    const reach = stripReach(bands(run.n, run.m, strataTies(run.lac)[0])) * 1.2;
    const plot = make("div");
    plot.style.height = tall(300);
    const row = make("div.guess-buttons.shuffles");
    const buttons = [1, MANY].map((count) => {
      const button = make(
        "button",
        { onclick: () => drawMore(count) },
        count === 1 ? "Shuffle once" : `Shuffle ${MANY.toLocaleString("en")} times`,
      );
      row.append(button);
      return button;
    });
    const status = make("p.drawn-said", { role: "status" });
    host.replaceChildren(plot, row, status);
    const { svg, x, y } = axes(plot, "Coverage in points from the target", {
      xMin: -reach,
      xMax: reach,
      xTicks: roundTicks(-reach, reach, 7).ticks,
      xFormat: (tick) => (tick ? signed(tick) : "target"),
      xTitle: "percentage points from the target",
      yMax: 1.15,
      ...GROUND,
    });
    // Each bar counts the splits with this many covered questions in a row.
    const counts = Math.ceil((2 * reach * run.m) / 100);
    const perBar = Math.ceil(counts / MOST_BARS);
    const bins = Math.ceil(counts / perBar);
    const wide = (100 * perBar) / run.m;
    const band = draw(svg, "rect", { class: "test", y: y(1.1), height: y(0) - y(1.1) });
    const bars = Array.from({ length: bins }, () =>
      draw(svg, "rect", { class: "fill-lac", width: Math.max(1, x(wide) - x(0) - 1) }),
    );
    const lawLine = draw(svg, "path", { class: "law" });
    draw(svg, "line", { class: "target", x1: x(0), x2: x(0), y1: y(1), y2: y(0) });
    const own = draw(svg, "path", { class: "own-mark", d: "M0,0l6,-11h-12z" });
    const mark = draw(svg, "g", { class: "your-guess" });
    const ends = draw(mark, "path", {});
    const width = draw(mark, "path", { class: "width" });
    draw(mark, "text", { x: x(0), y: y(1.1) - 4, "text-anchor": "middle" }, "your guess");
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    const redrawn = redrawer(run.lac);
    let frame = null;
    let again = null;
    let last = null;

    const within = (points) => Math.max(-reach, Math.min(reach, points));
    const pointsOf = (coverage, alpha) => 100 * (coverage - (1 - alpha / 1000));
    // The fewest covered questions on the axis, and the left end of a bar in points.
    const fewest = (alpha) => Math.ceil(((100 - alpha / 10 - reach) * run.m) / 100);
    const leftOf = (bin, alpha) => pointsOf((fewest(alpha) + bin * perBar - 0.5) / run.m, alpha);
    // The sum of `weights` of numbers of covered questions, for each bar.
    const binned = (hits, weights, alpha) => {
      const sums = new Float64Array(bins);
      hits.forEach((count, i) => {
        const bin = Math.floor((count - fewest(alpha)) / perBar);
        if (bin >= 0 && bin < bins) sums[bin] += weights ? weights[i] : 1;
      });
      return sums;
    };
    const expected = (alpha) => {
      const law = betaBinomialLaw(run.n, run.m, alpha, strataTies(run.lac)[0]);
      return binned(
        Array.from(law, (_, hits) => hits),
        law,
        alpha,
      );
    };
    const showBars = () => {
      const { alpha } = last[0];
      const heights = binned(
        kept.drawn.map((coverage) => Math.round(coverage * run.m)),
        null,
        alpha,
      );
      const sum = kept.drawn.reduce((total, coverage) => total + coverage, 0);
      const drawn = kept.drawn.length;
      const most = Math.max(...expected(alpha));
      // A few draws are shown as blocks of equal height; many are on the scale of the law.
      const unit = Math.min(0.06, 1 / (most * Math.max(drawn, 1)));
      bars.forEach((bar, i) => {
        const top = y(Math.min(1.12, heights[i] * unit));
        put(bar, { x: x(leftOf(i, alpha)) + 0.5, y: top, height: y(0) - top });
      });
      say(
        status,
        drawn
          ? `${drawn.toLocaleString("en")} ${drawn === 1 ? "shuffle" : "shuffles"}: coverage is ${percent(sum / drawn, 1)}${drawn === 1 ? "." : " on average."}`
          : "",
      );
    };
    const stop = () => {
      cancelAnimationFrame(frame);
      frame = null;
    };
    const drawMore = (count) => {
      stop();
      if (kept.drawn.length >= MANY && count === MANY) kept.drawn = [];
      const goal = count === 1 ? kept.drawn.length + 1 : MANY;
      const step = () => {
        const until = still || count === 1 ? goal : Math.min(goal, kept.drawn.length + PER_FRAME);
        while (kept.drawn.length < until) kept.drawn.push(redrawn.draw(kept.drawn.length, ["exact"], kept.at)[0]);
        showBars();
        frame = kept.drawn.length < goal ? requestAnimationFrame(step) : null;
      };
      step();
    };
    const update = (at, { open, guess }) => {
      const moved = kept.at !== at.alpha;
      const many = kept.drawn?.length ?? 0;
      last = [at];
      if (moved) {
        stop();
        clearTimeout(again);
        kept.drawn = [];
        kept.at = at.alpha;
        if (many >= MANY) again = setTimeout(() => open && plot.isConnected && drawMore(MANY), AGAIN_MS);
      }
      const full = !Number.isFinite(at.lac.threshold);
      own.setAttribute("transform", `translate(${x(within(pointsOf(at.lac.coverage, at.alpha)))},${y(0)})`);
      for (const node of [band, lawLine]) node.style.display = open && !full ? "" : "none";
      row.style.display = open && !full ? "" : "none";
      for (const button of buttons) button.disabled = !open;
      const [low, high] = at.band.map((share) => pointsOf(share, at.alpha));
      put(band, { x: x(low), width: Math.max(1, x(high) - x(low)) });
      if (open && !full) {
        const shares = expected(at.alpha);
        const most = Math.max(...shares);
        let d = "";
        shares.forEach((share, i) => {
          const from = within(leftOf(i, at.alpha));
          const to = within(leftOf(i, at.alpha) + wide);
          d += `${i ? "L" : "M"}${x(from).toFixed(1)},${y(share / most).toFixed(1)}H${x(to).toFixed(1)}`;
        });
        lawLine.setAttribute("d", d);
      }
      mark.style.display = guess === null ? "none" : "";
      const half = Math.min(reach, (guess ?? 0) / 2);
      ends.setAttribute("d", `M${x(-half)},${y(0)}V${y(1.1)}M${x(half)},${y(0)}V${y(1.1)}`);
      const [left, right, level] = [x(-half), x(half), y(1.06)];
      width.setAttribute("d", `M${left + 6},${level - 4}l-6,4l6,4M${left},${level}H${right}m-6,-4l6,4l-6,4`);
      showBars();
    };
    return update;
  },
  describe: (at, { open }) =>
    `Coverage of this split is ${percent(at.lac.coverage, 1)}.` +
    (open ? ` In 95% of draws it lies between ${percent(at.band[0], 1)} and ${percent(at.band[1], 1)}.` : ""),
};
