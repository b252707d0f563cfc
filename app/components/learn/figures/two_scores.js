// Step 7: one question scored by LAC and by APS, and after the guess the sizes of all sets by both.

import { draw, headRow, make, say } from "../../shared/dom.js";
import { besideThreshold, decimalsApart, percent } from "../../shared/formatting.js";
import { canvas, linear, tall, zoomOf } from "../../shared/svg.js";
import { byProbability, questionParagraphs, rightTag } from "./card.js";

const BOTH = [
  { name: "lac", title: "LAC", ink: "lac" },
  { name: "aps", title: "APS", ink: "aps" },
];
// Pixels of a bar and of the space below a pair; less where a figure is enlarged.
const SIZE_BARS = { wide: { bar: 12, space: 11 }, close: { bar: 11, space: 4 } };
const SIZES = 84;
const VALUES = 52;

// A table with a row for each option, the most probable first.
function scoredTable(question, scores) {
  const table = make("table.two-scores");
  const head = headRow(["Option", "Probability", ...scores.map(({ title }) => title)]);
  table.createTHead().append(head);
  const limits = [...head.cells].slice(2).map((cell) => cell.appendChild(make("span.limit")));
  const body = table.createTBody();
  const rows = byProbability(question).map((j) => {
    const row = body.insertRow();
    const text = make("td", question.options[j]);
    if (j === question.label) text.append(" ", rightTag());
    const cells = scores.map(({ ink }) => {
      const cell = make("td", { className: `scored ${ink}` });
      return { cell, value: cell.appendChild(make("span")), tick: cell.appendChild(make("span.tick")) };
    });
    const probability = make("td.probability");
    row.append(text, probability, ...cells.map(({ cell }) => cell));
    return { j, probability, cells };
  });
  return { table, limits, rows };
}

// A pair of bars for each set size, LAC above APS, with the share of the questions.
function sharesBySize(host, k, scores) {
  const { bar: barHeight, space } = SIZE_BARS[zoomOf(host) > 1 ? "close" : "wide"];
  const rowHeight = 2 * barHeight + space;
  host.style.height = tall(rowHeight * (k + 1) + 24);
  const { svg, width } = canvas(host, "Share of the questions by set size, with LAC and APS");
  const x = linear(0, 1, SIZES, width - VALUES);
  for (const tick of [0, 0.25, 0.5, 0.75, 1]) {
    draw(svg, "line", { class: "grid faint", x1: x(tick), x2: x(tick), y1: 0, y2: rowHeight * (k + 1) });
    draw(svg, "text", { x: x(tick), y: rowHeight * (k + 1) + 16, "text-anchor": "middle" }, percent(tick, 0));
  }
  const rows = Array.from({ length: k + 1 }, (_, size) => {
    const top = rowHeight * size + 4;
    const name = size === 0 ? "empty" : size === 1 ? "1 option" : `${size} options`;
    draw(svg, "text", { class: "plain", x: SIZES - 10, y: top + barHeight + 5, "text-anchor": "end" }, name);
    return scores.map(({ ink }, i) => ({
      bar: draw(svg, "rect", { class: `fill-${ink}`, x: x(0), y: top + i * (barHeight + 1), height: barHeight }),
      value: draw(svg, "text", { class: "strong", y: top + i * (barHeight + 1) + barHeight - 1.5 }),
    }));
  });
  return (m, sizes) =>
    rows.forEach((pair, size) =>
      pair.forEach(({ bar, value }, i) => {
        const share = sizes[i][size] / m;
        bar.setAttribute("width", x(share) - x(0));
        value.setAttribute("x", x(share) + 6);
        say(value, percent(share, 1));
      }),
    );
}

// The key of the bars, in words.
function sizesTitle(scores) {
  const title = make("p.plot-title", "Share of the questions by set size: ");
  for (const { ink, title: name } of scores) title.append(make("i", { className: `swatch ${ink}` }), `${name} `);
  return title;
}

export const twoScoresFigure = {
  questions: "test",
  caption: "A score in a filled box is at or below its threshold, so the option is in the set.",
  scores: BOTH.map(({ title }) => title),
  build(host, { run, examples, kept, shown }) {
    const scores = BOTH[shown - 1] ? [BOTH[shown - 1]] : BOTH;
    // Questions on which the model hesitates come first: on them the scores differ.
    const questions = examples
      .filter(({ test }) => test !== null)
      .sort((first, other) => Math.max(...first.p) - Math.max(...other.p));
    kept.place ??= Math.floor(questions.length / 3);
    const place = make("div");
    const more = make("button", "Another question");
    const title = sizesTitle(scores);
    const plot = make("div");
    host.replaceChildren(place, more, title, plot);
    let sizes = null; // drawn once it is shown, because a hidden element has no size
    let table = null;
    let last = null;
    const update = (at, state) => {
      last = [at, state];
      const question = questions[kept.place];
      let decimals = 3;
      scores.forEach(({ name }, i) => {
        const { threshold } = at[name];
        const scoreOf = (j) => run[name].scores[question.test * run.k + j];
        const written = besideThreshold(
          threshold,
          table.rows.map(({ j }) => scoreOf(j)),
          3,
        );
        const [inside, outside] = [true, false].map((side) =>
          table.rows
            .map(({ j }) => j)
            .filter((j) => scoreOf(j) <= threshold === side)
            .map((j) => question.p[j]),
        );
        decimals = Math.max(decimals, decimalsApart(inside, outside, 3));
        say(table.limits[i], Number.isFinite(threshold) ? `threshold ${written(threshold)}` : "no threshold");
        for (const { j, cells } of table.rows) {
          const score = scoreOf(j);
          const { cell, value, tick } = cells[i];
          say(value, written(score));
          say(tick, score <= threshold ? "✓" : "");
          cell.classList.toggle("inside", score <= threshold);
        }
      });
      for (const { j, probability } of table.rows) say(probability, question.p[j].toFixed(decimals));
      title.hidden = plot.hidden = !state.open;
      if (!state.open) return;
      sizes ??= sharesBySize(plot, run.k, scores);
      sizes(
        run.m,
        scores.map(({ name }) => at[name].sizes),
      );
    };
    const deal = () => {
      const question = questions[kept.place];
      table = scoredTable(question, scores);
      place.replaceChildren(...questionParagraphs(question), table.table);
      if (last) update(...last);
    };
    more.onclick = () => {
      kept.place = (kept.place + 1) % questions.length;
      deal();
    };
    deal();
    return update;
  },
  hidden: "One question scored by LAC and APS. The sizes of all sets are hidden until you guess.",
  describe: (at) =>
    `Mean set size is ${at.lac.meanSize.toFixed(2)} with LAC and ${at.aps.meanSize.toFixed(2)} with APS.`,
};
