// One question. Data comes in once. While alpha moves, whole numbers decide which options are in the set, and only the
// value at which a person releases alpha is sent to Python. A table of runs elsewhere on the page receives the same
// alpha.

import { AlphaControl } from "../../shared/alpha_control.js";
import { make, say, wayTo } from "../../shared/dom.js";
import { thresholdText } from "../../shared/formatting.js";
import { hints } from "../../shared/hints.js";
import { foremost } from "../../shared/many_options.js";
import { Live, mountedLive } from "../../shared/live.js";
import { Presenter } from "../../shared/presenter.js";
import { saturatedText } from "../../shared/saturation.js";
import { alphaAt, optionBars } from "./bars.js";
import { isIn, leavesAt, lettersOf, membersAt } from "./membership.js";
import { setTable } from "./table.js";
import { answer, meaning, namesOf, nextToLeave, summary, verdict } from "./words.js";

const LONG_ANSWER = 60; // characters of an answer that has a smaller size
const SMALLEST_WORDS = 18; // its figures have no words of their own that are drawn larger
const BY_KEY = { 1: ["lac"], 2: ["aps"], 3: ["lac", "aps"] };
const RUN_COMES_WITHIN_MS = 10_000;
const MOVED = "hedge-question-moved";
const LEFT = "hedge-question-left";

// The names of classes are short already.
const sentenceNames = ({ classes, letters, options }) => (classes ? letters : namesOf(options, letters));

const truthOf = ({ truth }) => (truth < 0 ? null : truth);

class Question extends Live {
  reportAfter = 150;

  constructor(root) {
    super(root, ".question");
    this.unsent = false;
    this.leave = () => this.waitForRun();
    window.addEventListener(LEFT, this.leave);
    this.listen();
    hints(root);
  }

  load(data) {
    this.letters = data.letters;
    this.truth = truthOf(data);
    this.names = sentenceNames(data);
    this.truthName = this.truth === null ? null : this.names[this.truth];
    this.scores = data.scores.map((score) => ({
      ...score,
      top: data.top,
      thresholds: data.thresholds.getChild(score.name).toArray(),
      pValues: score.counts.map((count) => count / (score.n + 1)),
      leaves: score.counts.map((count) => leavesAt(count, score.n)),
    }));
    this.options = data.options;
    this.shares = data.probabilities;
    this.name = data.name;
    this.classes = data.classes;
    this.foremost = foremost(this.scores[0].counts, this.truth);
    this.places = this.foremost;
    say(this.find(".asked-question"), data.question);
    say(this.find(".asked-context"), data.context);
    this.find(".asked-context").hidden = !data.context;
    this.turns = data.turns;
    this.outside = data.outside;
    this.caveats = data.caveats;
    if (!data.outside) this.presenter ??= this.presentable();
    this.table = setTable(this.find(".scores-table"), {
      caption: "The same question under every score",
      heading: "Score",
      letters: data.letters,
      names: this.names,
      places: this.foremost,
      truth: this.truth,
      rows: this.scores,
      lead: (row) => [this.choice(row)],
      further: [
        {
          title: "Threshold",
          hover: "Options stay in the set if their score is at most this.",
          text: (row, alpha) => thresholdText(row.thresholds[alpha - 1]),
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
    return new Presenter(this.section, {
      place: this.find(".dial"),
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
      about: () => `${this.name} · ${this.drawn.map(({ title }) => title).join(" and ")}`,
      scores: () => BY_KEY[3].map((name) => this.scores.find((score) => score.name === name).title),
      things: () => (this.turns ? "question" : ""),
      turn: (direction) => {
        clearTimeout(this.reporting);
        this.trigger("turn", { ...this.view(), direction });
      },
    });
  }

  // Whether the bars fill the window; a narrow one never does, whatever the link says.
  get isPresented() {
    return Boolean(this.presenter?.on);
  }

  // The scores whose bars are drawn: the chosen one, or those that are presented.
  get drawn() {
    const names = this.isPresented && BY_KEY[this.presented.shown];
    return names ? names.map((name) => this.scores.find((score) => score.name === name)) : [this.score];
  }

  lay() {
    const { drawn, isPresented } = this;
    const alone = drawn.length === 1;
    this.find(".asked").hidden = !this.outside && !isPresented; // the page shows the question above its bars
    this.section.classList.toggle("both", !alone);
    this.bars = optionBars(this.find(".chart"), this.find(".overlay"), {
      letters: this.classes ? null : this.letters,
      options: this.classes && isPresented ? this.letters : this.options,
      shares: this.shares,
      places: isPresented ? this.foremost : this.places,
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
    const [answer, second] = this.all(".said");
    second?.remove();
    if (!alone) answer.after(answer.cloneNode(true));
    this.paint();
  }

  choice(row) {
    return make(
      "label.pick",
      { title: `${row.formula}. ${row.sentence} ${row.source}` },
      make("input", { type: "radio", name: "bars", value: row.name, onchange: () => this.choose(row.name) }),
      make("span", row.title),
    );
  }

  // Changes that have not been sent to Python yet are kept, and are sent after the new data has arrived.
  seed(data) {
    const { alpha, empty, bars, present, shown } = this.unsent ? this.view() : data;
    this.presented = { present, shown };
    this.alpha = alpha;
    this.fillEmpty = empty === "top1";
    this.control.set(alpha);
    for (const radio of this.all("[name=empty]")) radio.checked = (radio.value === "top1") === this.fillEmpty;
    if (this.fillEmpty) this.find(".more").open = true;
    this.pick(bars);
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
    for (const radio of this.all("[name=empty]")) {
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
    this.section.onkeydown = (event) => {
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
    this.paintSoon();
  }

  choose(name) {
    this.pick(name);
    this.report();
  }

  pick(name) {
    this.score = this.scores.find((score) => score.name === name) ?? this.scores[0];
    for (const radio of this.all("[name=bars]")) radio.checked = radio.value === this.score.name;
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
    }, this.reportAfter);
  }

  // ---- drawing

  paint() {
    this.painted();
    const { alpha, fillEmpty, drawn, names, truthName } = this;
    const [score] = drawn;
    const sets = drawn.map((score) => membersAt(score, alpha, fillEmpty));
    const answers = this.all(".said");
    this.bars.show(
      alpha,
      sets,
      drawn.map(({ leaves }) => leaves),
    );
    this.table(alpha, fillEmpty, this.score.name);
    this.control.paint(alpha, answer(lettersOf(sets[0], names), names.length));
    drawn.forEach((score, i) => this.paintSet(answers[i], score, sets[i], drawn.length > 1));
    say(this.find(".meaning"), meaning(alpha, truthName === null));
    const notice = this.find(".notice");
    notice.hidden = !isIn(1, score.n, alpha); // if the smallest possible p-value stays in, so does every option
    if (!notice.hidden) say(notice, score.full_set_text);
    const near = drawn
      .filter((score) => score.saturates)
      .map((score) => saturatedText(score.title, [score.thresholds[alpha - 1]]));
    say(this.find(".saturated"), near.filter(Boolean).join(" "));
    this.speakSoon(() =>
      say(
        this.find(".summary"),
        drawn
          .map((score, i) => summary(alpha, score.title, lettersOf(sets[i], names), names.length, truthName))
          .join(" "),
      ),
    );
    window.dispatchEvent(new CustomEvent(MOVED, { detail: this.view() }));
  }

  paintSet(host, score, members, named) {
    const { names, truthName } = this;
    const inside = lettersOf(members, names);
    const text = host.querySelector(".answer");
    say(text, `${named ? `${score.title}: ` : ""}${answer(inside, names.length)}`);
    text.classList.toggle("long", text.textContent.length > LONG_ANSWER);
    say(host.querySelector(".verdict"), verdict(inside, names.length, truthName));
    say(host.querySelector(".next"), nextToLeave(members, names, score.leaves));
  }

  close() {
    super.close();
    clearTimeout(this.waiting);
    window.removeEventListener(LEFT, this.leave);
  }
}

// The same question in several runs: one row per run, with a link to the question there.
class Runs extends Live {
  constructor(root) {
    super(root, ".question");
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
              names: sentenceNames(data),
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
    if (run.here) return make("span", `${run.title} (this one)`);
    return wayTo(make("a", run.title), run.href, () => {
      window.dispatchEvent(new Event(LEFT));
      this.trigger("open", { ...this.view, run: run.run });
    });
  }

  seed({ alpha, empty, bars }) {
    this.show({ alpha, empty, bars });
  }

  show(view) {
    this.view = view;
    const table = this.tables[view.bars] ?? Object.values(this.tables)[0];
    const host = this.find(".runs-table");
    if (host.firstChild !== table.host) host.replaceChildren(table.host);
    table.show(view.alpha, view.empty === "top1", view.bars);
  }

  close() {
    super.close();
    window.removeEventListener(MOVED, this.follow);
  }
}

export default mountedLive((root, data) => (data.kind === "runs" ? new Runs(root) : new Question(root)));
