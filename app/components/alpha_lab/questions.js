// Test questions with their options, probabilities and sets: filtered, as cards or as rows. Text from data enters the
// page as text (textContent), never as markup.

import { memberRow } from "../shared/sets.js";
import { choices, make, say } from "../shared/dom.js";
import { percentsApart } from "../shared/formatting.js";
import { foremost, gap, listed } from "../shared/many_options.js";

const CARDS = 6;
const ROWS = 20;
const WORDS_AT_MOST = 8;

export const FILTERS = {
  all: "all questions",
  misses: "sets that miss the truth",
  empty: "empty sets",
  "wrong-single": "one option, and it is wrong",
  largest: "the largest sets",
};

// The test questions that pass the filter, as positions in the look's test rows.
export function filtered(lab, results) {
  const { view, look, texts } = lab;
  const side = view.on;
  const prepared = lab.prepared[side];
  const result = results[side];
  const words = view.search.toLowerCase().split(/\s+/).filter(Boolean).slice(0, WORDS_AT_MOST);
  const subject = view.subject ? lab.groupNames.indexOf(view.subject) : -1;
  let largest = look.k;
  while (largest > 0 && !result.sizes[largest]) largest--;
  const members = new Uint8Array(look.k);
  const places = [];
  for (let i = 0; i < look.test.length; i++) {
    const row = look.test[i];
    if (view.subject && look.groups[row] !== subject) continue;
    if (view.show !== "all") {
      memberRow(prepared, i, result, lab.policy, members);
      let size = 0;
      for (let j = 0; j < look.k; j++) size += members[j];
      const covered = members[look.labels[row]] === 1;
      if (
        view.show === "misses"
          ? covered
          : view.show === "empty"
            ? size > 0
            : view.show === "wrong-single"
              ? size !== 1 || covered
              : size !== largest
      )
        continue;
    }
    if (words.length && !texts.holds(row, words)) continue;
    places.push(i);
  }
  return places;
}

function openButton(place, open) {
  return make("button.small", { "aria-label": `Open question ${place + 1} on its own page`, onclick: open }, "Open");
}

function headRow(titles) {
  const head = make("thead");
  const row = make("tr");
  for (const [title, className] of titles) {
    row.append(make("th", { className: className ?? "", scope: "col" }, title));
  }
  head.append(row);
  return head;
}

function optionRow(letter, text, probability, isTrue, slots) {
  const row = make("tr", { className: isTrue ? "true" : "" });
  const option = make("td.text", text);
  if (isTrue) option.append(" ", make("span.tag", "truth"));
  const bar = make("span.bar");
  bar.style.width = `${100 * probability}%`;
  const share = make("span");
  const cells = slots.map(() => {
    return make("td.cell", make("span"));
  });
  row.append(make("td.letter", letter), option, make("td.probability", share, bar), ...cells);
  return { row, cells, share };
}

// A set in words: its letters, and whether it holds the truth.
function setSaid(members, letters, label) {
  const setText = listed(letters.filter((_, j) => members[j] === 1));
  return `{${setText}} ${members[label] === 1 ? "holds the truth" : setText ? "misses the truth" : "is empty, so it misses the truth"}`;
}

// Shows one question's sets. Returns `show(results)`, which changes only what has changed.
function shownSets(lab, place, changed) {
  const members = new Uint8Array(lab.look.k);
  const last = lab.slots.map(() => "");
  return (results) =>
    lab.slots.forEach(({ side }, i) => {
      memberRow(lab.prepared[side], place, results[side], lab.policy, members);
      const key = members.join("");
      if (key === last[i]) return; // setting a text triggers layout, even if the text is the same
      last[i] = key;
      changed(i, members);
    });
}

function card(lab, place, open) {
  const { look, texts, slots } = lab;
  const row = look.test[place];
  const label = look.labels[row];
  const item = make("li.card");
  const head = make(
    "div.head",
    make("span", [(place + 1).toLocaleString("en"), texts.group(row)].filter(Boolean).join(" · ")),
    openButton(place, open),
  );
  const table = make("table");
  const columns = make("colgroup");
  const body = make("tbody");
  for (const name of ["letter", "text", "probability", "in", "in"]) columns.append(make("col", { className: name }));
  const own = look.p.subarray(row * look.k, (row + 1) * look.k);
  const shown = foremost(own, label);
  const rows = shown.map((j) =>
    optionRow(lab.classes ? "" : look.letters[j], texts.option(row, look.optionPlaces[j]), own[j], j === label, slots),
  );
  const others = own.filter((p) => !Number.isNaN(p)).length - rows.length;
  body.append(...rows.map((entry) => entry.row));
  const heads = headRow([[""], ["Option"], ["Probability"], ...slots.map(({ title }) => [title])]);
  heads.querySelector("th").setAttribute("aria-label", "Letter");
  table.append(columns, heads, body);
  const lines = slots.map(({ title, ink }) => {
    const value = make("span");
    const line = make("div.said", make("b", { className: ink }, title), value);
    return { line, value };
  });
  const context = make("div.context", { tabIndex: 0 }, texts.context(row)); // a long one scrolls, and the keyboard has to reach it
  item.append(
    head,
    ...(context.textContent ? [context] : []),
    make("div.asked", texts.question(row)),
    table,
    ...(others ? [make("div.others", `and ${others} less probable options`)] : []),
    ...lines.map(({ line }) => line),
  );
  const sets = slots.map(() => []);
  const show = shownSets(lab, place, (i, members) => {
    sets[i] = shown.map((j) => members[j] === 1);
    const percents = percentsApart(
      shown.map((j) => own[j]),
      sets,
    );
    rows.forEach(({ cells, share }, at) => {
      say(share, percents[at]);
      const inside = members[shown[at]] === 1;
      cells[i].classList.toggle("member", inside);
      say(cells[i].firstChild, inside ? "in" : "out");
    });
    say(lines[i].value, setSaid(members, look.letters, label));
  });
  return { element: item, show };
}

function tableRow(lab, place, open) {
  const { look, texts, slots } = lab;
  const row = look.test[place];
  const label = look.labels[row];
  const last = make("td.open", openButton(place, open));
  const sets = slots.map(() => make("td.set"));
  const line = make(
    "tr",
    make("td.number", (place + 1).toLocaleString("en")),
    make("td.group", texts.group(row)),
    make("td.asked", texts.question(row)),
    make("td.truth", look.letters[label] ?? ""),
    ...sets,
    last,
  );
  const show = shownSets(lab, place, (i, members) => {
    const names = look.letters.filter((_, j) => members[j] === 1);
    const setNames = listed(names, gap(look.letters));
    say(sets[i], `${members[label] === 1 ? "✓" : "✗"} {${setNames}}`);
    sets[i].title = setSaid(members, look.letters, label);
  });
  return { element: line, show };
}

export class Questions {
  constructor(find, { change, open }) {
    this.find = find;
    this.open = open;
    const turn = (row) => change({ row: Math.max(1, row) });
    find(".previous").onclick = () => turn(this.first + 1 - this.size);
    find(".next").onclick = () => turn(this.first + 1 + this.size);
    find(".row").onchange = (event) => turn(Math.round(Number(event.target.value) || 1));
    find(".show").onchange = (event) => change({ show: event.target.value, row: 1 });
    find(".on").onchange = (event) => change({ on: event.target.value, row: 1 });
    find(".subject").onchange = (event) => change({ subject: event.target.value, row: 1 });
    find(".search").oninput = (event) => {
      clearTimeout(this.typing);
      const search = event.target.value;
      this.typing = setTimeout(() => change({ search: search.trim().slice(0, 200), row: 1 }), 200);
    };
    find(".list").onchange = (event) => change({ list: event.target.value, row: 1 });
    find(".clear").onclick = () => change({ show: "all", subject: "", search: "", row: 1 });
    choices(find(".show"), Object.entries(FILTERS));
    choices(find(".list"), [
      ["cards", "cards"],
      ["rows", "rows"],
    ]);
  }

  // Sets the controls to the view's values.
  seed(lab) {
    const { view } = lab;
    choices(this.find(".subject"), [
      ["", "all subjects"],
      ...lab.groupNames.map((name) => [name, name || "no subject"]),
    ]);
    choices(
      this.find(".on"),
      lab.slots.map(({ side, title }) => [side, `by ${title}`]),
    );
    this.find(".subject").hidden = lab.groupNames.length < 2;
    for (const name of ["show", "on", "subject", "list"]) this.find(`.${name}`).value = view[name];
    if (this.find(".search").value.trim() !== view.search) this.find(".search").value = view.search;
  }

  // Selects the questions again. Called after a release, not while alpha is dragged, so that the list does not move.
  choose(lab, results) {
    this.places = filtered(lab, results);
    this.size = lab.view.list === "rows" ? ROWS : CARDS;
    this.first = Math.max(0, Math.min(lab.view.row, this.places.length) - 1);
    const shown = this.places.slice(this.first, this.first + this.size);
    const build = lab.view.list === "rows" ? tableRow : card;
    this.shown = shown.map((place) => build(lab, place, () => this.open(lab.texts.id(lab.look.test[place]))));
    const cards = this.find(".cards");
    const table = this.find(".table");
    cards.hidden = build !== card;
    table.hidden = build === card;
    if (build === card) cards.replaceChildren(...this.shown.map(({ element }) => element));
    else {
      table.replaceChildren(
        headRow([
          ["", "number"],
          ["Subject", "group"],
          ["Question"],
          ["Truth", "truth"],
          ...lab.slots.map(({ title }) => [title, "set"]),
          ["", "open"],
        ]),
        make("tbody", ...this.shown.map(({ element }) => element)),
      );
    }
    this.say(lab);
    this.move(results);
  }

  say(lab) {
    const count = this.places.length;
    const all = lab.look.test.length;
    const last = Math.min(this.first + this.size, count);
    const row = this.find(".row");
    row.value = Math.min(this.first + 1, Math.max(count, 1));
    row.max = Math.max(count, 1);
    const narrowed = lab.view.show !== "all" || lab.view.subject || lab.view.search;
    say(
      this.find(".range"),
      `to ${last.toLocaleString("en")} of ${count.toLocaleString("en")}${narrowed ? `, out of ${all.toLocaleString("en")}` : ""}`,
    );
    this.find(".none").hidden = count > 0;
    this.find(".clear").hidden = !narrowed;
    this.find(".previous").disabled = this.first === 0;
    this.find(".next").disabled = last >= count;
  }

  move(results) {
    for (const { show } of this.shown ?? []) show(results);
  }
}
