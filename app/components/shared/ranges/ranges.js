// Figures between two ends, which move with alpha. Data comes in once; only a released alpha is sent to Python.

import { AlphaControl } from "../alpha_control.js";
import { draw, make, put, say, plainAlpha } from "../dom.js";
import { counted, percent, promise } from "../formatting.js";
import { bands } from "../coverage_distributions.js";
import { hints } from "../hints.js";
import { Live, mountedLive } from "../live.js";
import { slotsOf } from "../slots.js";
import { ALPHA_ACROSS, MARKS, SHARE_UP, areaPath, axes, canvas, linePath, linear, steps } from "../svg.js";

const FIGURES = [
  [
    "exact",
    "Sets known exactly",
    "The share of test questions whose set does not depend on probabilities that are not known.",
  ],
  [
    "coverage",
    "Coverage",
    "The share of test questions whose prediction set holds the truth. It is somewhere in this range.",
  ],
  ["size", "Mean set size", "The mean number of options in a prediction set. It is somewhere in this range."],
];
const UNTOLD = "can't be told";

// Two ends as one text; a single figure where they are shown alike.
export function between(low, high, format) {
  const [from, to] = [format(low), format(high)];
  return from === to ? from : `${from.replace(/%$/, "")} to ${to}`;
}

// The stretches of alpha at which every set is known exactly, as [first, last] in thousandths.
export function stretches(shares) {
  const stretches = [];
  for (let alpha = 1; alpha <= shares.length; alpha++) {
    if (shares[alpha - 1] !== 1) continue;
    if (stretches.length && stretches[stretches.length - 1][1] === alpha - 1)
      stretches[stretches.length - 1][1] = alpha;
    else stretches.push([alpha, alpha]);
  }
  return stretches;
}

// Where the nearest alpha is at which every set is known exactly.
export function exactText(alpha, known) {
  if (!known.length) return "At no alpha are all sets known exactly.";
  const count = known.reduce((sum, [first, last]) => sum + last - first + 1, 0);
  const share = `At ${count.toLocaleString("en")} of 999 alphas, every set is known exactly`;
  const here = known.find(([first, last]) => first <= alpha && alpha <= last);
  if (here) return `${share}. This one is among them, as all from ${plainAlpha(here[0])} to ${plainAlpha(here[1])}.`;
  const distance = (at) => Math.abs(at - alpha);
  const nearest = known.flat().reduce((best, at) => (distance(at) < distance(best) ? at : best));
  return `${share}. The nearest of them is ${plainAlpha(nearest)}.`;
}

// What can be said of the guarantee, whatever the true coverage between the ends is.
export function rangeVerdict(low, high, band) {
  if (high < band.low) return "▼ The whole range is below the band: chance alone rarely gives coverage this low.";
  if (low > band.high) return "▲ The whole range is above the band: more than promised.";
  if (low < band.low) return "The range reaches below the band, so it can't be told whether coverage is within it.";
  if (high > band.high) return "✓ No part of the range is below the band.";
  return "✓ Within the band: what the guarantee promises, apart from chance.";
}

export function word(alpha, surely, perhaps) {
  if (alpha <= surely) return "in";
  return alpha <= perhaps ? UNTOLD : "out";
}

export function probabilityText(low, high) {
  if (low <= 1e-9) return `at most ${Math.max(high, 0.001).toFixed(3)}`;
  if (high < 0.0005) return "< 0.001";
  return between(low, high, (p) => p.toFixed(3));
}

class Ranges extends Live {
  constructor(root) {
    super(root, ".lab");
    this.control = new AlphaControl(this.find, {
      move: (alpha) => this.move(alpha),
      released: () => this.report(),
    });
    // An arrow key moves alpha; outside of the component it turns the page.
    this.section.onkeydown = (event) => {
      if (event.key.startsWith("Arrow")) event.stopPropagation();
    };
    hints(root);
  }

  load(data) {
    this.data = data;
    this.section.classList.remove("fresh");
    this.find(".plots").hidden = data.kind !== "lab";
    this.find(".notice").hidden = data.kind !== "lab";
    this.alpha = data.alpha;
    this.build();
  }

  seed(data) {
    this.alpha = data.alpha;
    this.control.set(data.alpha);
    this.paint();
  }

  move(alpha) {
    this.alpha = alpha;
    this.paintSoon();
  }

  get reported() {
    return { alpha: this.alpha };
  }

  resized() {
    const width = this.section.clientWidth;
    if (!this.data || width === this.width) return;
    this.build();
    this.paint();
  }

  // ---- drawing

  build() {
    this.width = this.section.clientWidth;
    this.slots = slotsOf(this.data.scores.map(({ name }) => name));
    const articles = this.data.scores.map((score, i) => {
      const { ink, mark } = this.slots[i];
      const article = make("article.score");
      article.dataset.score = score.name;
      article.setAttribute("aria-label", score.title);
      article.style.setProperty("--own", `var(--${ink})`);
      const heading = make("h3", score.title);
      const key = draw(heading, "svg", { class: "key", viewBox: "-7 -7 14 14", "aria-hidden": "true" });
      draw(key, "path", { d: MARKS[mark] });
      heading.prepend(key);
      article.append(heading);
      return article;
    });
    this.find(".scores").replaceChildren(...articles);
    this.updates = this.data.kind === "lab" ? this.buildLab(articles) : this.buildQuestion(articles);
  }

  paint() {
    this.painted();
    const { alpha } = this;
    this.control.paint(alpha);
    say(this.find("#promise"), promise(alpha));
    const sentences = this.updates.map((update) => update(alpha)).filter(Boolean);
    this.speakSoon(() => say(this.find(".summary"), `At alpha ${plainAlpha(alpha)} ${sentences.join("; ")}.`));
  }

  buildLab(articles) {
    const { data } = this;
    const { n, m, k } = data;
    const digits = m >= 1000 ? 2 : 1;
    const share = (value) => percent(value, digits);
    say(
      this.find(".notice"),
      `The server listed only its most probable tokens. In ${data.bounded.toLocaleString("en")} of ` +
        `${counted(n + m, "question", "questions")}, some letters are not among them, and only an upper bound of their ` +
        "probability is known. So each figure here is a range that is sure to hold the true figure. These ranges are " +
        "not confidence intervals.",
    );
    const band = bands(n, m);
    const at = (name, figure) => data.curves.getChild(`${name}_${figure}`).toArray();
    const ends = Object.fromEntries(
      data.scores.map(({ name }) => [
        name,
        {
          exact: [at(name, "exact"), at(name, "exact")],
          coverage: [at(name, "coverage_low"), at(name, "coverage_high")],
          size: [at(name, "size_low"), at(name, "size_high")],
        },
      ]),
    );
    const formats = { exact: share, coverage: share, size: (value) => value.toFixed(2) };
    const cards = data.scores.map(({ name, title }, i) => {
      const shown = this.buildCard(articles[i], { m, k });
      const known = stretches(ends[name].exact[0]);
      const strip = stripOf(shown.strip, `${title}: the alphas at which all sets are known exactly`, known);
      return (alpha) => {
        for (const [figure] of FIGURES) {
          const [low, high] = ends[name][figure].map((values) => values[alpha - 1]);
          say(shown[figure], between(low, high, formats[figure]));
          shown[figure].dataset.low = low;
          shown[figure].dataset.high = high;
        }
        const [low, high] = ends[name].coverage.map((values) => values[alpha - 1]);
        const limits = { low: band.testLow[alpha - 1], high: band.testHigh[alpha - 1] };
        say(shown.band, `band ${(100 * limits.low).toFixed(digits)} to ${share(limits.high)}`);
        say(shown.verdict, rangeVerdict(low, high, limits));
        say(shown.known, exactText(alpha, known));
        strip(alpha);
        return `${title} sets are known exactly for ${shown.exact.textContent} of questions`;
      };
    });
    const step = Math.ceil(k / 6);
    const percentTicks = { ...SHARE_UP };
    const sizeTicks = { yMax: k, yTicks: steps(Math.floor(k / step), step), yFormat: String };
    const plots = FIGURES.map(([figure, title]) =>
      rangeFigure(this.find(`[data-plot=${figure}] .plot`), `${title} against alpha`, this.slots, {
        ends: data.scores.map(({ name }) => ends[name][figure]),
        bands: figure === "coverage" ? band : null,
        ...(figure === "size" ? sizeTicks : percentTicks),
      }),
    );
    return [...cards, ...plots];
  }

  buildCard(article, { m, k }) {
    const row = make("div.figures-row");
    const notes = {
      exact: `of ${counted(m, "test question", "test questions")}`,
      coverage: "",
      size: `of ${k} options`,
    };
    const shown = {};
    for (const [figure, title, hover] of FIGURES) {
      const box = make("div.figure");
      const label = make("span.label", { title: hover }, title);
      shown[figure] = make("span.big");
      shown[figure].dataset.figure = figure;
      const note = make("span.note", notes[figure]);
      if (figure === "coverage") shown.band = note;
      box.append(label, shown[figure], note);
      row.append(box);
    }
    shown.strip = make("div.strip");
    shown.known = make("p.note");
    shown.verdict = make("p.verdict");
    article.append(row, shown.verdict, shown.strip, shown.known);
    return shown;
  }

  buildQuestion(articles) {
    const { data } = this;
    return data.scores.map((score, i) => {
      const rows = make("div.rows");
      const verdict = make("p.verdict");
      articles[i].append(verdict, rows);
      const shown = data.letters.map((letter, j) => optionRow(rows, data, score, j));
      rows.append(make("div.ends", make("span", "alpha 0"), make("span", "1")));
      return (alpha) => {
        const words = data.letters.map((letter, j) => word(alpha, score.surely[j], score.perhaps[j]));
        shown.forEach((show, j) => show(alpha, words[j]));
        say(verdict, setText(data.letters, words));
        return `the ${score.title} set: ${setText(data.letters, words)}`;
      };
    });
  }
}

export function setText(letters, words) {
  const lettersThatAre = (word) => letters.filter((_, j) => words[j] === word);
  const inside = lettersThatAre("in");
  const untold = lettersThatAre(UNTOLD);
  const known = inside.length ? `{${inside.join(", ")}}` : "{ }";
  return untold.length ? `${known}; for ${untold.join(", ")} it can't be told` : `${known}, known exactly`;
}

function optionRow(rows, data, score, j) {
  const name = make("div.option", make("b", data.letters[j]), ` ${data.options[j]} `);
  if (j === data.truth) name.append(make("span.tag", "truth"), " ");
  name.append(make("span.chance", probabilityText(data.low[j], data.high[j])));
  const track = make("div.track");
  const [surely, perhaps, line] = ["surely", "perhaps", "line"].map((part) => make("span", { className: part }));
  surely.style.width = `${score.surely[j] / 9.99}%`;
  perhaps.style.left = `${score.surely[j] / 9.99}%`;
  perhaps.style.width = `${(score.perhaps[j] - score.surely[j]) / 9.99}%`;
  track.append(surely, perhaps, line);
  const caption = make("div.word");
  rows.append(name, track, caption);
  return (alpha, text) => {
    line.style.left = `${(100 * (alpha - 1)) / 998}%`;
    say(caption, text);
    caption.classList.toggle("out", text === "out");
    caption.classList.toggle("untold", text === UNTOLD);
  };
}

// A rail of all alphas, dark where all sets are known exactly.
function stripOf(host, label, known) {
  const { svg, width } = canvas(host, label, { height: 34 });
  const x = linear(0, 1, 6, width - 6);
  draw(svg, "rect", { class: "rail", x: x(0), width: x(1) - x(0), y: 8, height: 8 });
  for (const [first, last] of known) {
    const from = x((first - 0.5) / 1000);
    draw(svg, "rect", { class: "known", x: from, width: x((last + 0.5) / 1000) - from, y: 8, height: 8 });
  }
  for (const tick of [0, 0.5, 1]) draw(svg, "text", { x: x(tick), y: 30, "text-anchor": "middle" }, String(tick));
  const now = draw(svg, "line", { class: "now", y1: 2, y2: 22 });
  return (alpha) => put(now, { x1: x(alpha / 1000), x2: x(alpha / 1000) });
}

function rangeFigure(host, label, slots, { ends, bands: band, yMax, yTicks, yFormat }) {
  const { svg, x, y } = axes(host, label, {
    ...ALPHA_ACROSS,
    yMax,
    yTicks,
    yFormat,
  });
  const defs = draw(svg, "defs");
  slots.forEach(({ ink }, i) => {
    const pattern = draw(defs, "pattern", {
      id: `hatch-${ink}`,
      patternUnits: "userSpaceOnUse",
      width: 6,
      height: 6,
      patternTransform: `rotate(${i ? -45 : 45})`,
    });
    draw(pattern, "line", { class: `hatch ${ink}`, x1: 0, x2: 0, y1: 0, y2: 6 });
  });
  if (band) draw(svg, "path", { class: "test", d: areaPath(x, y, band.testLow, band.testHigh) });
  slots.forEach(({ ink }, i) => {
    const [low, high] = ends[i];
    draw(svg, "path", { class: `hatched-${ink}`, d: areaPath(x, y, low, high) });
    for (const end of [low, high]) draw(svg, "path", { class: `edge ${ink}`, d: linePath(x, y, end) });
  });
  const now = draw(svg, "line", { class: "now", y1: y(0), y2: y(yMax) });
  return (alpha) => {
    put(now, { x1: x(alpha / 1000), x2: x(alpha / 1000) });
  };
}

export default mountedLive((root) => new Ranges(root));
