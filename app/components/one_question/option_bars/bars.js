// The options as bars, each as long as the alpha at which its option leaves the set, and the line of alpha across them.

import { draw, make, say } from "../../shared/dom.js";
import { percentsApart } from "../../shared/formatting.js";
import { leavesText } from "./words.js";

const LOWEST = 1;
const HIGHEST = 999;

// The position of alpha (thousandths, whole or not) between the ends of the slider, in percent of the plot's width.
export function place(alpha) {
  return Math.max(0, Math.min(100, (100 * (alpha - LOWEST)) / (HIGHEST - LOWEST)));
}

export function alphaAt(share) {
  return Math.round(LOWEST + Math.max(0, Math.min(1, share)) * (HIGHEST - LOWEST));
}

function picture(parent, name) {
  return draw(parent, "svg", { class: name, "aria-hidden": "true" });
}

// `bars` has {ink, title} for each score that is drawn.
function optionRow(grid, row, { letter, text, isTruth }, bars) {
  const name = make("div", { className: `option${isTruth ? " true" : ""}` });
  const words = make("span.text", text);
  if (isTruth) words.append(" ", make("span.tag", "truth"));
  const probability = make("span.share");
  name.append(...(letter ? [make("span.letter", letter)] : []), words, probability);
  const plot = make("div.plot");
  const state = make("div.state");
  const drawn = bars.map(({ ink, title }) => {
    const chart = picture(plot, `bar ${ink}`);
    const bar = draw(chart, "rect", { x: 0, y: "14%", height: "72%" });
    const end = draw(chart, "line", { class: "end", y1: "4%", y2: "96%" });
    const word = make("b", { className: `word ${ink}` });
    const leaves = make("span.leaves");
    state.append(word, leaves);
    return { chart, bar, end, word, leaves, named: bars.length > 1 ? `${title} ` : "" };
  });
  for (const element of [name, plot, state]) element.style.gridRow = row;
  grid.append(name, plot, state);
  return { name, plot, drawn, probability };
}

// Draws the options, with a bar for each of the scores. `measure(...)` sets the lengths of the bars, and `show(...)`
// shows which options are in the sets: both take a list with a value for each score.
// Of the options, those at `places` are drawn, with their probabilities `shares`. The names of classes need no letter.
export function optionBars(grid, overlay, { letters, options, shares, places, truth, bars }) {
  for (const old of grid.querySelectorAll(".option, .plot, .state")) old.remove();
  const rows = places.map((j, i) => {
    const option = { letter: letters?.[j], text: options[j], isTruth: j === truth };
    return { j, ...optionRow(grid, i + 3, option, bars) };
  });
  overlay.style.gridRow = `2 / span ${rows.length + 1}`;
  const ticks = grid.querySelector(".ticks");
  const under = grid.querySelector(".underlay");
  under.style.gridRow = `3 / span ${rows.length}`;
  grid.querySelector(".axis").style.gridRow = rows.length + 3;
  ticks.replaceChildren();
  under.replaceChildren();
  overlay.replaceChildren();
  const grating = picture(under, "lines");
  const lines = picture(overlay, "lines");
  for (let tick = 0; tick <= 10; tick++) {
    const at = `${place(100 * tick)}%`;
    draw(grating, "line", { class: "grid", x1: at, x2: at, y1: 0, y2: "100%" });
    if (tick % 2) continue;
    const label = make("span", (tick / 10).toFixed(1));
    label.style.left = at;
    ticks.append(label);
  }
  const now = draw(lines, "line", { class: "now", y1: 18, y2: "100%" });
  return {
    measure(pValues) {
      rows.forEach(({ j, drawn }) =>
        drawn.forEach(({ bar, end }, i) => {
          const at = `${place(1000 * pValues[i][j])}%`;
          bar.setAttribute("width", at);
          end.setAttribute("x1", at);
          end.setAttribute("x2", at);
        }),
      );
    },
    show(alpha, members, leaves) {
      now.setAttribute("x1", `${place(alpha)}%`);
      now.setAttribute("x2", `${place(alpha)}%`);
      const part = (values) => places.map((j) => values[j]);
      const percents = percentsApart(part(shares), members.map(part));
      rows.forEach(({ j, name, plot, drawn, probability }, row) => {
        say(probability, percents[row]);
        const inAny = members.some((set) => set[j]);
        for (const element of [name, plot]) element.classList.toggle("out", !inAny);
        drawn.forEach(({ chart, word, named, leaves: note }, i) => {
          for (const element of [chart, word]) element.classList.toggle("out", !members[i][j]);
          say(word, members[i][j] ? "in" : "out");
          say(note, named + leavesText(leaves[i][j], members[i][j] && alpha >= leaves[i][j]));
        });
      });
    },
  };
}
