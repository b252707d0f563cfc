// The question that is asked, its sets once the answer is shown, and the sets at the end of the quiz.

import { counted, membersOf, thresholdAt, tooFew } from "../../classroom/class_sets.js";
import { headRow, make, plainAlpha, say } from "../shared/dom.js";
import { thresholdText } from "../shared/formatting.js";

const USUAL_ALPHA = 200; // START_ALPHA of core/serving/classroom/lecture.py
const OPTIONS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";

const SIDES = ["class", "model"];
const SETS = { class: "Class's set", model: "Model's set" };

function nameOf(side, { model }) {
  return side === "class" ? "The class" : model;
}

export function whoSaid({ phase, position, n, answers }, { joined, answered }) {
  const people = `${joined} joined`;
  if (phase === "lobby") return people;
  if (phase === "ended") return "The class is over.";
  if (phase === "results") return `${people} · the quiz is over`;
  const where = `Question ${position + 1} of ${n}`;
  return phase === "shown"
    ? `${where} · ${answers} ${answers === 1 ? "answer" : "answers"}`
    : `${where} · ${answered} of ${joined} answered`;
}

// The hint about alpha: that there are too few questions for it, or how it was chosen.
export function alphaSaid({ calibration, smallest, alpha, chosen }) {
  const few = tooFew(calibration, smallest, alpha);
  const usual = Math.max(USUAL_ALPHA, smallest);
  if (few || alpha !== chosen || alpha === usual) return few;
  return (
    `Hedge chose alpha ${plainAlpha(alpha)}, the nearest to ${plainAlpha(usual)} at which the class's sets differ in size. ` +
    "Drag it. Because these answers chose it, its promise is approximate."
  );
}

export function paintAsked(element, state, data) {
  const { question, phase, truth, shares, scores } = state;
  const shown = [];
  if (question.context) shown.push(make("p.context", question.context));
  shown.push(make("h3", question.question));
  const sides = SIDES.filter((side) => shares && side in shares); // a class may have no model
  const heads = ["", "Option", ...sides.map((side) => nameOf(side, state))];
  const table = make("table", make("thead", headRow([...heads, ...(scores ? sides.map((side) => SETS[side]) : [])])));
  table.tHead.hidden = !shares;
  const body = table.createTBody();
  for (const [i, option] of question.options.entries()) {
    const row = body.insertRow();
    if (truth === i) row.className = "true";
    row.append(make("td.letter", OPTIONS[i]), optionCell(option, truth === i));
    for (const side of sides) row.append(shareCell(shares[side]?.[i]));
    for (const side of scores ? sides : []) row.append(memberCell(memberOf(scores[side], state)[i]));
  }
  shown.push(make("div.wide", table), make("p.faint", meaning(state)));
  if (shares && question.added.length) shown.push(make("p.faint", addedSaid(state)));
  if (phase === "asked") {
    shown.push(make("p.faint", `Join at ${data.address.replace(/^https?:\/\//, "")}, code ${data.code}`));
  }
  element.replaceChildren(...shown);
}

function memberOf(scores, { score, alpha }) {
  const { calibration, test } = scores[score];
  return membersOf(test[0], thresholdAt(calibration, alpha));
}

// The options that the model alone may choose, and whether its set has them.
function addedSaid({ question, shares, scores, model, ...state }) {
  const first = question.options.length;
  const named = question.added.map((text, i) => `“${text}” (${shares.model[first + i]}%)`);
  const members = scores ? memberOf(scores.model, state).slice(first) : [];
  const held = question.added.filter((_, i) => members[i]).map((text) => `“${text}”`);
  const inSet = held.length ? `Its set holds ${held.join(" and ")} too.` : scores ? "Its set holds neither." : "";
  return `${model} could also choose ${named.join(" or ")}, which are never right, so people are not offered them. ${inSet}`;
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

export function paintSets(element, state) {
  const names = SIDES.filter((side) => side in state.scores);
  const sums = names.map((side) => sideOf(nameOf(side, state), side, state));
  const sides = make("div.sides", ...sums.map(({ card }) => card));
  const heads = ["Question that tested", "Right answer", ...names.map((side) => SETS[side])];
  const table = make("table.sets", make("thead", headRow(heads)));
  const body = table.createTBody();
  for (const [i, { question, options }] of state.asked.entries()) {
    const row = body.insertRow();
    row.append(textCell(question), textCell(options[state.truths[i]]));
    for (const { sets } of sums) {
      const holds = sets[i][state.truths[i]];
      const cell = textCell("");
      cell.firstChild.append(make(holds ? "span" : "span.missed", textsIn(sets[i], options)));
      if (!holds) cell.firstChild.prepend(make("span.faint", "misses it: "));
      row.append(cell);
    }
  }
  const shown = [sides, make("div.wide", table)];
  if (state.added.length) shown.push(make("p.faint", addedInSets(state)));
  element.replaceChildren(...shown);
}

function textCell(text) {
  return make("td", make("div.text", text)); // the projector view shortens it to two lines
}

function textsIn(members, options) {
  const held = options.filter((_, i) => members[i]);
  if (held.length > 3 && held.length === members.length) return `all ${held.length} options`;
  return held.length < 2 ? (held[0] ?? "none") : `${held.slice(0, -1).join(", ")} or ${held.at(-1)}`;
}

// Hide the rows of other screens: those before `first`, and those after it that have no room. Returns the number of
// rows up to the end of this screen.
export function pageSets(element, first) {
  const rows = [...element.querySelectorAll(".sets tbody tr")];
  for (const [i, row] of rows.entries()) row.hidden = i < first;
  let end = rows.length;
  while (end > first + 1 && element.scrollHeight > element.clientHeight + 1) rows[--end].hidden = true;
  if (first || end < rows.length) {
    say(element.querySelector(".sets th"), `Questions ${first + 1} to ${end} of ${rows.length} that tested`);
  }
  return end;
}

function addedInSets({ model, added }) {
  const named = added.map((text) => `“${text}”`).join(" and ");
  return `${model}'s sets may also hold ${named}, which are never right, so people were not offered them.`;
}

function sideOf(name, side, state) {
  const { score, truths, alpha, calibration } = state;
  const count = truths.length;
  const result = counted(state.scores[side][score], truths, alpha);
  const lengths = state.scores[side][score].test.map((options) => options.length);
  const [least, most] = [Math.min(...lengths), Math.max(...lengths)];
  const k = least === most ? most : `${least} to ${most}`;
  const threshold = result.threshold === Infinity ? "none, so every option stays in" : thresholdText(result.threshold);
  const card = make(
    "div.side",
    make("h4", name),
    make("p.big", `${result.covered} of ${count}`),
    make("p", `sets hold the right answer, with ${(result.options / count).toFixed(1)} of ${k} options on average`),
    make("p", `Right on ${whole(state.right[side])} of the ${count} questions that test`),
    make("p.faint", `Threshold from ${calibration} questions: ${threshold}`),
  );
  return { card, sets: result.sets };
}

// Equal top options count half each, or less.
function whole(count) {
  return Number.isInteger(count) ? String(count) : count.toFixed(1);
}
