// The question that is asked, its sets once the answer is shown, and the results of the quiz.

import { counted, lettersIn, membersOf, thresholdAt, tooFew } from "../../classroom/class_sets.js";
import { headRow, make } from "../shared/dom.js";
import { thresholdText } from "../shared/formatting.js";
import { paintSeats } from "./people.js";

const OPTIONS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const GROUP_HEADS = ["How sure", "Answers", "Mean confidence", "Right"];

export function fewSaid({ calibration, smallest, alpha }) {
  return tooFew(calibration, smallest, alpha);
}

export function paintAsked(element, state, people, data) {
  const { question, phase, truth, shares, scores } = state;
  const shown = [];
  if (question.context) shown.push(make("p.context", question.context));
  shown.push(make("h3", question.question));
  const heads = shares ? ["", "Option", "The class", state.model] : ["", "Option"];
  const sides = shares ? ["class", "model"] : [];
  const table = make("table", make("thead", headRow(scores ? [...heads, "Class's set", "Model's set"] : heads)));
  const body = table.createTBody();
  for (const [i, option] of question.options.entries()) {
    const row = body.insertRow();
    if (truth === i) row.className = "true";
    row.append(make("td.letter", OPTIONS[i]), optionCell(option, truth === i));
    for (const side of sides) row.append(shareCell(shares[side]?.[i]));
    for (const side of scores ? sides : []) row.append(memberCell(memberOf(scores[side], state)[i]));
  }
  shown.push(make("div.wide", table), make("p.faint", meaning(state)));
  if (phase === "asked") {
    const seats = make("p.seats");
    paintSeats(seats, people.people, true);
    shown.push(make("p.faint", `Join at ${data.address.replace(/^https?:\/\//, "")}, code ${data.code}`), seats);
  }
  element.replaceChildren(...shown);
}

function memberOf(scores, { score, alpha }) {
  const { calibration, test } = scores[score];
  return membersOf(test[0], thresholdAt(calibration, alpha));
}

function optionCell(text, isTrue) {
  const cell = make("td.option", text);
  if (isTrue) cell.append(make("span.tag", "right answer"));
  return cell;
}

function shareCell(share) {
  const cell = make("td.share", share === undefined ? "no answer" : `${share}%`);
  const track = make("span.track");
  const fill = make("span.fill");
  fill.style.width = `${share ?? 0}%`;
  track.append(fill);
  cell.append(track);
  return cell;
}

function memberCell(isIn) {
  return make("td.member", make("span", { className: isIn ? "chip in" : "chip" }, isIn ? "in" : "out"));
}

function meaning({ phase, position, calibration, n, alpha, scores }) {
  const left = n - calibration;
  if (phase === "asked") {
    return position < calibration
      ? `This question calibrates: the first ${calibration} set the threshold, the last ${left} are tested with it.`
      : "This question tests: its sets are shown with the answer.";
  }
  if (!scores) return `The sets begin with question ${calibration + 1}: the first ${calibration} set the threshold.`;
  return (
    `Each threshold comes from ${calibration} questions. Over many such quizzes, a set misses the right answer at most ` +
    `${alpha / 10}% of the time; in this one it can be far from that.`
  );
}

export function paintResults(element, state) {
  const sums = { class: sideOf("The class", "class", state), model: sideOf(state.model, "model", state) };
  const sides = make("div.sides", sums.class.card, sums.model.card);
  const table = make(
    "table.sets",
    make("thead", headRow(["Question that tested", "Right answer", "Class's set", "Model's set"])),
  );
  const body = table.createTBody();
  for (const [i, question] of state.asked.entries()) {
    const row = body.insertRow();
    row.append(make("td", question), make("td", OPTIONS[state.truths[i]]));
    for (const { sets } of Object.values(sums)) {
      const holds = sets[i][state.truths[i]];
      const cell = make("td", make(holds ? "span" : "span.missed", lettersIn(sets[i])));
      if (!holds) cell.append(make("span.faint", " misses it"));
      row.append(cell);
    }
  }
  element.replaceChildren(sides, make("div.wide", table), ...surenessOf(state));
}

function sideOf(name, side, state) {
  const { score, truths, alpha, calibration } = state;
  const count = truths.length;
  const result = counted(state.scores[side][score], truths, alpha);
  const threshold = result.threshold === Infinity ? "none, so every option stays in" : thresholdText(result.threshold);
  const card = make(
    "div.side",
    make("h4", name),
    make("p.big", `${result.covered} of ${count}`),
    make("p", `sets hold the right answer, with ${(result.options / count).toFixed(1)} options each on average`),
    make("p", `Right on ${whole(state.right[side])} of the ${count} questions that test`),
    make("p.faint", `Threshold from ${calibration} questions: ${threshold}`),
  );
  return { card, sets: result.sets };
}

// Equal top options count half each, or less.
function whole(count) {
  return Number.isInteger(count) ? String(count) : count.toFixed(1);
}

function surenessOf({ sureness, n, model }) {
  const { everyone } = sureness;
  const machine = sureness.model;
  if (!everyone.answers) return [make("p", "Nobody has answered.")];
  const table = make("table", make("thead", headRow(GROUP_HEADS)));
  const body = table.createTBody();
  for (const group of everyone.groups.filter((candidate) => candidate.answers)) {
    const row = body.insertRow();
    const span = group.above ? `${group.above + 1} to ${group.up_to}%` : `up to ${group.up_to}%`;
    const right = `${Math.round((100 * group.right) / group.answers)}%`;
    for (const text of [span, group.answers, `${Math.round(group.sure)}%`, right]) row.append(make("td", String(text)));
  }
  const percent = ({ right, answers }) => Math.round((100 * right) / answers);
  const sentence =
    `All ${everyone.answers} answers to all ${n} questions: ${Math.round(everyone.sure)}% sure on average, ` +
    `${percent(everyone)}% right. ${model} on the same questions: ${Math.round(machine.sure)}% sure on average, ` +
    `${percent(machine)}% right.`;
  const note =
    "Answers are grouped by the share of their top option. Where confidence matches accuracy, people judged their " +
    "own certainty well. Answers to one question go together, so few questions say little, however many people answer.";
  const wide = make("div.wide", table);
  return [
    make("h4", "How sure the class was, and how often it was right"),
    make("p", sentence),
    wide,
    make("p.faint", note),
  ];
}
