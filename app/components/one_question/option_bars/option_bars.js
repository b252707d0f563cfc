// One question. Data comes in once. While alpha moves, whole numbers decide which options are in the set, and only the
// value at which a person releases alpha is sent to Python. A table of runs elsewhere on the page receives the same
// alpha.

import { make, say, shownAlpha } from "../../shared/dom.js";
import { hints } from "../../shared/hints.js";
import { saturatedText } from "../../shared/saturation.js";
import { alphaAt, optionBars } from "./bars.js";
import { isIn, leavesAt, lettersOf, membersAt } from "./membership.js";
import { setTable } from "./table.js";
import { meaning, nextToLeave, setText, summary, verdict } from "./words.js";

const REPORT_AFTER_MS = 150;
const SPEAK_AFTER_MS = 500;
const RUN_COMES_WITHIN_MS = 10_000;
const PAGE_STEP = 10;
const MOVED = "hedge-question-moved";
const LEFT = "hedge-question-left";
const MEANINGS = ["lac", "aps", "truth", "in", "out", "guarantee"];
const mounted = new WeakMap();

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
    this.range = this.find("#alpha");
    this.number = this.find("#alpha-number");
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
    this.bars = optionBars(this.find(".chart"), this.find(".overlay"), { ...data, truth: this.truth });
    this.table = setTable(this.find(".scores-table"), {
      caption: "The same question under every score",
      heading: "Score",
      letters: data.letters,
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
    const { alpha, empty, bars } = this.unsent ? this.view() : data;
    this.alpha = alpha;
    this.fillEmpty = empty === "top1";
    this.range.value = alpha;
    for (const radio of this.root.querySelectorAll("[name=empty]"))
      radio.checked = (radio.value === "top1") === this.fillEmpty;
    this.pick(bars);
    this.paint();
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
    this.range.oninput = () => this.move(Number(this.range.value));
    this.range.onchange = () => this.report();
    this.range.onkeydown = (event) => {
      const step = { PageUp: PAGE_STEP, PageDown: -PAGE_STEP }[event.key];
      if (!step) return;
      event.preventDefault();
      this.jump(this.alpha + step);
      this.report();
    };
    this.number.onchange = () => this.typed();
    for (const radio of this.root.querySelectorAll("[name=empty]")) {
      radio.onchange = () => {
        this.fillEmpty = radio.value === "top1";
        this.paint();
        this.report();
      };
    }
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
      this.jump(alphaAt((event.clientX - box.left) / box.width));
    };
    overlay.onpointerdown = (event) => {
      if (event.button) return;
      overlay.setPointerCapture(event.pointerId);
      overlay.onpointermove = follow;
      follow(event);
      this.range.focus({ preventScroll: true });
      event.preventDefault();
    };
    overlay.onpointerup = overlay.onpointercancel = () => {
      if (!overlay.onpointermove) return;
      overlay.onpointermove = null;
      this.report();
    };
  }

  jump(alpha) {
    this.range.value = alpha;
    this.move(Number(this.range.value));
  }

  move(alpha) {
    if (alpha === this.alpha) return;
    this.alpha = alpha;
    say(this.find("#alpha-problem"), "");
    this.frame ??= requestAnimationFrame(() => this.paint());
  }

  typed() {
    const thousandths = Math.round(Number(this.number.value) * 1000);
    if (!(thousandths >= 1 && thousandths <= 999)) {
      say(this.find("#alpha-problem"), `alpha must be between 0.001 and 0.999. It stays at ${shownAlpha(this.alpha)}.`);
      this.number.value = shownAlpha(this.alpha);
      return;
    }
    this.number.value = shownAlpha(thousandths);
    this.jump(thousandths);
    this.report();
  }

  choose(name) {
    this.pick(name);
    this.paint();
    this.report();
  }

  pick(name) {
    this.score = this.scores.find((one) => one.name === name) ?? this.scores[0];
    for (const radio of this.root.querySelectorAll("[name=bars]")) radio.checked = radio.value === this.score.name;
    say(this.find(".by"), this.score.title);
    this.find(".by").title = `${this.score.formula}. ${this.score.sentence} ${this.score.source}`;
    this.bars.measure(this.score.pValues);
  }

  view() {
    return { alpha: this.alpha, empty: this.fillEmpty ? "top1" : "allow", bars: this.score.name };
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
    const { alpha, fillEmpty, score, letters, truthLetter } = this;
    const members = membersAt(score, alpha, fillEmpty);
    const kept = lettersOf(members, letters);
    this.bars.show(alpha, members, score.leaves);
    this.table(alpha, fillEmpty, score.name);
    this.number.value = shownAlpha(alpha);
    this.range.setAttribute("aria-valuetext", `${shownAlpha(alpha)}, set ${kept.length ? kept.join(", ") : "empty"}`);
    say(this.find(".answer"), setText(kept));
    say(this.find(".verdict"), verdict(kept, letters.length, truthLetter));
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
    say(this.find(".next"), nextToLeave(score, members, letters, score.leaves));
    clearTimeout(this.speaking);
    this.speaking = setTimeout(
      () => say(this.find(".summary"), summary(alpha, score.title, kept, truthLetter)),
      SPEAK_AFTER_MS,
    );
    window.dispatchEvent(new CustomEvent(MOVED, { detail: this.view() }));
  }

  close() {
    clearTimeout(this.reporting);
    clearTimeout(this.waiting);
    window.removeEventListener(LEFT, this.leave);
    clearTimeout(this.speaking);
    cancelAnimationFrame(this.frame);
    mounted.delete(this.root);
  }
}

function shownThreshold(value) {
  return value === Infinity ? "none" : value.toFixed(4);
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
    mounted.delete(this.root);
  }
}

// Streamlit calls this when it mounts the component, and again whenever the data or the theme changes.
export default function ({ data, parentElement, setStateValue, setTriggerValue }) {
  const shown =
    mounted.get(parentElement) ?? (data.kind === "runs" ? new Runs(parentElement) : new Question(parentElement));
  mounted.set(parentElement, shown);
  shown.send = setStateValue;
  shown.trigger = setTriggerValue;
  themed(parentElement);
  const isNew = shown.version !== data.version;
  if (isNew) shown.load(data);
  if (isNew || shown.revision !== data.revision) shown.seed(data);
  shown.version = data.version;
  shown.revision = data.revision;
  return () => shown.close();
}
