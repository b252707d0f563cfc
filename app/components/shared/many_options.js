// Which of a classifier's options are shown, and how a set is written: there may be a hundred options.

const ALL_UP_TO = 26;
const FOREMOST = 12;
const LISTED_CHARACTERS = 80;
const LISTED_AT_LEAST = 3;

// The names of a set as one text. Behind the first ones, a long set has the number of the others.
export function listed(names, between = ", ") {
  let shown = 0;
  for (let length = 0; shown < names.length; shown++) {
    length += names[shown].length + between.length;
    if (length > LISTED_CHARACTERS && shown >= LISTED_AT_LEAST) break;
  }
  const others = names.length - shown;
  return names.slice(0, shown).join(between) + (others ? `${between}+ ${others} more` : "");
}

// What stands between the names of a set where it has little room: letters need no comma.
export function gap(letters) {
  return letters.every((letter) => letter.length < 3 && /^[A-Z]+$/.test(letter)) ? " " : ", ";
}

// The places of the options that are shown at first, in their order: all, or those with the largest values and the
// truth. Options that a question lacks have NaN.
export function foremost(values, truth = null) {
  const places = Array.from(values, (_, j) => j).filter((j) => !Number.isNaN(values[j]));
  if (places.length <= ALL_UP_TO) return places;
  const largest = new Set([...places].sort((a, b) => values[b] - values[a] || b - a).slice(0, FOREMOST));
  return places.filter((j) => largest.has(j) || j === truth);
}
