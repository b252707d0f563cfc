// A jury's rows under a rule: the order of the cards, and the rows of each kind. Nothing here touches the page. Rules,
// confidences and all figures are computed in Python, over all splits.

export const KINDS = {
  all: "all test answers",
  split: "close votes, such as 2–1",
  flipped: "verdicts against the majority",
  differ: "answers on which rules differ",
  sure: "confident and wrong",
  abstained: "abstentions",
};
export const SURE = 80;
const SLACK = 1e-9;

// The rows as columns: {n, label, p[j], c[j], v[j], said{rule}, sure{rule}}.
export function readRows(table, jurors, rules) {
  const column = (name) => table.getChild(name).toArray();
  return {
    n: table.numRows,
    label: column("label"),
    p: jurors.map((_, j) => column(`p${j}`)),
    c: jurors.map((_, j) => column(`c${j}`)),
    v: jurors.map((_, j) => column(`v${j}`)),
    said: Object.fromEntries(rules.map((name) => [name, column(`r_${name}`)])),
    sure: Object.fromEntries(rules.map((name) => [name, column(`s_${name}`)])),
  };
}

export const answered = (rows, rule, i, at) => rows.sure[rule][i] >= at / 100 - SLACK;
// A tie, ½, is neither right nor wrong.
export const isTie = (verdict) => verdict === 0.5;
export const isWrong = (rows, rule, i) => rows.said[rule][i] === 1 - rows.label[i];

export const yes = (rows, i) => rows.v.reduce((sum, verdicts) => sum + verdicts[i], 0);

export function isOf(kind, rows, rule, i, at) {
  const jurors = rows.v.length;
  const trues = yes(rows, i);
  switch (kind) {
    case "split":
      return Math.abs(2 * trues - jurors) <= 1 + (jurors % 2 ? 0 : 1) && trues > 0 && trues < jurors;
    case "flipped":
      return rows.said[rule][i] !== rows.said.majority[i];
    case "differ":
      return (
        new Set(
          Object.keys(rows.said)
            .filter((name) => !name.startsWith("always_"))
            .map((name) => rows.said[name][i]),
        ).size > 1
      );
    case "sure":
      return isWrong(rows, rule, i) && answered(rows, rule, i, SURE);
    case "abstained":
      return !answered(rows, rule, i, at);
    default:
      return true;
  }
}

// The rows of a kind. Rows on which the rule differs from the majority come first, then by decreasing confidence.
export function chosenRows(kind, rows, rule, at) {
  const places = [];
  for (let i = 0; i < rows.n; i++) if (isOf(kind, rows, rule, i, at)) places.push(i);
  const turned = (i) => (rows.said[rule][i] !== rows.said.majority[i] ? 0 : 1);
  const sure = rows.sure[rule];
  return places.sort((a, b) => turned(a) - turned(b) || sure[b] - sure[a] || a - b);
}
