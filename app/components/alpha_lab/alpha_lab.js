// The Alpha lab. Data comes in once. While alpha moves, every set is recomputed and painted within a frame. Only the
// value at which a person releases alpha is sent to Python.

import { AlphaControl } from "../shared/alpha_control.js";
import { choices, make, say } from "../shared/dom.js";
import { alternatives } from "./alternatives.js";
import { Bugs } from "./bugs.js";
import { Card } from "./cards.js";
import { byClass, byGroup, curves, evaluate, histogram, prepare, scoreRange, strataTies } from "../shared/sets.js";
import { bySizeFigure, curveFigure, scoresFigure, sizesFigure, stripFigure, stripReach } from "./figures.js";
import { forestFigure, strataSaid } from "./forest.js";
import { bands, guaranteePValue, shareInterval, strataBand } from "../shared/coverage_distributions.js";
import { RedrawnSplits } from "./resampling.js";
import { lookAt, poolOf } from "./splits.js";
import { hints } from "../shared/hints.js";
import { questionTexts } from "../shared/question_texts.js";
import { Questions } from "./questions.js";
import { canSaturate, isDecidedByLittle, saturatedText } from "../shared/saturation.js";
import { Presenter } from "../shared/presenter.js";
import { slotsOf } from "../shared/slots.js";
import { MARKS } from "../shared/svg.js";
import { Switches } from "./switches.js";
import { fullSetText, fullStrataText, labAnswer, percent, promiseKept, summary } from "../shared/formatting.js";
import { Live, mountedLive } from "../shared/live.js";

const BUILD_AFTER_MS = 120;
const BINS = 50;
const SMALLEST_TEXT = 11; // pixels, in the figures
const SIDES = ["left", "right"];
const CHANGES_LOOK = ["extra", "n", "split"];

function sidesOf(view, scores) {
  const slots = slotsOf(SIDES.map((side) => view[side]));
  return SIDES.map((side, i) => ({
    side,
    name: view[side],
    title: scores.find(({ name }) => name === view[side]).title,
    ...slots[i],
  }));
}

function captionOf(figure) {
  return [...figure.querySelector("figcaption").childNodes]
    .filter((node) => !node.hidden)
    .map((node) => node.textContent)
    .join("");
}

class Lab extends Live {
  constructor(root) {
    super(root, ".lab");
    this.cards = Object.fromEntries(SIDES.map((side) => [side, new Card(this.find(`[data-side=${side}]`))]));
    this.switches = new Switches(this.find, this.all, (values, how) => this.change(values, how));
    this.questions = new Questions(this.find, { change: (values) => this.change(values), open: (id) => this.open(id) });
    this.redrawn = new RedrawnSplits(this.find);
    this.bugs = new Bugs(this.find);
    this.listen();
    hints(root);
  }

  load(data) {
    this.scores = data.scores;
    this.name = data.name;
    this.caveats = data.caveats;
    say(this.find(".caveats"), data.caveats);
    this.find(".caveats").hidden = !data.outside || !data.caveats; // the page has them above the lab
    this.pool = poolOf(data);
    this.extra = data.extra;
    this.classes = data.classes;
    this.find(".questions").classList.toggle("named", Boolean(data.classes));
    this.groupNames = data.group_names;
    this.texts = data.questions ? questionTexts(data.questions, data.options) : null;
    this.find(".questions").hidden = !this.texts; // an embed may lack them
    this.switches.catalogue(data.scores);
    this.section.classList.remove("fresh");
    this.look = null;
    if (!data.outside) this.presenter ??= this.presentable();
  }

  seed(data) {
    this.view = { ...data.view };
    this.control.set(this.view.alpha);
    this.lookAnew();
    this.presenter?.show();
  }

  presentable() {
    return new Presenter(this.section, {
      place: this.find(".dial"),
      smallest: SMALLEST_TEXT,
      view: () => this.view,
      change: (values) => this.change(values),
      alpha: () => (this.spotting() ? null : this.view.alpha),
      move: (alpha) => this.control.jump(alpha),
      release: () => this.released(),
      layout: () => this.rebuild(),
      caveats: () => this.caveats,
      about: () => `${this.name} · ${this.drawn.map(({ title }) => title).join(" and ")}`,
      scores: () => (this.spotting() ? [] : this.slots.map(({ title }) => title)),
    });
  }

  // "Spot the bug" takes the place of everything else while it is presented. Neither alpha nor the score changes it.
  spotting() {
    return this.find("[data-panel=bugs]").open;
  }

  // ---- input

  listen() {
    this.control = new AlphaControl(this.find, {
      move: (alpha) => this.move(alpha),
      released: () => this.released(),
    });
    this.find(".redrawn-side").onchange = () => this.drawRedrawn();
    this.find(".leave-extra").onclick = () => this.leaveExtraOut();
    this.find("[data-panel=strata]").addEventListener("toggle", () => this.results && this.paint({ resting: true }));
    this.find("[data-panel=redraw]").addEventListener("toggle", () => this.results && this.drawRedrawn());
    this.find("[data-panel=bugs]").addEventListener("toggle", () => this.presenter?.show());
  }

  move(alpha) {
    this.view.alpha = alpha;
    document.dispatchEvent(new CustomEvent("hedge:alpha", { detail: alpha }));
    this.paintSoon();
  }

  // The list of questions is rebuilt only when alpha is released; the marks in it follow every move.
  released() {
    this.paint({ resting: true });
    this.listQuestions();
    this.drawRedrawn();
    this.report();
  }

  change(values, { moving = false } = {}) {
    Object.assign(this.view, values);
    const names = Object.keys(values);
    if (names.some((name) => CHANGES_LOOK.includes(name))) this.lookAnew(moving);
    else if (names.some((name) => [...SIDES, "empty", "by"].includes(name))) this.again();
    else {
      this.questions.seed(this);
      this.listQuestions();
    }
    if (!moving) this.report();
  }

  // Does the same as the switch, and moves the focus to it, because the button disappears.
  leaveExtraOut() {
    this.change({ extra: "drop" });
    this.find(".forming").open = true;
    this.find("[name=extra][value=drop]").focus();
  }

  // The view is sent with the question: a separate report would return to this page after the other one has opened.
  open(question) {
    clearTimeout(this.reporting);
    this.trigger("open", { ...this.view, question });
  }

  // ---- from the view to the figures

  get policy() {
    return { fillEmpty: this.view.empty === "top1", by: this.view.by };
  }

  lookWith(view) {
    return lookAt(this.pool, {
      seed: view.split === "" ? null : Number(view.split),
      n: view.n === 0 ? null : view.n,
      drop: view.extra === "drop",
    });
  }

  // Options in a link that this run lacks are dropped one by one, with a message.
  lookAnew(moving = false) {
    const requested = { ...this.view };
    const given = [];
    for (const [name, plain] of [[null], ["n", 0], ["extra", "keep"], ["split", ""]]) {
      if (name) this.view[name] = plain;
      try {
        this.look = this.lookWith(this.view);
        break;
      } catch (error) {
        given.push(error.message);
        if (name === "split") throw error;
      }
    }
    this.again(moving);
    if (given.length) {
      const changed = ["n", "extra", "split"].filter((name) => requested[name] !== this.view[name]);
      say(this.find("#switch-problem"), `${given[0]} ${changed.length ? "This setting was left out." : ""}`);
    }
  }

  again(moving = false) {
    this.slots = sidesOf(this.view, this.scores);
    this.prepared = Object.fromEntries(this.slots.map(({ side, name }) => [side, prepare(name, this.look)]));
    this.m = this.look.test.length;
    this.digits = this.m >= 1000 ? 2 : 1;
    this.bands = Object.fromEntries(SIDES.map((side) => [side, null]));
    this.other = this.effectCells = null;
    this.switches.seed(this);
    this.slots.forEach((slot) =>
      this.cards[slot.side].seed(
        slot,
        this.scores.find(({ name }) => name === slot.name),
        this.prepared[slot.side],
        MARKS[slot.mark],
      ),
    );
    this.questions.seed(this);
    this.options(this.find(".redrawn-side"), this.slots);
    clearTimeout(this.building);
    if (moving && this.updates) {
      this.building = setTimeout(() => this.rebuild(), BUILD_AFTER_MS);
      this.paintSoon();
    } else this.rebuild();
  }

  options(select, slots) {
    const chosen = select.value;
    choices(
      select,
      slots.map(({ side, title }) => [side, title]),
    );
    select.value = chosen || "left";
  }

  rebuild() {
    this.build();
    this.paint({ resting: true });
    this.listQuestions();
    this.drawRedrawn();
  }

  // ---- drawing

  resized() {
    const width = this.section.clientWidth;
    if (!this.updates || width === this.width) return;
    this.build();
    this.paint({ resting: true });
    this.redrawn.show();
  }

  // The scores that the common figures show: both, or the one that is presented.
  get drawn() {
    const chosenSide = this.presenter?.on ? SIDES[this.view.shown - 1] : null;
    return chosenSide ? this.slots.filter(({ side }) => side === chosenSide) : this.slots;
  }

  // Draws what does not change while alpha moves.
  build() {
    const { slots: all, look, prepared, policy } = this;
    const slots = this.drawn;
    const { k } = look;
    this.width = this.section.clientWidth;
    const marginal = policy.by === "all";
    this.find(".on-band").hidden = !marginal;
    this.bands = Object.fromEntries(
      all.map(({ side }) => [side, marginal ? bands(prepared[side].n, this.m, strataTies(prepared[side])[0]) : null]),
    );
    const curvesBySide = Object.fromEntries(slots.map(({ side }) => [side, curves(prepared[side], policy)]));
    const bySide = (figure) => Object.fromEntries(slots.map(({ side }) => [side, curvesBySide[side][figure]]));
    const plot = (name) => this.find(`[data-plot=${name}] .plot`);
    const names = slots.map(({ title }) => title).join(" and ");
    const ticks = Array.from({ length: 5 }, (_, i) => i / 4);
    const step = k > 26 ? 10 * Math.ceil(k / 60) : Math.ceil(k / 6);
    const reach = marginal ? Math.max(...SIDES.map((side) => stripReach(this.bands[side]))) : 8;
    const widest = prepared.left.n <= prepared.right.n ? "left" : "right";
    this.updates = {
      coverage: curveFigure(plot("coverage"), `Coverage against alpha by ${names}`, slots, {
        curves: bySide("coverage"),
        bands: this.bands[widest],
        yMax: 1,
        yTicks: ticks,
        yFormat: (tick) => `${tick * 100}%`,
      }),
      size: curveFigure(plot("size"), `Mean set size against alpha by ${names}`, slots, {
        curves: bySide("meanSize"),
        yMax: k,
        yTicks: Array.from({ length: Math.floor(k / step) + 1 }, (_, i) => i * step),
        yFormat: String,
      }),
      sizes: sizesFigure(plot("sizes"), `Share of test questions by set size by ${names}`, slots, k),
      bySize: bySizeFigure(plot("bysize"), `Coverage by set size by ${names}`, slots, k, shareInterval),
      scores: all.map((slot) => this.scoresFigure(slot, plot(slot.side))),
      strips: all.map((slot) =>
        stripFigure(
          this.find(`[data-side=${slot.side}] .strip`),
          `${slot.title} coverage beside its target`,
          slot,
          reach,
        ),
      ),
    };
    this.buildStrata();
  }

  scoresFigure(slot, host) {
    const prepared = this.prepared[slot.side];
    const [low, high] = scoreRange(prepared);
    say(this.find(`[data-plot=${slot.side}] figcaption b`), slot.title);
    return scoresFigure(host, `${slot.title} scores of the calibration questions and the threshold`, slot, {
      counts: histogram(prepared, BINS),
      low,
      high,
    });
  }

  strata(side) {
    const { policy, prepared, view } = this;
    return policy.by === "class"
      ? byClass(prepared[side], view.alpha, policy)
      : byGroup(prepared[side], view.alpha, policy);
  }

  buildStrata() {
    const panel = this.find("[data-panel=strata]");
    const letters = this.policy.by === "class";
    panel.hidden = !letters && this.groupNames.length < 2;
    say(this.find(".strata-title"), letters ? "Coverage by true option" : "Coverage by subject");
    this.updates.strata = null;
    if (panel.hidden) return;
    const { n, m } = this.strata("left");
    const names = letters ? this.look.letters : this.groupNames;
    this.rows = names
      .map((name, code) => ({ name: name || "no subject", code, n: n[code], m: m[code] }))
      .filter((row) => row.n || row.m);
    this.updates.strata = () =>
      forestFigure(
        this.find("[data-plot=strata] .plot"),
        `${letters ? "Coverage by true option" : "Coverage by subject"}`,
        this.slots,
        this.rows,
        shareInterval,
      );
    this.forest = null;
  }

  // If resting, it also computes what takes too long for a frame.
  paint({ resting = false } = {}) {
    this.painted();
    const { view, slots, prepared, policy } = this;
    const { alpha } = view;
    const results = Object.fromEntries(slots.map(({ side }) => [side, evaluate(prepared[side], alpha, policy)]));
    const bySide = (figure) => Object.fromEntries(SIDES.map((side) => [side, results[side][figure]]));
    this.results = results;
    this.updates.coverage(alpha, bySide("coverage"));
    this.updates.size(alpha, bySide("meanSize"));
    this.updates.sizes(this.m, bySide("sizes"));
    this.updates.bySize(alpha, bySide("sizes"), bySide("bySize"));
    slots.forEach(({ side }, i) => {
      this.updates.scores[i](results[side].threshold);
      this.updates.strips[i](alpha, results[side].coverage, this.bands[side]);
      this.cards[side].show(results[side], this.figuresOf(side, results[side], resting));
    });
    this.dial(results, resting);
    this.paintStrata();
    this.paintEffect();
    this.questions.move(results);
    this.speakSoon(() => {
      say(this.find(".summary"), summary(alpha, slots, results, this.digits));
      this.describe(results);
    });
  }

  figuresOf(side, result, resting) {
    const { by } = this.view;
    return {
      m: this.m,
      k: this.look.k,
      digits: this.digits,
      by,
      band: this.bandOf(side, resting),
    };
  }

  // The band in which coverage lies by chance. If strata have their own thresholds, its distribution is the convolution
  // of the strata's distributions.
  bandOf(side, resting) {
    const { alpha } = this.view;
    const band = this.bands[side];
    if (!band && !resting) return null;
    const { n, m } = band ? {} : this.strata(side);
    const [low, high] = band
      ? band.at(alpha)
      : strataBand(n, m, alpha, strataTies(this.prepared[side], this.policy.by));
    return { low, high };
  }

  dial(results, resting) {
    const { alpha, by } = this.view;
    this.control.paint(alpha, `target coverage ${percent(1 - alpha / 1000, 1)}`);
    this.paintAnswer(results, resting);
    const notice = this.find(".notice");
    const text = this.noticed(alpha, by, results);
    notice.hidden = !text;
    say(notice, text);
    this.paintSaturated(results);
  }

  // The answer in words: that of the left score, or of the one that is presented.
  paintAnswer(results, resting) {
    const [{ side, title }] = this.drawn;
    const { alpha, by } = this.view;
    const figures = { result: results[side], k: this.look.k, digits: this.digits, band: this.bandOf(side, resting) };
    const [model] = this.name.split(" · ");
    say(this.find(".lab-answer"), labAnswer(alpha, { model, title, ...figures }));
    say(this.find(".promise"), promiseKept(alpha, by, figures));
  }

  // A note on thresholds of 1 or just below it, with a button that leaves out E and F if that helps.
  paintSaturated(results) {
    const notice = this.find(".saturated");
    const strata = { all: "", group: "subjects", class: "options" }[this.view.by];
    const slots = this.slots.filter(({ side, name }) =>
      canSaturate(this.pool.scoreTable.get(name), this.prepared[side].parameters),
    );
    const text = slots
      .map(({ side, title }) => saturatedText(title, [...results[side].thresholds], strata))
      .filter(Boolean)
      .join(" ");
    const decided = (resultOf) => slots.some(({ side }) => isDecidedByLittle([...resultOf(side).thresholds]));
    const offers =
      this.view.extra === "keep" &&
      this.extra.length > 0 &&
      !this.look.labels.some((label) => this.extra.includes(label)) &&
      decided((side) => results[side]) &&
      !decided((side) => evaluate(this.opposite[side], this.view.alpha, this.policy));
    notice.hidden = !text;
    say(
      notice.querySelector("span"),
      offers ? `${text} E and F are never the truth and have almost no probability here.` : text,
    );
    this.find(".leave-extra").hidden = !offers;
  }

  noticed(alpha, by, results) {
    const endless = SIDES.find((side) => results[side].full);
    if (!endless) return "";
    if (by === "all") return fullSetText(this.prepared[endless].n);
    const full = [...results[endless].thresholds].filter((q) => q === Infinity).length;
    const text = fullStrataText(by, full, results[endless].thresholds.length, alpha);
    return by === "class" && this.extra.length && this.view.extra === "keep"
      ? `${text} E and F are never the truth, so no question calibrates them. You can leave them out under “More”.`
      : text;
  }

  paintStrata() {
    const panel = this.find("[data-panel=strata]");
    const { alpha, by } = this.view;
    if (!panel.open || panel.hidden || !this.updates.strata) return;
    this.forest ??= this.updates.strata();
    const strata = Object.fromEntries(SIDES.map((side) => [side, this.strata(side)]));
    this.forest(alpha, strata);
    const texts = this.slots.map(({ side }) =>
      strataSaid(alpha, this.rows, strata[side].hits, this.shortfall(side, strata[side]), by),
    );
    const titles = this.slots.map(({ title }) => title);
    const once = texts.every((text) => text === texts[0]);
    say(
      this.find(".strata-said"),
      once ? `${titles.join(" and ")}: ${texts[0]}` : texts.map((text, i) => `${titles[i]}: ${text}`).join(" "),
    );
  }

  // The probability that at most this many of a stratum's m questions are covered if the guarantee holds. With one
  // threshold for all questions, n is the number of all calibration questions.
  shortfall(side, { n }) {
    const { alpha, by } = this.view;
    return (hits, code, m) => guaranteePValue(hits, by === "all" ? this.prepared[side].n : n[code], m, alpha);
  }

  // The scores of the other choice: without E and F if they are kept, and with them if they are left out.
  get opposite() {
    if (!this.other) {
      const look = this.lookWith({ ...this.view, extra: this.view.extra === "keep" ? "drop" : "keep" });
      this.other = Object.fromEntries(this.slots.map(({ side, name }) => [side, prepare(name, look)]));
    }
    return this.other;
  }

  // Coverage and size with and without E and F, if a person leaves them out.
  paintEffect() {
    const table = this.find(".effect");
    const { alpha } = this.view;
    table.hidden = this.view.extra !== "drop";
    if (table.hidden) return;
    const lines = this.slots.flatMap(({ side, title }) =>
      [
        [this.opposite[side], "with E and F"],
        [this.prepared[side], "without"],
      ].map(([prepared, words]) => {
        const result = evaluate(prepared, alpha, this.policy);
        return [title, `${prepared.k}, ${words}`, percent(result.coverage, this.digits), result.meanSize.toFixed(2)];
      }),
    );
    this.effectCells ??= this.effectRows(lines);
    lines.forEach((line, i) => line.forEach((text, j) => say(this.effectCells[i][j], text)));
  }

  effectRows(lines) {
    const cells = lines.map((line) => line.map((_, j) => (j ? make("td") : make("th", { scope: "row" }))));
    this.find(".effect tbody").replaceChildren(...cells.map((line) => make("tr", ...line)));
    return cells;
  }

  listQuestions() {
    if (this.texts) this.questions.choose(this, this.results);
  }

  drawRedrawn() {
    const side = this.find(".redrawn-side").value || "left";
    const slot = this.slots.find((candidate) => candidate.side === side);
    const prepared = this.prepared[side];
    const { alpha, split, n, extra, by, empty } = this.view;
    // The triangle marks the split above. With other thresholds or filled sets it would come from another distribution.
    const coverage = by === "all" && empty === "allow" ? this.results[side].coverage : null;
    this.redrawn.take({
      key: [this.version, slot.name, split, n, extra, coverage],
      slot,
      alpha,
      prepared,
      coverage,
      pool: prepared.n + this.m,
    });
    // One of the bugs is in how APS forms its sets, so APS shows the bugs if it is one of the two scores.
    const tried = this.slots.find((candidate) => candidate.name === "aps") ?? this.slots[0];
    const scored = this.prepared[tried.side];
    this.bugs.take({
      key: [this.version, tried.name, split, n, extra],
      slot: tried,
      prepared: scored,
      pool: scored.n + this.m,
    });
  }

  // What is spoken of the figures.
  describe(results) {
    const { alpha } = this.view;
    const texts = alternatives({ ...this, alpha, results, k: this.look.k });
    for (const figure of this.all("figure[data-plot]")) {
      figure.setAttribute("aria-label", captionOf(figure));
      const text = texts[figure.dataset.plot];
      if (text) figure.querySelector("svg.chart")?.setAttribute("aria-label", text);
    }
    for (const { side } of this.slots)
      this.find(`[data-side=${side}] .strip svg`)?.setAttribute("aria-label", texts.strips[side]);
  }

  close() {
    super.close();
    clearTimeout(this.building);
    this.redrawn.stop();
    this.bugs.stop();
  }
}

// Embeds, reports and notebooks mount it too.
export const mountLab = mountedLive((root) => new Lab(root));

export default mountLab;
