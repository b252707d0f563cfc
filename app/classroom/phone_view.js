// What a phone shows. Everything that comes from the server is put in as text.

import { headRow, make, say } from "../components/shared/dom.js";
import { sharesOf } from "./chips.js";
import { counted, lettersIn, membersOf, thresholdAt, tooFew } from "./class_sets.js";

const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const TITLES = { lac: "LAC", aps: "APS" };

const find = (id) => document.getElementById(id);

export class View {
  // `tapped(option, by)` is called for each tap, and `again()` to start the answer again.
  constructor({ tapped, again }) {
    this.tapped = tapped;
    this.rows = [];
    find("again").onclick = again;
  }

  show(state, chips, own) {
    const { phase } = state;
    find("join").hidden = true;
    find("room").hidden = false;
    say(find("title"), heading(state));
    say(find("context"), state.question?.context ?? "");
    say(find("asked"), state.question?.question ?? "");
    say(find("how"), instruction(state));
    find("by-keys").hidden = phase !== "asked";
    this.setOptions(state);
    this.setChips(state, chips);
    this.setAlpha(state, own);
    find("own").replaceChildren(...(phase === "results" || own?.sureness ? calibrationOf(own) : []));
  }

  setOptions({ phase, position, question, truth, shares }) {
    const key = question ? `${position} ${question.options.join("\n")}` : "";
    if (this.key !== key) {
      this.key = key;
      this.rows = (question?.options ?? []).map((text, i) => this.optionRow(text, i));
      find("options").replaceChildren(...this.rows.map((row) => row.element));
    }
    for (const [i, row] of this.rows.entries()) {
      const open = phase === "asked";
      row.more.disabled = !open;
      row.less.hidden = !open;
      row.element.classList.toggle("true", truth === i);
      say(row.mark, truth === i ? "right answer" : "");
      say(row.others, shares ? othersSaid(shares, i) : "");
    }
  }

  optionRow(text, i) {
    const bar = make("span.bar");
    const share = make("span.share", "0%");
    const mark = make("span.mark");
    const more = make(
      "button.more",
      { onclick: () => this.tapped(i, 1) },
      bar,
      make("b.letter", LETTERS[i]),
      make("span.text", make("span", text), mark),
      share,
    );
    const less = make(
      "button.less",
      { "aria-label": `Less sure of ${LETTERS[i]}`, onclick: () => this.tapped(i, -1) },
      "−",
    );
    const others = make("p.others.faint");
    const element = make("div.option", more, less, others);
    return { element, more, less, bar, share, mark, others };
  }

  setChips({ phase, question }, chips) {
    const shares = chips && sharesOf(chips);
    for (const [i, row] of this.rows.entries()) {
      const share = shares ? shares[i] : 0;
      say(row.share, `${share}%`);
      row.bar.style.width = `${share}%`;
      row.less.disabled = !share;
    }
    say(find("sum"), question ? summed(phase, Boolean(shares), Boolean(chips)) : "");
    find("again").hidden = phase !== "asked" || !shares;
  }

  setAlpha(state, own) {
    const box = find("alpha");
    box.hidden = !state.scores;
    if (!state.scores) return;
    const { alpha, score, calibration, smallest, model } = state;
    const { options = [], added = state.added } = state.question ?? {};
    const lines = [make("h2", `alpha ${(alpha / 1000).toFixed(3)}, ${TITLES[score]}`)];
    const sides = [
      ["You", own?.scores],
      ["The class", state.scores.class],
      [model, state.scores.model],
    ];
    for (const [name, scores] of sides) {
      if (scores)
        lines.push(state.phase === "shown" ? oneSet(name, scores[score], state) : allSets(name, scores[score], state));
    }
    const few = tooFew(calibration, smallest, alpha);
    lines.push(make("p.faint", few || promise(state)));
    const first = options.length || state.scores.class[score].test[0].length;
    const named = added.map((text, i) => `${LETTERS[first + i]} “${text}”`).join(" and ");
    if (named) lines.push(make("p.faint", `${model} may also choose ${named}. They are never right.`));
    box.replaceChildren(...lines);
  }
}

function heading({ phase, position, n, calibration, sentence }) {
  if (phase === "lobby") return "You are in. The lecturer asks the first question soon.";
  if (phase === "results") return "The quiz is over";
  if (phase === "ended") return sentence ?? "The class is over.";
  return `Question ${position + 1} of ${n}${position < calibration ? " (used for calibration)" : " (used for the test)"}`;
}

function instruction({ phase, position, calibration }) {
  if (phase === "asked") {
    return (
      "Tap an option to give it a share. Tap it again to be more certain of it, and tap others to share between them. " +
      "If you don't know, give all of them the same."
    );
  }
  if (phase === "shown" && position < calibration) {
    return "This question calibrates. The sets begin when all questions that calibrate have been asked.";
  }
  return "";
}

function summed(phase, hasShares, hasEarlier) {
  if (hasShares) return "Your shares sum to 100%.";
  return phase === "asked" && hasEarlier ? "Tap an option. What you said before counts until you do." : "";
}

function othersSaid(shares, i) {
  const classText = shares.class ? `class ${shares.class[i]}%` : "nobody answered";
  return shares.model ? `${classText} · model ${shares.model[i]}%` : classText;
}

function oneSet(name, scores, { alpha, truth }) {
  const members = membersOf(scores.test[0], thresholdAt(scores.calibration, alpha));
  return make(
    "p.set",
    make("span.who", `${name}: `),
    make("b", lettersIn(members)),
    make("span.faint", members[truth] ? " holds the right answer" : " misses the right answer"),
  );
}

function allSets(name, scores, { alpha, truths }) {
  const { covered, options } = counted(scores, truths, alpha);
  const count = truths.length;
  return make(
    "p.set",
    make("span.who", `${name}: `),
    make("b", `${covered} of ${count}`),
    make("span.faint", ` sets hold the right answer, with ${(options / count).toFixed(1)} options each`),
  );
}

function promise({ alpha, calibration }) {
  return (
    `Over many such quizzes, a set misses the right answer at most ${alpha / 10}% of the time. One quiz with ` +
    `${calibration} questions that calibrate can be far from that.`
  );
}

function calibrationOf(own) {
  if (!own?.sureness) return [];
  const { answers, sure, right, groups } = own.sureness;
  const shown = [make("h2", "How well you knew how sure you were")];
  if (!answers) return [...shown, make("p", "You answered no question, so there is nothing to show.")];
  const percent = Math.round((100 * right) / answers);
  shown.push(
    make(
      "p",
      `Of ${answers} answers, ${plain(right)} were right: ${percent}%. You were ${Math.round(sure)}% sure on average. ` +
        verdict(sure - percent, answers),
    ),
  );
  const table = make("table", make("thead", headRow(["How sure", "Answers", "You were", "Right"])));
  const body = table.createTBody();
  for (const group of groups.filter((candidate) => candidate.answers)) {
    const row = body.insertRow();
    row.append(
      make("td", group.above ? `${group.above + 1} to ${group.up_to}%` : `up to ${group.up_to}%`),
      make("td", String(group.answers)),
      make("td", `${Math.round(group.sure)}% sure`),
      make("td", `${plain(group.right)} of ${group.answers}`),
    );
  }
  const note =
    "Only your phone shows this. So few answers say little: " +
    `one right answer more or less moves your share by ${Math.round(100 / answers)} points.`;
  return [...shown, table, make("p.faint", note)];
}

// Two equal top options count half each.
function plain(count) {
  return Number.isInteger(count) ? String(count) : count.toFixed(1);
}

function verdict(gap, answers) {
  if (Math.abs(gap) <= 100 / answers) return "The two agree as closely as so few answers can show.";
  return gap > 0 ? "You were overconfident." : "You were underconfident.";
}
