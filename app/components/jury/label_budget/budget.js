// A label budget's rows as Python computed them, one for each number of labels, and their texts. Nothing here touches the
// page.

import { fixed, percent } from "../../shared/formatting.js";

export const COLUMNS = ["n", "weight", "worth", "value", "low", "high", "alone", "alone_low", "alone_high"];

// The columns of the table by name.
export const readRows = (table) => Object.fromEntries(COLUMNS.map((name) => [name, table.getChild(name).toArray()]));

// The place of the largest number of labels that is at most n, or the first one.
export function placeOf(rows, n) {
  let place = 0;
  while (place + 1 < rows.n.length && rows.n[place + 1] <= n) place++;
  return place;
}

const percent1 = (share) => percent(share, 1);
const counted = (n) => `${n.toLocaleString("en")} ${n === 1 ? "label" : "labels"}`;

// What the page says of one number of labels.
export function textsAt(rows, place, fewest) {
  const [n, weight] = [rows.n[place], rows.weight[place]];
  const worth = Math.round(rows.worth[place]);
  const [alone, judged] = [
    ["alone_low", "alone_high"],
    ["low", "high"],
  ].map(([low, high]) => `${percent1(rows[low][place])} to ${percent1(rows[high][place])}`);
  return {
    labels: counted(n),
    judged: percent1(rows.value[place]),
    judgedInterval: judged,
    alone: percent1(rows.alone[place]),
    aloneInterval: alone,
    worth: counted(worth),
    saved:
      n < fewest
        ? `too few labels to learn about a judge, which takes ${fewest}`
        : worth > n
          ? `the judge saves ${counted(worth - n)} (λ = ${fixed(weight, 2)})`
          : `the judge saves none (λ = ${fixed(weight, 2)})`,
  };
}
