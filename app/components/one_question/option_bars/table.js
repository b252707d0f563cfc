// A table of sets: one row per score or run, one cell per option. Text from data enters as text, never as markup.

import { make, say, shownAlpha } from "../../shared/dom.js";
import { leavesAt, lettersOf, membersAt } from "./membership.js";
import { setInTable } from "./words.js";

function cell(count, n) {
  const chip = make("span.chip", leavesAt(count, n) > 999 ? "all" : shownAlpha(leavesAt(count, n)));
  const word = make("span.unseen");
  const data = make("td.chance", chip, word);
  return { data, chip, word };
}

// Of the options, those at `places` have a column; `names` are what they are called in a sentence. `lead(row)` fills a row's first cell. `rest(row)` gives further cells, each with an update function. Returns the
// function that updates the sets.
export function setTable(host, { caption, heading, letters, names, places, truth, rows, lead, further }) {
  const table = make("table");
  table.classList.toggle(
    "named",
    letters.some((letter) => letter.length > 2),
  );
  table.style.setProperty("--letters", places.length);
  const head = make("thead");
  const titles = make("tr");
  const body = make("tbody");
  table.append(make("caption.unseen", caption));
  for (const [title, hover, className] of [
    [heading, ""],
    ["Set", "The options that stay at this alpha."],
    ...places.map((j) => [
      j === truth ? `${letters[j]} truth` : letters[j],
      `The alpha at which ${names[j]} leaves the set.`,
      "chance",
    ]),
    ...further.map(({ title, hover }) => [title, hover, "further"]),
  ]) {
    const cellOf = make("th", { className: className ?? "", scope: "col" }, title);
    if (hover) cellOf.title = hover;
    titles.append(cellOf);
  }
  head.append(titles);
  const shown = rows.map((row) => {
    const line = make("tr");
    const letters = make("span");
    const held = make("span.held");
    const set = make("td.set", letters, held);
    const first = make("th.lead", { scope: "row" }, ...lead(row));
    const cells = places.map((j) => cell(row.counts[j], row.n));
    const others = further.map(({ title }) => {
      const other = make("td.further");
      other.dataset.title = title;
      return other;
    });
    line.append(first, set, ...cells.map(({ data }) => data), ...others);
    body.append(line);
    return { row, line, letters, held, cells, others };
  });
  table.append(head, body);
  host.replaceChildren(table);
  return (alpha, fillEmpty, chosen) => {
    for (const { row, line, letters: set, held, cells, others } of shown) {
      const members = membersAt(row, alpha, fillEmpty);
      say(set, setInTable(lettersOf(members, names), names.length));
      say(held, truth === null ? "" : members[truth] ? "holds the truth" : "misses the truth");
      line.classList.toggle("chosen", row.name !== undefined && row.name === chosen);
      cells.forEach(({ chip, word }, i) => {
        const inside = members[places[i]];
        chip.classList.toggle("in", inside);
        say(word, inside ? "in" : "out");
      });
      further.forEach(({ text }, i) => {
        say(others[i], text(row, alpha));
        if (row.note && i === further.length - 1) others[i].title = row.note;
      });
    }
  };
}
