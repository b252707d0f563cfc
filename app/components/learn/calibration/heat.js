// Steps 5 and 6: the diagram and the figures of the run at a temperature under the pointer.

import { headRow, make, say } from "../../shared/dom.js";
import { nll } from "../../calibration/temperature/tempering.js";
import { keptMover } from "../mover.js";
import { points, share } from "../numbers.js";
import { reliabilityDiagram } from "./diagram.js";
import { CALIBRATION_FACTS, PLAIN_TEMPERATURE, shownTemperature, temperedRun } from "./facts.js";

const [COLDEST_SHOWN, HOTTEST_SHOWN] = [20, 300];
const eceText = ({ ece }) => `${points(ece)} points`;
const rightText = ({ accuracy }) => share(accuracy);
const claimText = ({ counts, confidence, n }) =>
  share(counts.reduce((sum, count, b) => sum + (count ? count * confidence[b] : 0), 0) / n);

const HEAT_ROWS = [
  ["ECE", eceText],
  ["NLL", nll],
  ["Mean confidence", claimText],
  ["Right", rightText],
];
const UNCHANGED_ROWS = [
  ["Right", rightText],
  ["Mean confidence", claimText],
  ["ECE", eceText],
  ["LAC coverage", ({ sets }) => share(sets.lac.coverage)],
  ["LAC set size", ({ sets }) => sets.lac.meanSize.toFixed(2)],
];

// A table with a row for each figure: now, and at temperature 1.
function readingsTable(rows, first) {
  const table = make("table.heat-readings");
  table.createTHead().append(headRow(["", "now", `at ${shownTemperature(PLAIN_TEMPERATURE)}`]));
  const body = table.createTBody();
  const cells = rows.map(([name, written]) => {
    const row = body.insertRow();
    const title = make("th", { scope: "row" }, name);
    const now = make("td");
    row.append(title, now, make("td.then", written(first)));
    return { now, written };
  });
  return { table, show: (figures) => cells.forEach(({ now, written }) => say(now, written(figures))) };
}

function tempered(rows, { needsAnswer, at: start }) {
  return (host, { run, kept, at: first }) => {
    const { alpha } = first;
    const plot = make("div");
    const readings = readingsTable(rows, temperedRun(run, PLAIN_TEMPERATURE, alpha));
    let draw = null;
    let state = null;
    const isHidden = () => needsAnswer && !state?.open;
    const slider = keptMover(kept, "t", {
      label: "temperature",
      min: COLDEST_SHOWN,
      max: HOTTEST_SHOWN,
      start,
      shown: shownTemperature,
      moved: (value) => {
        const tempered = temperedRun(run, isHidden() ? PLAIN_TEMPERATURE : value, alpha);
        draw?.(tempered, {});
        readings.show(tempered);
        return state
          ? `ECE ${eceText(tempered)}, right ${state.open || !needsAnswer ? rightText(tempered) : "hidden"}`
          : "";
      },
    });
    host.replaceChildren(plot, slider.row, readings.table);
    draw = reliabilityDiagram(plot, run.first.counts.length, "Reliability diagram at a temperature", { height: 260 });
    return (at, now) => {
      state = now;
      slider.row.hidden = readings.table.hidden = isHidden();
      slider.show();
    };
  };
}

export const heatFigure = {
  caption: "The diagram at a temperature. Above the plain one the claims become humbler, below it bolder.",
  build: tempered(HEAT_ROWS, { needsAnswer: false, at: PLAIN_TEMPERATURE }),
  hidden: "The fitted temperature is hidden until you guess.",
  describe: (at) =>
    `Fitted on other questions, the temperature is ${CALIBRATION_FACTS.fitted(at)}; the ECE is then ${CALIBRATION_FACTS.fitted_ece(at)} points.`,
};

export const unchangedFigure = {
  caption: "The diagram at temperature 1. Other temperatures appear after your guess.",
  answered: "What a temperature changes, and what it does not.",
  build: tempered(UNCHANGED_ROWS, { needsAnswer: true, at: 200 }),
  hidden: "The figures at other temperatures are hidden until you guess.",
  describe: (at) =>
    `At temperature ${CALIBRATION_FACTS.hot(at)}, ${CALIBRATION_FACTS.hot_right(at)} of the answers are right, as before.`,
};
