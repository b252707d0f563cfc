// Which options are in a set, counted as in core/reports/one_question.py: a p-value is count / (n + 1), alpha is in
// thousandths, and whole numbers decide. Nothing here touches the page.

export const THOUSAND = 1000;

export function isIn(count, n, alpha) {
  return alpha * (n + 1) < THOUSAND * count;
}

// The smallest alpha at which an option is out of the set; 1000 if it stays at every alpha.
export function leavesAt(count, n) {
  const product = THOUSAND * count;
  const rest = product % (n + 1);
  return (product - rest) / (n + 1) + (rest > 0 ? 1 : 0);
}

// One question's set under one score. If `fillEmpty`, a set that would be empty takes its most probable option.
export function membersAt({ counts, n, top }, alpha, fillEmpty) {
  const members = counts.map((count) => isIn(count, n, alpha));
  if (fillEmpty && !members.includes(true)) members[top] = true;
  return members;
}

export function lettersOf(members, letters) {
  return letters.filter((_, j) => members[j]);
}
