// Step 7: one question scored by LAC and by APS, and after the guess the sizes of all sets by both.

import { make, say } from "../../shared/dom.js";
import { sizesFigure } from "../../alpha_lab/figures.js";
import { byProbability, questionParagraphs, rightTag } from "./card.js";

export const BOTH = [
  { side: "lac", name: "lac", title: "LAC", ink: "lac" },
  { side: "aps", name: "aps", title: "APS", ink: "aps" },
];

// A table with a row for each option, the most probable first.
function scoredTable(question) {
  const table = make("table", "two-scores");
  const head = table.createTHead().insertRow();
  for (const text of ["Option", "Probability", "LAC", "APS"]) {
    const cell = make("th", "", text);
    cell.scope = "col";
    head.append(cell);
  }
  const body = table.createTBody();
  const rows = byProbability(question).map((j) => {
    const row = body.insertRow();
    const text = make("td", "", question.options[j]);
    if (j === question.label) text.append(" ", rightTag());
    const cells = BOTH.map(({ ink }) => make("td", `scored ${ink}`));
    row.append(text, make("td", "", question.p[j].toFixed(3)), ...cells);
    return { j, cells };
  });
  return { table, rows };
}

export const twoScoresFigure = {
  caption: "A score in a filled box is at or below its threshold, so the option is in the set.",
  build(host, { run, examples, kept }) {
    // Questions on which the model hesitates come first: on them the scores differ.
    const asked = examples
      .filter(({ test }) => test !== null)
      .sort((one, other) => Math.max(...one.p) - Math.max(...other.p));
    kept.place ??= Math.floor(asked.length / 3);
    const place = make("div");
    const more = make("button", "", "Another question");
    more.type = "button";
    const title = make("p", "plot-title", "Set sizes of all questions, in percent: LAC on the left, APS on the right");
    const plot = make("div");
    plot.style.height = "200px";
    host.replaceChildren(place, more, title, plot);
    let sizes = null; // drawn once it is shown, because a hidden element has no size
    let table = null;
    let last = null;
    const update = (at, state) => {
      last = [at, state];
      const question = asked[kept.place];
      for (const { j, cells } of table.rows)
        BOTH.forEach(({ name }, i) => {
          const value = run[name].scores[question.test * run.k + j];
          const inside = value <= at[name].threshold;
          say(cells[i], `${value.toFixed(3)} ${inside ? "✓" : "–"}`);
          cells[i].classList.toggle("inside", inside);
        });
      title.hidden = plot.hidden = !state.open;
      if (!state.open) return;
      sizes ??= sizesFigure(plot, "Share of the questions by set size, with LAC and APS", BOTH, run.k);
      sizes(run.m, { lac: at.lac.sizes, aps: at.aps.sizes });
    };
    const deal = () => {
      const question = asked[kept.place];
      table = scoredTable(question);
      place.replaceChildren(...questionParagraphs(question), table.table);
      if (last) update(...last);
    };
    more.onclick = () => {
      kept.place = (kept.place + 1) % asked.length;
      deal();
    };
    deal();
    return update;
  },
  describe: (at, { open }) =>
    open
      ? `Mean set size is ${at.lac.meanSize.toFixed(2)} with LAC and ${at.aps.meanSize.toFixed(2)} with APS.`
      : "One question scored by LAC and APS. The sizes of all sets are hidden until you guess.",
};
