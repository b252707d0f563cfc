// The Alpha lab outside Streamlit: in a report's file, or in a notebook. charts/lab_outside.py writes its data.

import { mountLab } from "./alpha_lab.js";

const KINDS = { Float64: Float64Array, Int32: Int32Array, Uint8: Uint8Array };
const OUTSIDE_CSS = `
.control { top: 0 !important; }
button[aria-label^='Open question'] { display: none; }`; // there is no other page

// The part of an Arrow table that the lab reads.
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

// Shows the lab inside `place`. `onView` is called with the view when a person has released what they dragged. `show`
// takes what differs in the view, and draws the lab in the colours of the moment.
export function openLab(place, { html, css, data, onView = () => {} }) {
  const host = document.createElement("div");
  const root = host.attachShadow({ mode: "open" });
  const style = document.createElement("style");
  style.textContent = css + OUTSIDE_CSS;
  root.innerHTML = html;
  root.prepend(style);
  place.append(host);
  let shown = { ...data, rows: asTable(data.rows), questions: asTable(data.questions) };
  const mount = () =>
    mountLab({
      data: shown,
      parentElement: root,
      setStateValue: (_, view) => {
        shown = { ...shown, view };
        onView(view);
      },
      setTriggerValue: () => {},
    });
  const close = mount();
  return {
    close,
    show: (change = {}) => {
      const differs = Object.keys(change).some((name) => change[name] !== shown.view[name]);
      if (differs) shown = { ...shown, view: { ...shown.view, ...change }, revision: shown.revision + 1 };
      mount();
    },
  };
}
