// The inspector of two runs. All questions come in once, after the page's first paint; filters, another pair and the
// keyboard change only what is shown here, and Python hears of it for the link.

import { make, say, setThemeColors } from "../../shared/dom.js";
import { Live } from "../../shared/live.js";
import { mounted } from "../../shared/mounted.js";
import { questionTexts } from "../../shared/question_texts.js";
import { SINGLE_KEYS_CHANGED, singleKeysWork } from "../../shared/single_keys.js";
import { closeRow, openRow, questionRow } from "./row.js";
import { CHANGES, COUNTS, ORDERS, SURENESS, chosenRows, readNumbers } from "./rows.js";

const PAIR_CHOSEN_EVENT = "hedge:pair";
const SHOWN = 20;
const SEARCH_AFTER_MS = 150;
const KEYS = "Keys: j and k move, Enter opens";
const EDITED = "input, select, textarea, [contenteditable]";

class Inspector extends Live {
  reportAfter = 150;

  constructor(root) {
    super(root, ".inspector");
    this.start = 0;
    this.listen();
  }

  // The questions are still to come. Their place is kept, so that nothing below moves.
  wait(data) {
    this.version = null;
    this.view = { ...data.view };
    this.runs(data);
    this.named();
    for (const number of this.find(".counts").querySelectorAll(".number")) say(number, "–");
    say(this.find(".found"), "Reading the questions …");
    this.find(".questions").replaceChildren(...Array.from({ length: SHOWN }, () => make("li.blank")));
    this.waiting(true);
  }

  waiting(waits) {
    const section = this.section;
    section.classList.remove("fresh");
    section.inert = waits;
    section.ariaBusy = String(waits);
  }

  runs(data) {
    this.data = data;
    this.ids = data.runs.map(({ id }) => id);
    this.names = data.runs.map(({ name }) => name);
    for (const side of ["first", "second"])
      this.find(`.${side}`).replaceChildren(
        ...data.runs.map(({ id, title }) => new Option(title, id)),
        ...data.others.map(({ id, title }) => new Option(title, id)),
      );
  }

  load(data) {
    this.runs(data);
    this.letters = data.letters;
    this.numbers = readNumbers(data.numbers, data.runs.length, data.letters.length);
    this.texts = questionTexts(data.texts, data.options);
    this.places = null;
    const subjects = new Set();
    for (let i = 0; i < this.numbers.m; i++) subjects.add(this.texts.group(i));
    const named = [...subjects].filter(Boolean).sort();
    this.find(".subject").replaceChildren(
      new Option("all subjects", ""),
      ...named.map((name) => new Option(name, name)),
    );
    this.find(".subject").hidden = named.length < 2;
    this.waiting(false);
  }

  seed(view) {
    this.view = { ...view };
    this.selected = this.placeOf(view.question);
    this.opened = this.selected;
    this.paint();
    if (this.selected !== null) this.turnTo(this.selected);
  }

  placeOf(id) {
    if (!id) return null;
    this.places ??= new Map(Array.from({ length: this.numbers.m }, (_, i) => [this.texts.id(i), i]));
    return this.places.get(id) ?? null;
  }

  // ---- input

  listen() {
    const { find } = this;
    const options = (select, words) =>
      select.replaceChildren(...Object.entries(words).map(([value, text]) => new Option(text, value)));
    for (const [name, words] of [
      ["change", CHANGES],
      ["sure", SURENESS],
      ["order", ORDERS],
    ])
      options(find(`.${name}`), words);
    for (const name of ["change", "sure", "subject", "order"])
      find(`.${name}`).onchange = (event) => this.change({ [name]: event.target.value });
    for (const name of ["first", "second"])
      find(`.${name}`).onchange = (event) => this.paired(name, event.target.value);
    find(".swap").onclick = () => {
      const [first, second] = this.pair;
      this.choosePair(this.ids[second], this.ids[first]);
    };
    find(".search").oninput = (event) => {
      clearTimeout(this.typing);
      const search = event.target.value.trim().slice(0, 200);
      this.typing = setTimeout(() => this.change({ search }), SEARCH_AFTER_MS);
    };
    find(".clear").onclick = () => this.change({ right: "all", change: "all", sure: "all", subject: "", search: "" });
    find(".previous").onclick = () => this.turn(-SHOWN);
    find(".next").onclick = () => this.turn(SHOWN);
    find(".counts").append(
      ...Object.entries(COUNTS).map(([name, word]) => {
        const button = make("button");
        button.dataset.count = name;
        button.append(make("span.number"), make("span.word", word));
        button.onclick = () => this.change({ right: this.view.right === name ? "all" : name });
        return button;
      }),
    );
    this.heard = ({ detail }) => detail.from !== this && this.hear(detail);
    this.pressed = (event) => this.key(event);
    window.addEventListener(PAIR_CHOSEN_EVENT, this.heard);
    document.addEventListener("keydown", this.pressed);
    this.sayKeys = () => say(find(".keys"), singleKeysWork() ? KEYS : "");
    window.addEventListener(SINGLE_KEYS_CHANGED, this.sayKeys);
    this.sayKeys();
  }

  change(values) {
    Object.assign(this.view, values);
    this.start = 0;
    this.selected = this.opened = null;
    this.view.question = "";
    this.paint();
    this.report();
  }

  // A run with other questions is not here: Python then sends what the two runs share.
  paired(name, id) {
    const [first, second] = this.pair.map((at) => this.ids[at]);
    const chosen = { first, second, [name]: id };
    if (chosen.first === chosen.second) Object.assign(chosen, name === "first" ? { second: first } : { first: second });
    if (this.ids.includes(id)) this.choosePair(chosen.first, chosen.second);
    else {
      Object.assign(this.view, chosen, { question: "" });
      say(this.find(".found"), "Reading the questions that these two runs share …");
      this.report();
    }
  }

  choosePair(first, second) {
    window.dispatchEvent(new CustomEvent(PAIR_CHOSEN_EVENT, { detail: { first, second, from: this } }));
    this.hear({ first, second });
    this.report();
  }

  hear({ first, second }) {
    Object.assign(this.view, { first, second });
    if (!this.numbers) {
      this.named();
      return;
    }
    this.start = 0;
    this.paint();
    if (this.selected !== null) this.turnTo(this.selected);
  }

  key(event) {
    if (!this.numbers || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    const [at] = event.composedPath();
    const inside = this.root.contains(at);
    if (at.matches?.(EDITED) || (!inside && at !== document.body)) return;
    const { top, bottom } = this.section.getBoundingClientRect();
    if (bottom < 0 || top > window.innerHeight) return;
    if (event.key === "j" || event.key === "k") {
      event.preventDefault();
      this.step(event.key === "j" ? 1 : -1);
    } else if (event.key === "Enter" && this.selected !== null && !at.closest?.("a, button:not(.asked)")) {
      event.preventDefault();
      this.open(this.pair[0], this.selected);
    }
  }

  step(by) {
    const place = this.rows.indexOf(this.selected);
    const next = this.rows[place < 0 ? this.start : Math.max(0, Math.min(this.rows.length - 1, place + by))];
    if (next === undefined) return;
    this.select(next);
    this.turnTo(next);
    this.find(`[data-row="${next}"] .asked`)?.focus({ preventScroll: true });
    this.find(`[data-row="${next}"]`)?.scrollIntoView({ block: "nearest" });
  }

  select(i, { toggle = false } = {}) {
    const again = toggle && this.opened === i;
    this.selected = i;
    this.opened = again ? null : i;
    this.view.question = again ? "" : this.texts.id(i);
    this.marked();
    this.report();
  }

  turn(by) {
    this.start = Math.max(0, Math.min(this.start + by, Math.floor((this.rows.length - 1) / SHOWN) * SHOWN));
    this.list();
  }

  turnTo(i) {
    const place = this.rows.indexOf(i);
    if (place < 0) return;
    const start = Math.floor(place / SHOWN) * SHOWN;
    if (start !== this.start) {
      this.start = start;
      this.list();
    }
  }

  open(run, i) {
    clearTimeout(this.reporting);
    this.trigger("open", { ...this.view, run: this.ids[run], id: this.idIn(run, i) });
  }

  // ---- what is shown

  get pair() {
    let [first, second] = [this.ids.indexOf(this.view.first), this.ids.indexOf(this.view.second)];
    if (first < 0) first = second === 0 ? 1 : 0;
    if (second < 0 || second === first) second = first === 0 ? 1 : 0;
    return [first, second];
  }

  idIn(run, i) {
    return String(this.numbers.runs[run].ids?.get(i) ?? this.texts.id(i));
  }

  href(run, i) {
    const { alpha, score } = this.data;
    const parameters = { run: this.ids[run], question: this.idIn(run, i), alpha: String(alpha), bars: score };
    return `one_question?${new URLSearchParams(parameters)}`;
  }

  paint() {
    const { view, find } = this;
    const [first, second] = this.pair;
    const { found, counts, changes } = chosenRows(this.numbers, first, second, view, this.texts);
    this.rows = found;
    for (const button of find(".counts").children) {
      const name = button.dataset.count;
      button.setAttribute("aria-pressed", String(view.right === name));
      say(button.querySelector(".number"), counts[name].toLocaleString("en"));
    }
    this.named();
    const narrowed = ["right", "change", "sure"].some((name) => view[name] !== "all") || view.subject || view.search;
    find(".clear").hidden = !narrowed;
    this.told = `the second set is larger on ${changes.grew.toLocaleString("en")}, smaller on ${changes.shrank.toLocaleString("en")}, and as large as the first on ${changes.same.toLocaleString("en")}`;
    this.start = Math.min(this.start, Math.max(0, Math.floor((found.length - 1) / SHOWN) * SHOWN));
    this.list();
  }

  // The pair and the filters, as their lists and fields show them.
  named() {
    const { view, find } = this;
    const [first, second] = this.pair;
    for (const name of ["change", "sure", "subject", "order"]) find(`.${name}`).value = view[name];
    if (find(".search").value.trim() !== view.search) find(".search").value = view.search;
    find(".first").value = this.ids[first];
    find(".second").value = this.ids[second];
    say(find(".head-first"), this.names[first]);
    say(find(".head-second"), this.names[second]);
  }

  list() {
    const { rows, start } = this;
    const [first, second] = this.pair;
    const { numbers, texts, letters, names } = this;
    this.state = {
      numbers,
      texts,
      letters,
      options: this.data.options,
      names,
      first,
      second,
      href: (run, i) => this.href(run, i),
      open: (run, i) => this.open(run, i),
      select: (i, how) => this.select(i, how),
    };
    const shown = rows.slice(start, start + SHOWN);
    this.find(".questions").replaceChildren(...shown.map((i, at) => questionRow(this.state, i, start + at + 1)));
    this.find(".none").hidden = rows.length > 0;
    const all = numbers.m.toLocaleString("en");
    const count = rows.length.toLocaleString("en");
    say(
      this.find(".found"),
      rows.length
        ? `Questions ${start + 1}–${start + shown.length} of ${count}${rows.length < numbers.m ? ` (out of ${all})` : ""}; ${this.told}.`
        : `0 of ${all} questions.`,
    );
    this.find(".previous").disabled = start === 0;
    this.find(".next").disabled = start + SHOWN >= rows.length;
    this.marked();
  }

  marked() {
    for (const item of this.find(".questions").children) {
      const i = Number(item.dataset.row);
      item.classList.toggle("selected", i === this.selected);
      const isOpen = item.classList.contains("open");
      if (i === this.opened && !isOpen) openRow(this.state, item, i);
      else if (i !== this.opened && isOpen) closeRow(item);
    }
  }

  close() {
    super.close();
    clearTimeout(this.typing);
    window.removeEventListener(PAIR_CHOSEN_EVENT, this.heard);
    document.removeEventListener("keydown", this.pressed);
    window.removeEventListener(SINGLE_KEYS_CHANGED, this.sayKeys);
  }
}

export default mounted(
  (root) => new Inspector(root),
  (inspector, { data, setStateValue, setTriggerValue }) => {
    inspector.send = setStateValue;
    inspector.trigger = setTriggerValue;
    setThemeColors(inspector.host, inspector.section);
    if (data.numbers) {
      const isNew = inspector.version !== data.version;
      if (isNew) inspector.load(data);
      if (isNew || inspector.revision !== data.revision) inspector.seed(data.view);
      inspector.version = data.version;
      inspector.revision = data.revision;
    } else inspector.wait(data);
  },
);
