// The stream lab. Two runs come in once. While alpha, gamma or the change moves, the whole stream is followed again and
// painted within a frame. Only what a person releases is sent to Python.

import { AlphaControl } from "../shared/alpha_control.js";
import { betaBinomialBand, tiesOf } from "../shared/coverage_distributions.js";
import { choices, plainAlpha, say, setThemeColors } from "../shared/dom.js";
import { counted, percent } from "../shared/formatting.js";
import { hints } from "../shared/hints.js";
import { Live } from "../shared/live.js";
import { mounted } from "../shared/mounted.js";
import { Presenter } from "../shared/presenter.js";
import { promisedBand } from "./adaptive.js";
import { streamAnswer } from "./answer.js";
import { alarmOf, logarithmOf } from "./betting.js";
import { NumberDial } from "../shared/number_dial.js";
import { drawnOrder, follow, poolOfTables, streamAt, stretch, usualChange, windowCoverage } from "./streams.js";
import { Tracks, powerOfTen } from "./tracks.js";

const [SHORTEST, LONGEST, USUAL_LENGTH] = [100, 10000, 10000];
const [NARROWEST, WIDEST, USUAL_WINDOW] = [20, 1000, 100];
const USUAL_GAMMA = 5; // thousandths
const MOST_ORDER = 999999;
const SMALLEST_STREAM_TEXT = 11; // pixels, in the figures

function capitalText(capital, t) {
  if (t < 0) return "1";
  const log = logarithmOf(capital, t);
  if (log >= 6 || log < -3) return `about ${powerOfTen(Math.round(log))}`;
  const value = 10 ** log;
  return value.toLocaleString("en", { maximumFractionDigits: value < 1 ? 3 : value < 100 ? 1 : 0 });
}

class StreamLab extends Live {
  constructor(root) {
    super(root, ".lab");
    const released = () => this.released();
    this.alpha = new AlphaControl(this.find, { move: (alpha) => this.move({ alpha }), released });
    this.gamma = new NumberDial(this.find, "gamma", {
      scale: 1000,
      move: (gamma) => this.move({ gamma }),
      released,
      rule: (most) => `gamma must be between 0 and ${most / 1000}.`,
    });
    this.change = new NumberDial(this.find, "change", {
      move: (change) => this.move({ change: String(change) }),
      released,
      rule: (most) => `The change must come after 0 to ${most.toLocaleString("en")} questions.`,
    });
    this.listen();
    hints(root);
  }

  load(data) {
    const isNew = this.version !== data.version;
    if (isNew) this.pool = poolOfTables(data);
    this.names = data.names;
    this.caveats = data.caveats;
    this.model = data.model;
    if (isNew || this.revision !== data.revision) this.view = { ...data.view };
    this.version = data.version;
    this.revision = data.revision;
    this.ink = data.ink;
    this.section.classList.toggle("aps", data.ink === "aps");
    this.section.classList.toggle("unchanging", !this.pool.secondCount);
    this.find(".change-dial").hidden = !this.pool.secondCount;
    this.find(".score-switch").hidden = data.outside; // an embed has the scores of one
    if (!data.outside) choices(this.find("#score"), data.scores);
    this.section.classList.remove("fresh");
    this.orderAnew();
    // What is not at its default is in sight.
    const { score, gamma, last, draw, length } = this.view;
    if (score !== "lac" || gamma !== USUAL_GAMMA || last !== USUAL_WINDOW || draw || length)
      this.find(".forming").open = true;
    if (!data.outside) this.presenter ??= this.presentable();
    this.presenter?.show();
  }

  presentable() {
    return new Presenter(this.section, {
      place: this.find(".dials"),
      smallest: SMALLEST_STREAM_TEXT,
      view: () => this.view,
      change: (values) => {
        Object.assign(this.view, values);
        this.report();
      },
      alpha: () => this.view.alpha,
      move: (alpha) => this.alpha.jump(alpha),
      release: () => this.released(),
      layout: () => this.build(),
      about: () => `${this.model} · ${this.find("#score").selectedOptions[0].text}`,
      caveats: () => this.caveats,
      scores: () => [],
    });
  }

  // ---- input

  listen() {
    this.find("#score").onchange = (event) => this.set({ score: event.target.value });
    this.find("#window").onchange = (event) =>
      this.typed(event.target, "last", [NARROWEST, WIDEST], "The coverage of the last questions takes");
    this.find("#order").onchange = (event) => this.typed(event.target, "draw", [0, MOST_ORDER], "An order is");
    this.find("#length-number").onchange = (event) =>
      this.typed(event.target, "length", [SHORTEST, LONGEST], "A drawn stream has");
    this.find(".next-order").onclick = () => this.set({ draw: (this.view.draw + 1) % (MOST_ORDER + 1) });
    for (const radio of this.all("[name=length]"))
      radio.onchange = () => this.set({ length: radio.value === "once" ? 0 : USUAL_LENGTH, change: "" });
    for (const plot of this.all(".tracks .plot")) this.dragIn(plot);
  }

  // The change follows the pointer in each figure.
  dragIn(plot) {
    const { plot: name } = plot.closest("figure").dataset;
    const follow = (event) => {
      const question = this.tracks[name].questionAt(event.clientX);
      this.move({ change: String(Math.max(0, Math.min(this.drawn.most, question))) });
    };
    plot.onpointerdown = (event) => {
      if (event.button !== 0 || !this.pool.secondCount) return;
      plot.setPointerCapture(event.pointerId);
      plot.onpointermove = follow;
      follow(event);
    };
    plot.onpointerup = plot.onpointercancel = () => {
      if (!plot.onpointermove) return;
      plot.onpointermove = null;
      this.released();
    };
  }

  typed(field, name, [least, most], words) {
    const value = Number(field.value);
    const isWhole = field.value.trim() !== "" && Number.isInteger(value);
    if (!isWhole || value < least || value > most) {
      const range = `${words} a whole number from ${least} to ${most.toLocaleString("en")}`;
      say(this.find("#switch-problem"), `${range}. It stays at ${this.view[name].toLocaleString("en")}.`);
      field.value = this.view[name];
      return;
    }
    this.set({ [name]: value });
  }

  set(values) {
    Object.assign(this.view, values);
    say(this.find("#switch-problem"), "");
    this.orderAnew();
    this.report();
  }

  move(values) {
    Object.assign(this.view, values);
    this.paintSoon();
  }

  released() {
    this.paint();
    this.report();
  }

  // ---- from the view to the figures

  orderAnew() {
    const key = JSON.stringify([this.version, this.view.draw, this.view.length]);
    if (key !== this.drawnFor) this.drawn = drawnOrder(this.pool, { order: this.view.draw, length: this.view.length });
    this.drawnFor = key;
    this.stream = null;
    this.withinReach();
    const again = this.view.length > 0;
    for (const radio of this.all("[name=length]")) radio.checked = (radio.value === "again") === again;
    const length = this.find("#length-number");
    length.hidden = length.nextElementSibling.hidden = !again;
    length.value = this.view.length || USUAL_LENGTH;
    this.find("#window").value = this.view.last;
    this.find("#score").value = this.view.score;
    this.find("#order").value = this.view.draw;
    this.build();
  }

  // A link can ask for more questions before the change than this run has.
  withinReach() {
    const { most } = this.drawn;
    const change = Number(this.view.change);
    say(this.change.problem, "");
    if (!this.pool.secondCount || change <= most) return;
    const there = most.toLocaleString("en");
    say(
      this.change.problem,
      `At most ${there} questions can come before the change, not ${change.toLocaleString("en")}. It comes after ${there}.`,
    );
    this.view.change = String(most);
  }

  get asked() {
    return !this.pool.secondCount || this.view.change === "" ? usualChange(this.drawn) : Number(this.view.change);
  }

  resized() {
    if (this.drawn && this.section.clientWidth !== this.width) this.build();
  }

  build() {
    this.width = this.section.clientWidth;
    this.tracks = new Tracks((name) => this.find(`[data-plot=${name}] .plot`), this.drawn.longest, this.ink);
    this.paint();
  }

  paint() {
    this.painted();
    const { alpha, gamma } = this.view;
    if (this.stream?.change !== Math.min(this.asked, this.drawn.most) || this.stream.drawn !== this.drawn)
      this.stream = streamAt(this.drawn, this.asked);
    const { stream } = this;
    const figures = follow(stream, alpha, gamma);
    const window = Math.min(this.view.last, stream.rows.length);
    const coverage = [figures.fixed, figures.adaptive].map(({ missed }) => windowCoverage(missed, window));
    const alarm = alarmOf(stream.capital);
    this.tracks.paint({ stream, found: figures, alpha, alarm, coverage });
    this.alpha.set(alpha);
    this.alpha.paint(alpha, "");
    this.gamma.show(gamma, String(gamma / 1000));
    this.change.show(stream.change, `after ${stream.change} questions`, this.drawn.most);
    say(this.find(".said-window"), window.toLocaleString("en"));
    this.figures(figures, alarm);
  }

  // ---- words

  figures(figures, alarm) {
    const { stream } = this;
    const { change } = stream;
    const end = stream.rows.length;
    const parts = {};
    for (const way of ["fixed", "adaptive"]) {
      const before = stretch(figures[way], 0, change);
      const after = stretch(figures[way], change, end);
      const shown = this.pool.secondCount ? after : before;
      parts[way] = { before, after };
      this.put(`${way}-after`, shown.coverage, shown.count ? percent(shown.coverage, 1) : "–");
      this.put(`${way}-before`, before.coverage, before.count ? percent(before.coverage, 1) : "–");
      this.put(`${way}-size-before`, before.meanSize, before.count ? before.meanSize.toFixed(2) : "–");
      this.put(`${way}-size-after`, after.meanSize, after.count ? after.meanSize.toFixed(2) : "–");
    }
    for (const label of this.all(".lead .label:not(.alarm-label)"))
      say(label, this.pool.secondCount ? "coverage after the change" : "coverage");
    this.saidFixed(figures.fixed);
    this.saidAdaptive(figures.adaptive, end);
    this.saidBets(alarm);
    this.saidStream();
    const answer = this.answer(figures.fixed, parts, alarm);
    this.speakSoon(() => this.speak(answer));
  }

  put(name, value, text) {
    const shown = this.find(`[data-figure=${name}]`);
    shown.dataset.value = value;
    say(shown, text);
  }

  saidFixed({ threshold }) {
    const n = this.drawn.sorted.length;
    const text =
      threshold === Infinity
        ? `With ${counted(n, "calibration question", "calibration questions")}, alpha is too small: every set holds every option.`
        : `Promised is ${percent(1 - this.view.alpha / 1000, 1)} or more on average, as long as the questions are like those that calibrate.`;
    say(this.find(".fixed-said"), text);
  }

  saidAdaptive({ thresholds }, end) {
    let full = 0;
    let empty = 0;
    for (const threshold of thresholds) {
      if (threshold === Infinity) full++;
      if (threshold === -Infinity) empty++;
    }
    const [low, high] = promisedBand(end, this.view.alpha, this.view.gamma);
    const promise =
      this.view.gamma === 0
        ? "With gamma 0, the level never moves and nothing is promised."
        : `Promised for the whole stream, whatever comes: ${percent(low, 1)} to ${percent(high, 1)}.`;
    const ends =
      full || empty
        ? ` Where the level leaves 0 to 1, or nearly, ${counted(full, "set holds", "sets hold")} every option and ${counted(empty, "set", "sets")} none.`
        : "";
    const note = this.find(".adaptive-said");
    note.dataset.value = `${low} ${high} ${full} ${empty}`;
    say(note, promise + ends);
  }

  saidBets(alarm) {
    const { change, capital } = this.stream;
    if (capital === this.saidCapital) return;
    this.saidCapital = capital;
    const changes = this.pool.secondCount > 0;
    const late = alarm + 1 - change;
    const noticed = alarm >= 0;
    this.put("alarm", alarm, !noticed ? "not noticed" : changes && late > 0 ? `after ${late}` : `false alarm`);
    const words = !noticed
      ? "the capital never reaches 20"
      : changes && late > 0
        ? `${late === 1 ? "question" : "questions"} of the new kind`
        : `at question ${(alarm + 1).toLocaleString("en")}, ${changes ? "before the change" : "though nothing changed"}`;
    say(this.find(".alarm-label"), words);
    this.put("capital-change", change - 1, capitalText(capital, change - 1));
    say(
      this.find(".bets-said"),
      "Without a change, at most 1 in 20 streams ever reaches 20. A low capital does not show that nothing has changed.",
    );
  }

  saidStream() {
    const { drawn, stream, names } = this;
    const { n, firstCount, secondCount } = this.pool;
    const later = stream.rows.length - stream.change;
    const kinds =
      `${counted(stream.change, "question", "questions")} of ${names[0]}` +
      (secondCount ? `, then ${later.toLocaleString("en")} of ${names[1]}` : " and no change");
    const few = drawn.length > firstCount + secondCount ? "only " : "";
    const there = [firstCount, secondCount].filter(Boolean).map((count) => count.toLocaleString("en"));
    const order = drawn.length
      ? `${secondCount ? "The runs have" : "The run has"} ${few}${there.join(" and ")} different questions; each is drawn at random from all of its run and can come several times.`
      : "Each question comes once, in a random order.";
    say(this.find(".said-stream"), `${kinds}; ${n.toLocaleString("en")} others calibrate. ${order}`);
  }

  // Writes the answer in words, and returns it.
  answer({ threshold }, { fixed, adaptive }, alarm) {
    const { stream, drawn, pool, names } = this;
    const { alpha } = this.view;
    const n = drawn.sorted.length;
    const shown = pool.secondCount ? "after" : "before";
    const isFull = threshold === Infinity;
    const texts = streamAnswer({
      alpha,
      n,
      isFull,
      after: { fixed: fixed[shown].coverage, adaptive: adaptive[shown].coverage },
      band: isFull ? [] : this.chanceBand(fixed[shown].count),
      alarm,
      change: stream.change,
      second: pool.secondCount ? names[1] : "",
    });
    say(this.find(".lab-answer"), texts[0]);
    say(this.find(".answer .promise"), texts[1]);
    return texts.join(" ");
  }

  // The range in which chance alone leaves the coverage of this many questions, the last of the stream.
  chanceBand(count) {
    const { stream, drawn } = this;
    stream.ties ??= { of: tiesOf(drawn.sorted, stream.truth.subarray(stream.truth.length - count)) };
    return betaBinomialBand(drawn.sorted.length, count, this.view.alpha, { ties: stream.ties.of });
  }

  speak(answer) {
    const text = `At alpha ${plainAlpha(this.view.alpha)} and gamma ${this.view.gamma / 1000}: ${answer}`;
    say(this.find(".summary"), text);
    for (const name of ["coverage", "level", "capital"])
      this.tracks[name].svg.setAttribute("aria-label", `${this.tracks[name].label}. ${text}`);
  }
}

export default mounted(
  (root) => new StreamLab(root),
  (lab, { data, setStateValue }) => {
    lab.send = setStateValue;
    setThemeColors(lab.host, lab.section);
    lab.load(data);
  },
);
