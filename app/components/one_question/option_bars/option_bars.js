// One question. Data comes in once. While alpha moves, whole numbers decide which options are in the set, and only the
// value at which a person releases alpha is sent to Python. A table of runs elsewhere on the page receives the same
// alpha.

import { AlphaControl } from "../../shared/alpha_control.js";
import { make, say } from "../../shared/dom.js";
import { hints } from "../../shared/hints.js";
import { foremost, listed } from "../../shared/many_options.js";
import { mounted } from "../../shared/mounted.js";
import { Presenter } from "../../shared/presenter.js";
import { saturatedText } from "../../shared/saturation.js";
import { alphaAt, optionBars } from "./bars.js";
import { isIn, leavesAt, lettersOf, membersAt } from "./membership.js";
import { setTable } from "./table.js";
import { meaning, nextToLeave, setText, summary, verdict } from "./words.js";

const REPORT_AFTER_MS = 150;
const SPEAK_AFTER_MS = 500;
const LONG_ANSWER = 30; // characters of a set of named classes that has a smaller size
const SMALLEST_WORDS = 18; // its figures have no words of their own that are drawn larger
const BY_KEY = { 1: ["lac"], 2: ["aps"], 3: ["lac", "aps"] };
const RUN_COMES_WITHIN_MS = 10_000;
const MOVED = "hedge-question-moved";
const LEFT = "hedge-question-left";
const MEANINGS = ["lac", "aps", "truth", "in", "out", "guarantee"];

function themed(root) {
  const colors = getComputedStyle(root.host ?? root)
    .getPropertyValue("--st-chart-categorical-colors")
    .split(",");
  const section = root.querySelector(".question");
  MEANINGS.forEach((meaning, i) => section.style.setProperty(`--${meaning}`, (colors[i] ?? "").trim()));
}

const truthOf = ({ truth }) => (truth < 0 ? null : truth);

class Question {
  constructor(root) {
    this.root = root;
    this.find = (selector) => root.querySelector(selector);
    this.unsent = false;
    this.leave = () => this.waitForRun();
    window.addEventListener(LEFT, this.leave);
    this.listen();
    hints(root);
  }

  load(data) {
    this.letters = data.letters;
    this.truth = truthOf(data);
    this.extra = data.extra;
    this.truthLetter = this.truth === null ? null : data.letters[this.truth];
    this.scores = data.scores.map((one) => ({
      ...one,
      top: data.top,
      thresholds: data.thresholds.getChild(one.name).toArray(),
      pValues: one.counts.map((count) => count / (one.n + 1)),
      leaves: one.counts.map((count) => leavesAt(count, one.n)),
    }));
    this.options = data.options;
    this.classes = data.classes;
    this.foremost = foremost(this.scores[0].counts, this.truth);
    this.places = this.foremost;
    say(this.find(".asked-question"), data.question);
    say(this.find(".asked-context"), data.context);
    this.find(".asked-context").hidden = !data.context;
    this.turns = data.turns;
    this.caveats = data.caveats;
    if (!data.outside) this.presenter ??= this.presentable();
    this.table = setTable(this.find(".scores-table"), {
      caption: "The same question under every score",
      heading: "Score",
      letters: data.letters,
      places: this.foremost,
      truth: this.truth,
      rows: this.scores,
      lead: (row) => [this.choice(row)],
      further: [
        {
          title: "Threshold",
          hover: "Options stay in the set if their score is at most this.",
          text: (row, alpha) => shownThreshold(row.thresholds[alpha - 1]),
        },
        {
          title: "Parameters",
          hover: "Whether the score’s parameters were tuned on separate questions.",
          text: (row) => row.badge,
        },
      ],
    });
  }

  presentable() {
    return new Presenter(this.find(".question"), {
      place: this.find(".empty"),
      smallest: SMALLEST_WORDS,
      view: () => this.presented,
      change: (values) => {
        Object.assign(this.presented, values);
        this.report();
      },
      alpha: () => this.alpha,
      move: (alpha) => this.control.jump(alpha),
      release: () => this.report(),
      layout: () => this.lay(),
      caveats: () => this.caveats,
      scores: () => BY_KEY[3].map((name) => this.scores.find((score) => score.name === name).title),
      things: () => (this.turns ? "question" : ""),
      turn: (direction) => {
        clearTimeout(this.reporting);
        this.trigger("turn", { ...this.view(), direction });
      },
    });
  }

  // The scores whose bars are drawn: the chosen one, or those that are presented.
  get drawn() {
    const { present, shown } = this.presented;
    const names = present === "1" && BY_KEY[shown];
    return names ? names.map((name) => this.scores.find((score) => score.name === name)) : [this.score];
  }

  lay() {
    const { drawn } = this;
    const alone = drawn.length === 1;
    this.find(".question").classList.toggle("both", !alone);
    this.bars = optionBars(this.find(".chart"), this.find(".overlay"), {
      letters: this.classes ? null : this.letters,
      options: this.options,
      places: this.places,
      truth: this.truth,
      bars: drawn.map(({ name, title }) => ({ ink: alone ? "" : name, title })),
    });
    this.bars.measure(drawn.map(({ pValues }) => pValues));
    const button = this.find(".all-options");
    button.hidden = this.foremost.length === this.letters.length;
    say(
      button,
      this.places === this.foremost
        ? `Show all ${this.letters.length} options`
        : `Show the ${this.foremost.length} most probable options`,
    );
    const by = this.find(".by");
    say(by, drawn.map(({ title }) => title).join(" and "));
    by.title = drawn.map(({ formula, sentence, source }) => `${formula}. ${sentence} ${source}`).join(" ");
    const [said, second] = this.root.querySelectorAll(".said");
    second?.remove();
    if (!alone) said.after(said.cloneNode(true));
    this.paint();
  }

  choice(row) {
    const label = make("label", "pick");
    const radio = make("input");
    radio.type = "radio";
    radio.name = "bars";
    radio.value = row.name;
    radio.onchange = () => this.choose(row.name);
    label.append(radio, make("span", "", row.title));
    label.title = `${row.formula}. ${row.sentence} ${row.source}`;
    return label;
  }

  // Changes that have not been sent to Python yet are kept, and are sent after the new data has arrived.
  seed(data) {
    const { alpha, empty, bars, present, shown } = this.unsent ? this.view() : data;
    this.presented = { present, shown };
    this.alpha = alpha;
    this.fillEmpty = empty === "top1";
    this.control.set(alpha);
    for (const radio of this.root.querySelectorAll("[name=empty]"))
      radio.checked = (radio.value === "top1") === this.fillEmpty;
    this.pick(bars);
    this.find(".asked").hidden = !data.outside && present !== "1";
    this.presenter?.show();
    this.runCame();
  }

  // ---- input

  // A click on another run sends this view along. A report sent before that run's data arrives would carry this run's
  // address and so bring this run back, and the data would undo the report. So the report waits for the data.
  waitForRun() {
    clearTimeout(this.reporting);
    this.unsent = false;
    this.waiting = setTimeout(() => this.runCame(), RUN_COMES_WITHIN_MS);
  }

  runCame() {
    clearTimeout(this.waiting);
    this.waiting = null;
    if (this.unsent) this.report();
  }

  listen() {
    this.control = new AlphaControl(this.find, {
      move: (alpha) => this.move(alpha),
      released: () => this.report(),
    });
    for (const radio of this.root.querySelectorAll("[name=empty]")) {
      radio.onchange = () => {
        this.fillEmpty = radio.value === "top1";
        this.paint();
        this.report();
      };
    }
    this.find(".all-options").onclick = () => {
      const all = this.places === this.foremost;
      this.places = all ? this.letters.map((_, j) => j) : this.foremost;
      this.lay();
    };
    this.dragOn(this.find(".overlay"));
    // An arrow key moves alpha or the choice of a score; outside of the component it is for the page.
    this.find(".question").onkeydown = (event) => {
      if (event.key.startsWith("Arrow") && event.target.matches("input")) event.stopPropagation();
    };
  }

  // The line can be dragged anywhere on the bars. The slider follows, and remains the control for all other input.
  dragOn(overlay) {
    const follow = (event) => {
      const box = overlay.getBoundingClientRect();
      this.control.jump(alphaAt((event.clientX - box.left) / box.width));
    };
    overlay.onpointerdown = (event) => {
      if (event.button) return;
      overlay.setPointerCapture(event.pointerId);
      overlay.onpointermove = follow;
      follow(event);
      this.control.range.focus({ preventScroll: true });
      event.preventDefault();
    };
    overlay.onpointerup = overlay.onpointercancel = () => {
      if (!overlay.onpointermove) return;
      overlay.onpointermove = null;
      this.report();
    };
  }

  move(alpha) {
    if (alpha === this.alpha) return;
    this.alpha = alpha;
    this.frame ??= requestAnimationFrame(() => this.paint());
  }

  choose(name) {
    this.pick(name);
    this.report();
  }

  pick(name) {
    this.score = this.scores.find((one) => one.name === name) ?? this.scores[0];
    for (const radio of this.root.querySelectorAll("[name=bars]")) radio.checked = radio.value === this.score.name;
    this.lay();
  }

  view() {
    return { alpha: this.alpha, empty: this.fillEmpty ? "top1" : "allow", bars: this.score.name, ...this.presented };
  }

  report() {
    clearTimeout(this.reporting);
    this.unsent = true;
    if (this.waiting) return;
    this.reporting = setTimeout(() => {
      this.unsent = false;
      this.send("view", this.view());
    }, REPORT_AFTER_MS);
  }

  // ---- drawing

  paint() {
    cancelAnimationFrame(this.frame);
    this.frame = null;
    const { alpha, fillEmpty, drawn, letters, truthLetter } = this;
    const [score] = drawn;
    const sets = drawn.map((one) => membersAt(one, alpha, fillEmpty));
    const said = this.root.querySelectorAll(".said");
    const kept = lettersOf(sets[0], letters);
    this.bars.show(
      alpha,
      sets,
      drawn.map(({ leaves }) => leaves),
    );
    this.table(alpha, fillEmpty, this.score.name);
    this.control.paint(alpha, `set ${kept.length ? listed(kept) : "empty"}`);
    drawn.forEach((one, i) => this.paintSet(said[i], one, sets[i], drawn.length > 1));
    say(this.find(".meaning"), meaning(alpha, truthLetter === null));
    const notice = this.find(".notice");
    notice.hidden = !isIn(1, score.n, alpha); // if the smallest possible p-value stays in, so does every option
    if (!notice.hidden) say(notice, score.full_set_text);
    const near = this.scores
      .filter((one) => one.saturates)
      .map((one) => saturatedText(one.title, [one.thresholds[alpha - 1]]))
      .filter(Boolean)
      .join(" ");
    say(this.find(".saturated"), near && this.extra ? `${near} The Alpha lab can leave E and F out.` : near);
    clearTimeout(this.speaking);
    this.speaking = setTimeout(
      () =>
        say(
          this.find(".summary"),
          drawn.map((one, i) => summary(alpha, one.title, lettersOf(sets[i], letters), truthLetter)).join(" "),
        ),
      SPEAK_AFTER_MS,
    );
    window.dispatchEvent(new CustomEvent(MOVED, { detail: this.view() }));
  }

  paintSet(said, score, members, named) {
    const { letters, truthLetter } = this;
    const kept = lettersOf(members, letters);
    const answer = said.querySelector(".answer");
    say(answer, `${named ? `${score.title} ` : ""}${setText(kept)}`);
    answer.classList.toggle("long", answer.textContent.length > LONG_ANSWER && this.classes);
    say(said.querySelector(".verdict"), verdict(kept, letters.length, truthLetter));
    say(said.querySelector(".next"), nextToLeave(score, members, letters, score.leaves));
  }

  close() {
    this.presenter?.close({ gone: true });
    clearTimeout(this.reporting);
    clearTimeout(this.waiting);
    window.removeEventListener(LEFT, this.leave);
    clearTimeout(this.speaking);
    cancelAnimationFrame(this.frame);
  }
}

function shownThreshold(value) {
  if (value === Infinity) return "none";
  return Number.isInteger(value) && value > 1 ? String(value) : value.toFixed(4); // a rank counts options
}

// The same question in several runs: one row per run, with a link to the question there.
class Runs {
  constructor(root) {
    this.root = root;
    this.follow = (event) => this.show(event.detail);
    window.addEventListener(MOVED, this.follow);
  }

  load(data) {
    this.data = data;
    this.tables = Object.fromEntries(
      data.scores.map((name) => {
        const host = make("div");
        return [
          name,
          {
            host,
            show: setTable(host, {
              caption: "The same question in every run that asked it",
              heading: "Run",
              letters: data.letters,
              places: foremost(data.runs[0].counts[name], truthOf(data)),
              truth: truthOf(data),
              further: [],
              rows: data.runs.map((run) => ({
                ...run,
                name: run.here ? name : undefined,
                n: run.n[name],
                counts: run.counts[name],
              })),
              lead: (row) => [this.link(row)],
            }),
          },
        ];
      }),
    );
  }

  link(run) {
    if (run.here) return make("span", "", `${run.title} (this one)`);
    const link = make("a", "", run.title);
    link.href = run.href;
    link.onclick = (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
      event.preventDefault();
      window.dispatchEvent(new Event(LEFT));
      this.trigger("open", { ...this.view, run: run.run });
    };
    return link;
  }

  seed({ alpha, empty, bars }) {
    this.show({ alpha, empty, bars });
  }

  show(view) {
    this.view = view;
    const table = this.tables[view.bars] ?? Object.values(this.tables)[0];
    const host = this.root.querySelector(".runs-table");
    if (host.firstChild !== table.host) host.replaceChildren(table.host);
    table.show(view.alpha, view.empty === "top1", view.bars);
  }

  close() {
    window.removeEventListener(MOVED, this.follow);
  }
}

// Streamlit calls this when it mounts the component, and again whenever the data or the theme changes.
export const mountQuestion = mounted(
  (root, data) => (data.kind === "runs" ? new Runs(root) : new Question(root)),
  (shown, { data, parentElement, setStateValue, setTriggerValue }) => {
    shown.send = setStateValue;
    shown.trigger = setTriggerValue;
    themed(parentElement);
    const isNew = shown.version !== data.version;
    if (isNew) shown.load(data);
    if (isNew || shown.revision !== data.revision) shown.seed(data);
    shown.version = data.version;
    shown.revision = data.revision;
  },
);

export default mountQuestion;
