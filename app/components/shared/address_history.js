// Streamlit adds an entry to the browser's history for each change of the address. A slider would fill it with its stops,
// and a click that opens another page adds two: "Back" would lead through all of them.

const ACTIONS = ["pointerdown", "keydown"];

let acted = false; // since the last entry was added

// Whether two addresses differ only in the values of the names that are `moved`, which a slider changes.
export function isMove(from, to, moved) {
  if (from.pathname !== to.pathname) return false;
  const [before, after] = [from, to].map(({ search }) => new URLSearchParams(search));
  const names = [...new Set([...before.keys(), ...after.keys()])];
  return names.every((name) => moved.includes(name) || before.get(name) === after.get(name));
}

// From now on an action of a person adds at most one entry, and none if it only moves a value.
export function shortenHistory(moved) {
  if (!history.pushState.moved) {
    const push = history.pushState.bind(history);
    history.pushState = (state, unused, url) => {
      const adds = acted && !isMove(location, new URL(url, location.href), history.pushState.moved);
      if (adds) acted = false;
      (adds ? push : history.replaceState.bind(history))(state, unused, url);
    };
    for (const name of ACTIONS) window.addEventListener(name, () => (acted = true), true);
  }
  history.pushState.moved = moved;
}
