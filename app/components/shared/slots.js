// The colour and the mark of each of two scores that stand side by side, by the scores' names.
//
// LAC is blue and APS orange in the whole app. Another score takes the free colour and a mark of its own.
export function slotsOf(names) {
  const own = (name) => (name === "lac" ? "lac" : name.startsWith("aps") ? "aps" : null);
  let inks = names.map(own);
  if (inks[0] === inks[1]) inks = inks[0] ? [inks[0], inks[0] === "lac" ? "aps" : "lac"] : ["lac", "aps"];
  else inks = inks.map((ink, i) => ink ?? (inks[1 - i] === "lac" ? "aps" : "lac"));
  const marks = { lac: "circle", aps: "diamond" };
  return names.map((name, i) => ({ ink: inks[i], mark: marks[name] ?? (i ? "square" : "triangle") }));
}
