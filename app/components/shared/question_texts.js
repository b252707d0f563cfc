// The texts of an Arrow table, by the number of a row. They are read only where they are shown or searched. The names of
// a classifier's classes stand in no row: `names` has them.
export function questionTexts(table, names = []) {
  const read = (name) => {
    const column = table.getChild(name);
    return (i) => String(column?.get(i) ?? "");
  };
  const options = [];
  while (table.getChild(`o${options.length}`)) options.push(read(`o${options.length}`));
  const texts = {
    id: read("id"),
    group: read("group"),
    context: read("context"),
    question: read("question"),
    option: (i, j) => names?.[j] ?? options[j]?.(i) ?? "",
  };
  let lower = null;
  texts.holds = (i, words) => {
    lower ??= new Array(table.numRows);
    lower[i] ??= [texts.group(i), texts.question(i), texts.context(i), ...options.map((option) => option(i))]
      .join(" ")
      .toLowerCase();
    return words.every((word) => lower[i].includes(word));
  };
  return texts;
}
