// One temperature for all probabilities: reliability, ECE, NLL and sets follow the pointer. The value at which a person
// releases it is sent to Python.

import { draw, make, put, say, setThemeColors } from "../../shared/dom.js";
import { hints } from "../../shared/hints.js";
import { shareInterval } from "../../shared/coverage_distributions.js";
import { SHARE_ACROSS, SHARE_UP, asPercent, axes, steps } from "../../shared/svg.js";
import { percent } from "../../shared/formatting.js";
import { Live } from "../../shared/live.js";
import { mounted } from "../../shared/mounted.js";
import { atTemperature, hold, nll } from "./tempering.js";

const PLACES = 100;
const WIDEST = 5;
const HUNDRED = 100;
const REACHES = [0.2, 0.4, 0.6, 1];
const [COLDEST, HOTTEST] = [20, 500];
// Says why the NLL is infinite or is not there.
const endless = ({ nllInfinite, nll: loss, n }) =>
  Number.isNaN(loss)
    ? " Frequencies have no NLL, because an option without a pick can be right."
    : nllInfinite
      ? ` ${nllInfinite} of ${n} test questions give the truth a probability of 0. No temperature changes that, so the NLL is infinite (∞).`
      : "";
const READINGS = [
  [
    "ece",
    "Observed ECE",
    "The gap between confidence and accuracy in these questions, on average over bins. 0 is best. The table above also shows how much of it is beyond chance.",
    (figures) => figures.ece.toFixed(3),
  ],
  ["nll", "NLL", "−log of the true option’s probability, on average. Lower is better.", nll],
  [
    "over",
    "Overconfidence",
    "The part of the observed ECE from bins whose confidence is above their accuracy.",
    (figures) => figures.over.toFixed(3),
  ],
  [
    "accuracy",
    "Accuracy",
    "A temperature never changes which option is the most probable.",
    (figures) => percent(figures.accuracy, 1),
  ],
  [
    "lac-size",
    "LAC set size",
    "The mean number of options in a set. The threshold is computed again at each temperature.",
    (figures) => figures.sets.lac.meanSize.toFixed(2),
  ],
  [
    "lac-coverage",
    "LAC coverage",
    "The share of LAC sets that hold the truth. The guarantee holds at every temperature.",
    (figures) => percent(figures.sets.lac.coverage, 1),
  ],
  [
    "aps-size",
    "APS set size",
    "The mean number of options in a set.",
    (figures) => figures.sets.aps.meanSize.toFixed(2),
  ],
  [
    "aps-coverage",
    "APS coverage",
    "The share of APS sets that hold the truth. The guarantee holds at every temperature.",
    (figures) => percent(figures.sets.aps.coverage, 1),
  ],
];

const hundredthsAt = (place) => Math.round(HUNDRED * WIDEST ** (place / PLACES));
const placeOf = (hundredths) => Math.round((PLACES * Math.log(hundredths / HUNDRED)) / Math.log(WIDEST));
const shownTemperature = (hundredths) => (hundredths / HUNDRED).toFixed(2);

function heldOf({ rows }) {
  const count = rows.numRows;
  let k = 0;
  while (rows.getChild(`l${k}`)) k++;
  const logs = new Float64Array(count * k);
  for (let j = 0; j < k; j++) {
    const column = rows.getChild(`l${j}`).toArray();
    for (let i = 0; i < count; i++) logs[i * k + j] = column[i];
  }
  return hold({
    logs,
    k,
    labels: Int32Array.from(rows.getChild("y").toArray()),
    own: Uint8Array.from(rows.getChild("own").toArray()),
    frequencies: Boolean(rows.getChild("frequency")),
  });
}

class Dial extends Live {
  reportAfter = 120;

  constructor(root) {
    super(root, ".lab");
    this.range = this.find("#temperature");
    this.number = this.find("#temperature-number");
    this.range.oninput = () => this.move(hundredthsAt(Number(this.range.value)));
    this.range.onchange = () => this.report();
    this.number.onchange = () => this.typed();
    this.find(".plain-one").onclick = () => this.jump(HUNDRED);
    this.find(".fitted").onclick = () => this.jump(this.fitted);
    this.cells = this.readings();
    hints(root);
  }

  readings() {
    const list = this.find(".readings");
    list.replaceChildren(); // Streamlit can mount a component again on the same element
    return READINGS.map(([name, title, gloss, written]) => {
      const now = make("dd.big");
      const then = make("dd.then");
      const term = make("dt", { title: gloss }, title);
      now.dataset.figure = name;
      list.append(term, now, then);
      return { now, then, written };
    });
  }

  load(data) {
    const isNew = this.version !== data.version;
    if (isNew) this.held = heldOf(data);
    this.version = data.version;
    this.asked = { alpha: data.alpha, bins: data.bins, by: data.by };
    this.fitted = data.fitted;
    const button = this.find(".fitted");
    button.hidden = !this.fitted;
    say(button, this.fitted ? `${shownTemperature(this.fitted)}, fitted on other questions` : "");
    if (isNew || this.revision !== data.revision) this.hundredths = data.t;
    this.revision = data.revision;
    this.range.value = placeOf(this.hundredths);
    this.first = this.at(HUNDRED);
    this.section.classList.remove("fresh");
    this.width = null;
    this.build();
  }

  get reported() {
    return this.hundredths;
  }

  at(hundredths) {
    return atTemperature(this.held, { ...this.asked, temperature: hundredths / HUNDRED });
  }

  move(hundredths) {
    this.hundredths = hundredths;
    say(this.find("#temperature-problem"), "");
    this.paintSoon();
  }

  jump(hundredths) {
    this.range.value = placeOf(hundredths);
    this.move(hundredths);
    this.report();
  }

  typed() {
    const hundredths = Math.round(Number(this.number.value) * HUNDRED);
    if (hundredths >= COLDEST && hundredths <= HOTTEST) return this.jump(hundredths);
    say(
      this.find("#temperature-problem"),
      `The temperature must be between 0.20 and 5.00. It stays at ${shownTemperature(this.hundredths)}.`,
    );
    this.number.value = shownTemperature(this.hundredths);
  }

  build() {
    const width = this.section.clientWidth;
    if (!this.held || width === this.width) return;
    this.width = width;
    this.updates = [this.reliabilityFigure(), this.confidenceFigure()];
    this.paint();
  }

  reliabilityFigure() {
    const { svg, x, y, width } = axes(
      this.find("[data-plot=reliability] .plot"),
      "Accuracy against confidence, bin by bin",
      {
        ...SHARE_ACROSS,
        xTitle: "Confidence",
        ...SHARE_UP,
        yTitle: "Accuracy",
      },
    );
    draw(svg, "line", { class: "ideal", x1: x(0), y1: y(0), x2: x(1), y2: y(1) });
    const most = Math.min(width / 18, 18);
    const radius = (count) => 2 + most * Math.sqrt(count / this.held.test.length);
    const { counts, confidence, accuracies } = this.first;
    counts.forEach(
      (count, b) =>
        count && draw(svg, "circle", { class: "ring", cx: x(confidence[b]), cy: y(accuracies[b]), r: radius(count) }),
    );
    const marks = Array.from({ length: this.asked.bins }, () => ({
      whisker: draw(svg, "line", { class: "whisker bin" }),
      mark: draw(svg, "circle", { class: "bin" }),
    }));
    return (figures) =>
      marks.forEach(({ whisker, mark }, b) => {
        const n = figures.counts[b];
        whisker.style.display = mark.style.display = n ? "" : "none";
        if (!n) return;
        const at = x(figures.confidence[b]);
        const [low, high] = shareInterval(figures.hits[b], n);
        put(whisker, { x1: at, x2: at, y1: y(low), y2: y(high) });
        put(mark, { cx: at, cy: y(figures.accuracies[b]), r: radius(n) });
      });
  }

  // The axis reaches as high as the highest bar needs, in a few steps, so that it mostly stays still.
  confidenceFigure() {
    let reached = null;
    let show = null;
    return (figures) => {
      const highest = Math.max(...figures.counts) / this.held.test.length;
      const most = REACHES.find((reach) => highest <= reach);
      if (most !== reached) show = this.bars(most);
      reached = most;
      show(figures);
    };
  }

  bars(most) {
    const { svg, x, y } = axes(
      this.find("[data-plot=confidence] .plot"),
      "Questions by confidence, and those that are right",
      {
        ...SHARE_ACROSS,
        xTitle: "Confidence",
        yMax: most,
        yTicks: steps(4, most / 4),
        yFormat: asPercent,
        yTitle: "Share of the questions",
      },
    );
    const bars = Array.from({ length: this.asked.bins }, () => [
      draw(svg, "rect", { class: "all" }),
      draw(svg, "rect", { class: "right" }),
    ]);
    return (figures) =>
      bars.forEach((pair, b) => {
        const left = x(figures.edges[b]);
        const wide = Math.max(0, x(figures.edges[b + 1]) - left - 1);
        [figures.counts[b], figures.hits[b]].forEach((count, i) => {
          const top = y(count / this.held.test.length);
          put(pair[i], { x: left, width: wide, y: top, height: y(0) - top });
        });
      });
  }

  paint() {
    this.painted();
    const figures = this.at(this.hundredths);
    this.updates.forEach((update) => update(figures));
    this.cells.forEach(({ now, then, written }) => {
      say(now, written(figures));
      say(then, `at 1.00: ${written(this.first)}`);
    });
    this.note(figures);
    this.number.value = shownTemperature(this.hundredths);
    this.range.setAttribute("aria-valuetext", `temperature ${shownTemperature(this.hundredths)}`);
    const effect = this.hundredths < HUNDRED ? "more confident" : "less confident";
    const meaning =
      this.hundredths === HUNDRED
        ? "At 1, the probabilities are the model’s own. A higher temperature makes them more equal, a lower one less equal."
        : `Every probability is raised to the power 1/${shownTemperature(this.hundredths)} and scaled to sum to 1, which makes the model ${effect}.`;
    say(this.find(".promise"), meaning + endless(figures));
    this.speakSoon(() =>
      say(
        this.find(".summary"),
        `At temperature ${shownTemperature(this.hundredths)} ECE ${figures.ece.toFixed(3)}, NLL ${nll(figures)}, LAC ${figures.sets.lac.meanSize.toFixed(2)} and APS ${figures.sets.aps.meanSize.toFixed(2)} options.`,
      ),
    );
  }

  // Full precision, for scripts that read the page.
  note({ ece, nll: loss, over, accuracy, sets: { lac, aps } }) {
    const values = [ece, loss, over, accuracy, lac.meanSize, lac.coverage, aps.meanSize, aps.coverage];
    this.cells.forEach(({ now }, i) => {
      now.dataset.value = values[i];
    });
  }
}

export default mounted(
  (root) => new Dial(root),
  (dial, { data, setStateValue }) => {
    dial.send = (_, hundredths) => setStateValue("t", hundredths);
    setThemeColors(dial.host, dial.section);
    dial.load(data);
  },
);
