// The list of the shortcuts, and the choice whether those of one character work. While they don't, no script of the page
// hears of such a key: neither ours nor Streamlit's. The browser's own use of the key stays.

import { mounted } from "../mounted.js";
import { isSingleKey, letSingleKeysWork, singleKeysWork } from "../single_keys.js";

let open = false; // the list is mounted again when the page above it grows

function heldBack(event) {
  const [target] = event.composedPath();
  if (!singleKeysWork() && target instanceof Element && isSingleKey(event, target)) event.stopImmediatePropagation();
}

function listen() {
  window.addEventListener("keydown", heldBack, true); // the first place that hears of a key
  return { close: () => window.removeEventListener("keydown", heldBack, true) };
}

// Streamlit calls this when it mounts the component, and again whenever the theme changes.
export default mounted(listen, (_, { parentElement }) => {
  const list = parentElement.querySelector("details");
  list.open = open;
  list.ontoggle = () => (open = list.open);
  const box = parentElement.querySelector("input");
  box.checked = singleKeysWork();
  box.onchange = () => letSingleKeysWork(box.checked);
});
