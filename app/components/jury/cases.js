// One answer as a card. Closed, it shows the verdict; open, it shows what each juror and each rule says.

import { draw, headRow, make } from "../shared/dom.js";
import { percent } from "../shared/formatting.js";
import { answered, isTie, isWrong, yes } from "./verdicts.js";

const HIGH = 18;
const WIDE = 200;
// For a pair of answers, True means that the first is better.
const word = ({ pairwise }, verdict) =>
  isTie(verdict) ? "Tie" : pairwise ? (verdict ? "First" : "Second") : verdict ? "True" : "False";
const shade = (verdict) => (verdict === 1 ? "true" : "");

function tag(text, kind = "", title = "") {
  const element = make("span", { className: `tag ${kind}`.trim() }, text);
  if (title) element.title = title;
  return element;
}

function tagsOf(state, i) {
  const { rows, rule, at, jurors, pairwise } = state;
  const trues = yes(rows, i);
  const element = make(
    "span.tags",
    tag(
      `${Math.max(trues, jurors.length - trues)}–${Math.min(trues, jurors.length - trues)}`,
      "plain",
      "How many jurors are in the majority, and how many are against it.",
    ),
  );
  if (rows.said[rule][i] !== rows.said.majority[i]) element.append(tag("against majority", "plain"));
  if (answered(rows, rule, i, at)) element.append(tag(word(state, rows.said[rule][i]), shade(rows.said[rule][i])));
  else element.append(tag("abstains", "plain"));
  const would = answered(rows, rule, i, at) ? "" : "would be ";
  const [good, bad] = pairwise ? ["as labelled", "against the label"] : ["right", "wrong"];
  if (isTie(rows.said[rule][i])) element.append(tag("half right", "plain", "A tie counts half for each side."));
  else
    element.append(
      isWrong(rows, rule, i) ? tag(`${would}${bad}`, would ? "plain" : "wrong") : tag(`${would}${good}`, "plain"),
    );
  return element;
}

// A bar from the middle to the right if a juror leans to True, to the left if to False.
function lean(p, verdict, label) {
  const cell = make("td.lean");
  const svg = draw(cell, "svg", {
    viewBox: `0 0 ${WIDE} ${HIGH}`,
    preserveAspectRatio: "none",
    role: "img",
    "aria-label": label,
  });
  const [from, to] = p >= 0.5 ? [0.5, p] : [p, 0.5];
  draw(svg, "rect", {
    class: shade(verdict),
    x: from * WIDE,
    width: Math.max(1, (to - from) * WIDE),
    y: 3,
    height: HIGH - 6,
  });
  draw(svg, "line", { x1: WIDE / 2, x2: WIDE / 2, y1: 0, y2: HIGH });
  return cell;
}

function jurorTable(state, i) {
  const { rows, jurors } = state;
  const table = make("table.jurors");
  const body = make("tbody");
  const head = headRow(["Juror", `${word(state, false)} | ${word(state, true)}`, "Verdict", "Confidence"]);
  head.lastChild.title = "The juror’s confidence in its verdict, on the scale chosen above. p is its raw probability.";
  jurors.forEach((name, j) => {
    const p = rows.p[j][i];
    const verdict = rows.v[j][i];
    body.append(
      make(
        "tr",
        make("td", name),
        lean(p, verdict, `${name}: probability of ${word(state, true)} ${p.toFixed(3)}`),
        make("td", tag(word(state, verdict), shade(verdict))),
        make("td.sure", `${percent(rows.c[j][i], 1)} (p\u00a0${percent(Math.max(p, 1 - p), 1)})`),
      ),
    );
  });
  table.append(make("thead", head), body);
  return table;
}

function ruleList(state, i) {
  const { rows, rule, rules } = state;
  const list = make("ul.by-rule");
  for (const { name, title } of rules) {
    const verdict = rows.said[name][i];
    list.append(
      make("li", tag(`${title}: ${word(state, verdict)}`, `${shade(verdict)}${name === rule ? " chosen" : ""}`)),
    );
  }
  return list;
}

export function opened(state, i) {
  const left = make("div.wide", make("h4", "The jurors"), jurorTable(state, i));
  const label = state.rows.label[i];
  const truth = state.pairwise
    ? `The ${label ? "first" : "second"} answer is better`
    : `The answer is ${label ? "right" : "wrong"}`;
  return make(
    "div.opened",
    left,
    make(
      "div",
      make("h4", `${truth}. The verdict of every rule:`),
      ruleList(state, i),
      make("p"),
      make("a.link", { href: state.href(i) }, "Link to this answer"),
    ),
  );
}

export function caseCard(state, i) {
  const item = make("li");
  const { question, answer } = state.texts(i);
  const details = make(
    "details",
    make(
      "summary",
      make("span.asked", question),
      make("span.said", `${state.pairwise ? "Compared" : "Answered"}: ${answer || "(nothing)"}`),
      tagsOf(state, i),
    ),
  );
  details.dataset.row = i;
  const fill = () => {
    if (details.open && details.children.length === 1) details.append(opened(state, i));
  };
  details.open = state.card === i;
  fill();
  details.ontoggle = () => {
    fill();
    state.toggled(i, details.open);
  };
  item.append(details);
  return item;
}
