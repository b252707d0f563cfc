// The jury. Rows and verdicts come in once. The rule, the threshold and the cards change here, and only what a person
// settles on is sent to Python.

import { draw, make, put, say } from "../shared/dom.js";
import { differenceShown, fixed, percent } from "../shared/formatting.js";
import { hints } from "../shared/hints.js";
import { Live, mountedLive } from "../shared/live.js";
import { SHARE_ACROSS, asPercent, axes, steps } from "../shared/svg.js";
import { caseCard } from "./cases.js";
import { KINDS, chosenRows, readRows } from "./verdicts.js";

const SHOWN = 8;
const MEASURES = { accuracy: "Accuracy", f1: "F1", precision: "Precision", recall: "Recall" };
const MEASURE_HOVERS = {
  accuracy: "The share of answers on which the verdict is right.",
  f1: "The harmonic mean of precision and recall. Right answers are the positive class.",
  precision: "Of the answers that the jury calls right, the share that are right.",
  recall: "Of the right answers, the share that the jury calls right.",
};
const PAIR_HOVERS = {
  accuracy: "The share of pairs on which the verdict agrees with the label.",
  f1: "The harmonic mean of precision and recall, averaged over the first and the second answer.",
  precision:
    "Of the pairs for which the jury prefers the first answer, the share in which it is better, and the same of the second, averaged.",
  recall:
    "Of the pairs whose first answer is better, the share for which the jury prefers it, and the same of the second, averaged.",
};
const percent1 = (share) => percent(share, 1);
const signed = (points) => `${points < 0 ? "−" : "+"}${fixed(Math.abs(points), 1)}`;

class Jury extends Live {
  reportAfter = 150;
  speakAfter = 600;

  constructor(root) {
    super(root, ".jury");
    this.start = 0;
    const choices = (titles) => Object.entries(titles).map(([name, title]) => new Option(title, name));
    this.find("#order").replaceChildren(...choices(MEASURES));
    this.find("#cases").replaceChildren(...choices(KINDS));
    this.listen();
    hints(root);
  }

  load(data) {
    this.take(data);
    this.jurors = data.jurors;
    this.rows = readRows(
      data.rows,
      data.jurors,
      data.rules.map(({ name }) => name),
    );
    const texts = Object.fromEntries(["id", "question", "answer"].map((name) => [name, data.texts.getChild(name)]));
    this.texts = (i) => ({ id: texts.id.get(i), question: texts.question.get(i), answer: texts.answer.get(i) });
    this.places = new Map(Array.from({ length: this.rows.n }, (_, i) => [texts.id.get(i), i]));
    this.width = null;
    say(this.find(".answers > summary"), `Open the ${this.rows.n.toLocaleString("en")} test answers one by one`);
    this.find("#cases option[value=sure]").textContent = data.pairwise ? "confident and against the label" : KINDS.sure;
    const errors = data.pairwise ? "Against the label" : "Wrong";
    say(this.find(".errors"), `${errors}, of the answered`);
    say(this.find(".errors-plotted"), `${errors}, of the answered`);
    this.section.classList.remove("fresh");
  }

  resized() {
    this.figure();
  }

  // The figures of the rules: first without intervals, which take a while to compute, later with them.
  take(data) {
    this.data = data;
    this.rules = data.rules;
  }

  // The intervals arrive while a person reads, moves the slider or opens a card, so everything else stays as it is.
  renew(data) {
    if (this.data.complete === data.complete) return;
    const focused = this.root.activeElement;
    const chosen = focused?.name === "rule";
    this.take(data);
    this.results();
    if (chosen) this.find(`[name=rule][value=${this.rule}]`).focus({ preventScroll: true });
  }

  seed({ view: { rule, at, cases, order, card } }) {
    this.rule = this.rules.some(({ name }) => name === rule) ? rule : this.rules[0].name;
    this.at = at;
    this.kind = cases;
    this.order = order;
    this.card = this.places.get(card) ?? null;
    if (this.card !== null || cases !== "all") this.find(".answers").open = true;
    this.start = 0;
    this.find("#at").value = at;
    this.find("#order").value = order;
    this.find("#cases").value = cases;
    this.paint();
    if (this.card !== null) this.turnTo(this.card);
  }

  listen() {
    const range = this.find("#at");
    range.oninput = () => {
      this.at = Number(range.value);
      this.frame ??= requestAnimationFrame(() => this.moved());
    };
    range.onchange = () => this.report();
    const choice = (id, name) => {
      this.find(id).onchange = (event) => {
        this[name] = event.target.value;
        this.start = 0;
        this.paint();
        this.report();
      };
    };
    choice("#order", "order");
    choice("#cases", "kind");
    this.find(".previous").onclick = () => this.page(-SHOWN);
    this.find(".next").onclick = () => this.page(SHOWN);
  }

  page(step) {
    this.start += step;
    this.cards();
  }

  choose(rule) {
    this.rule = rule;
    this.start = 0;
    this.paint();
    this.find(`[name=rule][value=${rule}]`).focus({ preventScroll: true });
    this.report();
  }

  get reported() {
    return {
      rule: this.rule,
      at: this.at,
      cases: this.kind,
      order: this.order,
      card: this.card === null ? "" : this.texts(this.card).id,
    };
  }

  // ---- drawing

  paint() {
    this.results();
    this.cards();
  }

  // Everything above the cards.
  results() {
    say(this.find(".answer"), this.data.answer);
    say(this.find(".detail"), this.data.detail);
    this.table();
    this.width = null;
    this.figure();
    this.numbers();
  }

  table() {
    const { order, rule } = this;
    const body = this.find(".rules-table tbody");
    const constant = this.named(this.data.constant);
    const base = constant.measures[order];
    const head = this.find(".rules-table .measure");
    say(head, MEASURES[order]);
    head.title = (this.data.pairwise ? PAIR_HOVERS : MEASURE_HOVERS)[order];
    say(this.find(".rules-table .gain"), `vs ${constant.title}, points`);
    const sorted = [...this.rules].sort((a, b) => b.measures[order] - a.measures[order]);
    const { complete } = this.data;
    const values = sorted.map(({ measures }) => measures[order]);
    const lows = sorted.map(({ intervals }, i) => intervals[order][0] ?? values[i]);
    const highs = sorted.map(({ intervals }, i) => intervals[order][1] ?? values[i]);
    const from = Math.min(...lows);
    const to = Math.max(...highs, from + 1e-6);
    const x = (value) => 4 + (192 * (value - from)) / (to - from);
    say(this.find(".plot-head"), complete ? `${asPercent(from)} to ${asPercent(to)}` : "computing the intervals …");
    body.replaceChildren(
      ...sorted.map((outcome) => {
        const line = make("tr", { className: outcome.name === rule ? "chosen" : "" });
        const first = make("td");
        const plot = make("td.of-plot");
        line.dataset.rule = outcome.name;
        first.append(this.pick(outcome));
        const svg = draw(plot, "svg", {
          class: "whiskers",
          viewBox: "0 0 200 22",
          preserveAspectRatio: "none",
          "aria-hidden": "true",
        });
        const [low, high] = outcome.intervals[order];
        draw(svg, "line", {
          class: "base",
          x1: x(base),
          x2: x(base),
          y1: 0,
          y2: 22,
          "vector-effect": "non-scaling-stroke",
        });
        if (low !== null)
          draw(svg, "line", {
            class: "span",
            x1: x(low),
            x2: x(high),
            y1: 11,
            y2: 11,
            "vector-effect": "non-scaling-stroke",
          });
        draw(svg, "rect", { class: "point", x: x(outcome.measures[order]) - 2.5, y: 6, width: 5, height: 10 });
        line.append(
          first,
          make("td.value", percent1(outcome.measures[order])),
          plot,
          make("td.of-gain", this.lead(outcome, "constant", constant)),
          make("td.of-gain.second", this.lead(outcome, "majority", this.named("majority"))),
        );
        return line;
      }),
    );
    const { sentence, ties, published } = this.named(rule);
    say(
      this.find(".how"),
      `${sentence} ${ties} ${published ? "A published rule." : "Not among the published rules."} If all jurors agree, their verdict stands.`,
    );
  }

  // How far a rule's accuracy is from that of another, with its interval.
  lead(outcome, against, other) {
    if (outcome.name === other.name) return "";
    const [exact, low, high] = outcome.gains[against].map((share) => 100 * share);
    const points = differenceShown(100 * outcome.measures.accuracy, 100 * other.measures.accuracy, 1, exact);
    return `${signed(points)}${outcome.gains[against][1] === null ? "" : ` (${signed(low)} to ${signed(high)})`}`;
  }

  named(name) {
    return this.rules.find((rule) => rule.name === name);
  }

  pick(outcome) {
    return make(
      "label.pick",
      { title: outcome.sentence },
      make("input", {
        type: "radio",
        name: "rule",
        value: outcome.name,
        checked: outcome.name === this.rule,
        onchange: () => this.choose(outcome.name),
      }),
      make("span", outcome.title),
    );
  }

  figure() {
    const host = this.find("[data-plot=risk] .plot");
    const width = host.clientWidth;
    if (!this.rows || width === this.width) return;
    this.width = width;
    const { risk } = this.named(this.rule);
    const points = risk.answered.map((share, at) => [share, risk.wrong[at]]).filter(([share]) => share > 0);
    const most = Math.min(1, Math.ceil(10 * Math.max(0.1, ...points.map(([, risk]) => risk))) / 10);
    const { svg, x, y } = axes(
      host,
      `Share of ${this.data.pairwise ? "verdicts against the label" : "wrong verdicts"} against the share answered`,
      {
        ...SHARE_ACROSS,
        xTitle: "Answered",
        yMax: most,
        yTicks: steps(2, most / 2),
        yFormat: asPercent,
        yTitle: this.data.pairwise ? "Against the label" : "Wrong",
      },
    );
    draw(svg, "path", {
      class: "curve",
      d: points.map(([share, risk], i) => `${i ? "L" : "M"}${x(share).toFixed(1)},${y(risk).toFixed(1)}`).join(""),
    });
    const whisker = draw(svg, "line", { class: "whisker" });
    const dot = draw(svg, "circle", { class: "dot", r: 6 });
    this.mark = (share, risk, low, high) => {
      dot.style.display = share > 0 ? "" : "none";
      whisker.style.display = share > 0 && this.named(this.rule).risk.low[this.at] !== null ? "" : "none";
      put(dot, { cx: x(share), cy: y(risk) });
      put(whisker, { x1: x(share), x2: x(share), y1: y(Math.min(low, most)), y2: y(Math.min(high, most)) });
    };
    if (this.answeredNow) this.mark(...this.answeredNow);
  }

  moved() {
    this.painted();
    this.numbers();
    this.cards();
  }

  numbers() {
    const { rule, at } = this;
    const outcome = this.named(rule);
    const { complete, splits } = this.data;
    const [share, risk, low, high] = ["answered", "wrong", "low", "high"].map((name) => outcome.risk[name][at] ?? 0);
    this.answeredNow = [share, risk, low, high];
    this.mark?.(...this.answeredNow);
    say(this.find(".at"), at === 0 ? "always" : `${at}% confidence`);
    this.find("#at").setAttribute("aria-valuetext", at === 0 ? "always" : `from ${at} percent confidence`);
    say(this.find("[data-figure=answered]"), percent1(share));
    say(
      this.find("[data-figure=answered-n]"),
      `of ${this.rows.n.toLocaleString("en")} test answers, mean over ${splits} splits`,
    );
    say(this.find("[data-figure=risk]"), share > 0 ? percent1(risk) : "–");
    say(
      this.find("[data-figure=risk-interval]"),
      share > 0
        ? complete
          ? this.named(rule).risk.low[at] === null
            ? "no interval from one question"
            : `${percent1(low)} to ${percent1(high)}`
          : "computing its interval …"
        : "no answer gets a verdict",
    );
    const [accuracy, least, most] = [outcome.measures.accuracy, ...outcome.intervals.accuracy].map(percent1);
    const interval = !complete
      ? ". Its 95% interval is being computed"
      : outcome.intervals.accuracy[0] === null
        ? ". One question is too few for an interval"
        : `, with a 95% interval from ${least} to ${most}`;
    const { pairwise } = this.data;
    const agrees = pairwise ? "agrees with the label on" : "right on";
    say(this.find(".verdict"), `${outcome.title}: ${agrees} ${accuracy}. Mean over ${splits} splits${interval}.`);
    this.speakSoon(() =>
      say(
        this.find(".summary"),
        `${outcome.title} gives a verdict on ${percent1(share)} of the answers. Of these verdicts, ${percent1(risk)} are ${this.data.pairwise ? "against the label" : "wrong"}.`,
      ),
    );
  }

  cards() {
    const chosen = chosenRows(this.kind, this.rows, this.rule, this.at);
    this.start = Math.max(0, Math.min(this.start, Math.floor(Math.max(0, chosen.length - 1) / SHOWN) * SHOWN));
    const shown = chosen.slice(this.start, this.start + SHOWN);
    say(
      this.find(".found"),
      chosen.length
        ? `Answers ${this.start + 1}–${this.start + shown.length} of ${chosen.length.toLocaleString("en")}`
        : "No answers",
    );
    this.find(".previous").disabled = this.start === 0;
    this.find(".next").disabled = this.start + SHOWN >= chosen.length;
    this.find(".nothing").hidden = chosen.length > 0;
    const state = {
      rows: this.rows,
      rule: this.rule,
      at: this.at,
      jurors: this.jurors,
      rules: this.rules,
      texts: this.texts,
      card: this.card,
      pairwise: this.data.pairwise,
      href: (i) => this.href(i),
      toggled: (i, open) => this.toggled(i, open),
    };
    this.find(".cases").replaceChildren(...shown.map((i) => caseCard(state, i)));
  }

  toggled(i, open) {
    const card = open ? i : this.card === i ? null : this.card;
    if (card === this.card) return;
    this.card = card;
    this.report();
  }

  turnTo(i) {
    const place = chosenRows(this.kind, this.rows, this.rule, this.at).indexOf(i);
    if (place < 0) return;
    this.start = Math.floor(place / SHOWN) * SHOWN;
    this.cards();
    this.find(`[data-row="${i}"]`).scrollIntoView({ block: "nearest" });
  }

  href(i) {
    const address = new URL(location.href);
    for (const [name, value] of Object.entries({ ...this.reported, card: this.texts(i).id }))
      address.searchParams.set(name, value);
    return address.href;
  }
}

export default mountedLive((root) => new Jury(root));
