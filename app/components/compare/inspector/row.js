// One question in the inspector: its text, and for each of the two runs its set, its pick and its probabilities. Text
// from data enters the page as text (textContent), never as markup.

import { headRow, make, wayTo } from "../../shared/dom.js";
import { foremost, listed } from "../../shared/many_options.js";
import { FULL } from "./rows.js";

const BESIDE = 8; // with more bars, words stand below them

const percentOf = (p) => `${((100 * p) / FULL).toFixed(1)}%`;

// A run's set in words.
export function setSaid(letters, run, i, label) {
  const members = letters.filter((_, j) => run.holds(i, j));
  if (!members.length) return "empty set";
  return `{${listed(members)}} ${run.holds(i, label) ? "holds the right answer" : "misses the right answer"}`;
}

// The places of the options that are shown of a question: those that it has, or the most probable ones of the runs.
function optionsOf({ numbers, texts, letters }, i, runs) {
  const probable = (j) => Math.max(...runs.map((run) => numbers.runs[run].p[j][i]));
  return foremost(
    letters.map((_, j) => (texts.option(i, j) ? probable(j) : NaN)),
    numbers.label[i],
  );
}

// A run's answer as small bars, one per option: filled if the option is in the set.
function bars(state, run, i) {
  const { numbers, letters } = state;
  const { pick, p, holds } = numbers.runs[run];
  const label = numbers.label[i];
  const host = make("div.bars");
  for (const j of optionsOf(state, i, [run])) {
    const column = make("span", {
      className: `option${holds(i, j) ? " member" : ""}${j === pick[i] ? " pick" : ""}${j === label ? " truth" : ""}`,
    });
    const track = make("span.track");
    const bar = make("span.bar");
    bar.style.height = `${Math.max(3, (100 * p[j][i]) / FULL)}%`;
    track.append(bar);
    column.title = letters[j];
    column.append(track, ...(letters[j].length > 2 ? [] : [make("span.letter", letters[j])]));
    host.append(column);
  }
  return host;
}

function side(state, run, i) {
  const { numbers, letters } = state;
  const { pick, p, holds } = numbers.runs[run];
  const right = pick[i] === numbers.label[i];
  const block = make("div.side");
  const caption = make(
    "div.picked",
    make("b", { className: right ? "good" : "bad" }, `${letters[pick[i]]} ${right ? "✓" : "✗"}`),
    make("span.share", percentOf(p[pick[i]][i])),
  );
  const members = listed(letters.filter((_, j) => holds(i, j)));
  const right_side = make(
    "div.words",
    caption,
    make(
      "div.set",
      { title: setSaid(letters, numbers.runs[run], i, numbers.label[i]) },
      members ? `{${members}}` : "{ }",
    ),
  );
  const chart = bars(state, run, i);
  block.classList.toggle("many", chart.children.length > BESIDE || letters[pick[i]].length > 2);
  block.append(chart, right_side);
  return block;
}

function optionTable(state, i) {
  const { numbers, letters, names, first, second, texts } = state;
  const table = make("table.options");
  const body = make("tbody");
  for (const j of optionsOf(state, i, [first, second])) {
    const text = texts.option(i, j);
    const row = make("tr", { className: j === numbers.label[i] ? "truth" : "" });
    const option = make("td.text", text);
    if (j === numbers.label[i]) option.append(make("span.tag", "right answer"));
    row.append(make("td.letter", text === state.options[j] ? "" : letters[j]), option);
    for (const run of [first, second]) {
      const { pick, p, holds } = numbers.runs[run];
      const cell = make("td.share");
      const bar = make("span", { className: `line${holds(i, j) ? " member" : ""}` });
      bar.style.width = `${(100 * p[j][i]) / FULL}%`;
      cell.append(
        make("span", `${percentOf(p[j][i])} `),
        make("span", { className: holds(i, j) ? "in" : "out" }, holds(i, j) ? "in the set" : "out"),
        ...(j === pick[i] ? [make("span.tag", "pick")] : []),
        make("span.line-track", bar),
      );
      row.append(cell);
    }
    body.append(row);
  }
  table.append(make("thead", headRow(["", "Option", names[first], names[second]], "Letter")), body);
  return table;
}

function links(state, i) {
  const links = make("div.links");
  for (const [run, word] of [
    [state.first, "first"],
    [state.second, "second"],
  ]) {
    const link = make("a", `One question, ${word} run`);
    links.append(wayTo(link, state.href(run, i), () => state.open(run, i)));
  }
  return links;
}

// A row of the list. Its button opens and closes the options in full.
export function questionRow(state, i, place) {
  const { texts, numbers, letters } = state;
  const item = make("li.question");
  const label = numbers.label[i];
  const question = make(
    "button.asked",
    { "aria-expanded": "false", onclick: () => state.select(i, { toggle: true }) },
    make("span.where", [String(place), texts.group(i)].filter(Boolean).join(" · ")),
    make("span.text", texts.question(i) || `Question ${texts.id(i)}`),
    make("span.truth-text", `Right: ${state.options.length ? "" : `${letters[label]} `}${texts.option(i, label)}`),
  );
  item.dataset.row = i;
  item.append(question, side(state, state.first, i), side(state, state.second, i));
  return item;
}

export function openRow(state, item, i) {
  item.classList.add("open");
  item.querySelector(".asked").setAttribute("aria-expanded", "true");
  const more = make("div.more");
  const context = state.texts.context(i);
  if (context) more.append(make("p.context", context));
  more.append(optionTable(state, i), links(state, i));
  item.append(more);
}

export function closeRow(item) {
  item.classList.remove("open");
  item.querySelector(".asked").setAttribute("aria-expanded", "false");
  item.querySelector(".more")?.remove();
}
