// What a component needs outside Streamlit, in a report's file, an embed or a notebook: tables from JSON, and a root of
// its own. charts/lab_outside.py writes the data.

const KINDS = { Float64: Float64Array, Int32: Int32Array, Uint16: Uint16Array, Uint8: Uint8Array };

// The part of an Arrow table that components read.
function asTable({ rows, columns }) {
  const read = {};
  for (const [name, { kind, values }] of Object.entries(columns)) {
    let array = values;
    if (kind !== "text") {
      const bytes = Uint8Array.from(atob(values), (letter) => letter.charCodeAt(0));
      array = new KINDS[kind](bytes.buffer);
    }
    read[name] = { toArray: () => array, get: (i) => array[i], length: rows };
  }
  return { numRows: rows, getChild: (name) => read[name] ?? null };
}

function withTables(data) {
  const read = ([name, value]) => [name, value?.columns ? asTable(value) : value];
  return Object.fromEntries(Object.entries(data).map(read));
}

// Shows a component inside `place`; `mount` is what Streamlit would call. `onView` is called with what a person has
// released. `show` takes what differs in the data, and draws the component in the colours of the moment.
export function openOutside(mount, place, { html, css, data, onView = () => {} }) {
  const host = document.createElement("div");
  host.className = "outside";
  const root = host.attachShadow({ mode: "open" });
  const style = document.createElement("style");
  style.textContent = css;
  root.innerHTML = html;
  root.prepend(style);
  place.append(host);
  let shown = withTables(data);
  const draw = () =>
    mount({
      data: shown,
      parentElement: root,
      setStateValue: (_, view) => onView(view),
      setTriggerValue: () => {},
    });
  const end = draw();
  return {
    close: () => {
      host.remove();
      end();
    },
    show: (change = {}) => {
      shown = { ...shown, ...change };
      draw();
    },
  };
}
