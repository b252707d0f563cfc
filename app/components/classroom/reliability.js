// The class's reliability diagram: how sure answers were, and what share of them was right.

import { draw, say } from "../shared/dom.js";
import { MARKS, SHARE_ACROSS, SHARE_UP, axes } from "../shared/svg.js";

const LABEL = { gap: 8, room: 0.9 }; // pixels above a line; the share behind which a label ends there

export function paintReliability(element, { sureness, model }) {
  const { everyone, finding } = sureness;
  const find = (selector) => element.querySelector(selector);
  say(find(".finding"), finding);
  const machine = sureness.model;
  const percent = ({ right, answers }) => Math.round((100 * right) / answers);
  const groups = everyone.groups.filter(({ answers }) => answers);
  find("figure").hidden = !groups.length;
  if (!groups.length) return say(find(".beside"), "Nobody has answered.");
  const { svg, x, y } = axes(find(".plot"), spoken(groups), {
    ...SHARE_ACROSS,
    ...SHARE_UP,
    xTitle: "confidence: the share of the top option",
    yTitle: "right answers",
  });
  draw(svg, "line", { class: "target", x1: x(0), y1: y(0), x2: x(1), y2: y(1) });
  for (const { sure, right, answers, low, high } of groups) {
    const [across, up] = [x(sure / 100), y(right / answers)];
    const isTold = low !== null;
    if (isTold) draw(svg, "line", { class: "whisker", x1: across, x2: across, y1: y(low / 100), y2: y(high / 100) });
    const mark = isTold ? "dot" : "dot too-few";
    draw(svg, "path", { class: mark, d: MARKS.circle, transform: `translate(${across},${up})` });
    const above = { x: across, y: (isTold ? y(high / 100) : up) - LABEL.gap };
    const anchor = sure / 100 > LABEL.room ? "end" : "middle";
    const label = `${Math.round((100 * right) / answers)}% of ${answers.toLocaleString("en")}`;
    draw(svg, "text", { class: "strong", ...above, "text-anchor": anchor }, label);
  }
  say(
    find("figcaption"),
    `${everyone.answers.toLocaleString("en")} answers of ${everyone.people} people to ${everyone.questions} questions. The dashed line is ` +
      "perfect calibration. Lines are 95% intervals for other people and other questions of this kind: answers of one " +
      "person are alike, and so are answers to one question. A hollow dot has too few answers for one.",
  );
  say(
    find(".beside"),
    `Over all answers, the class was ${Math.round(everyone.sure)}% sure on average and ${percent(everyone)}% right.` +
      (machine
        ? ` ${model} on the same questions: ${Math.round(machine.sure)}% sure and ${percent(machine)}% right.`
        : ""),
  );
}

function spoken(groups) {
  const parts = groups.map(({ sure, right, answers, low, high }) => {
    const interval = low === null ? "too few for an interval" : `${Math.round(low)} to ${Math.round(high)}%`;
    return `${Math.round(sure)}% sure: ${Math.round((100 * right) / answers)}% of ${answers} right, ${interval}`;
  });
  return `Reliability diagram of the class. ${parts.join("; ")}.`;
}
