// The list of the shortcuts, and the choice whether those of one character work. While they don't, no script of the page
// hears of such a key: neither ours nor Streamlit's. The browser's own use of the key stays. As the one component of every
// page, it also follows the server, keeps the browser's history short, and has the page run again for what it awaits.

import { shortenHistory } from "../address_history.js";
import { Awaited } from "../awaited.js";
import { mounted } from "../mounted.js";
import { followServer, rememberTyped, showRestart, watchConnection } from "../restart.js";
import { isSingleKey, letSingleKeysWork, singleKeysWork } from "../single_keys.js";

let open = false; // the list is mounted again when the page above it grows

function heldBack(event) {
  const [target] = event.composedPath();
  if (!singleKeysWork() && target instanceof Element && isSingleKey(event, target)) event.stopImmediatePropagation();
}

function listen() {
  window.addEventListener("keydown", heldBack, true); // the first place that hears of a key
  window.addEventListener("input", rememberTyped, true);
  const list = { awaited: new Awaited() };
  const watch = watchConnection(() => list.ask());
  list.close = () => {
    window.removeEventListener("keydown", heldBack, true);
    window.removeEventListener("input", rememberTyped, true);
    watch.disconnect();
    list.awaited.close();
  };
  return list;
}

// Streamlit calls this when it mounts the component, and again whenever its data or the theme changes.
export default mounted(listen, (shown, { data, parentElement, setTriggerValue }) => {
  shown.ask = () => setTriggerValue("connected", true); // the server draws the page, and says which start it is of
  shown.awaited.follow(data.awaited, () => setTriggerValue("arrived", true));
  followServer(data.server);
  shortenHistory(data.moved);
  showRestart(parentElement.querySelector(".restarted"));
  const list = parentElement.querySelector("details");
  list.open = open;
  list.ontoggle = () => (open = list.open);
  const box = parentElement.querySelector("input");
  box.checked = singleKeysWork();
  box.onchange = () => letSingleKeysWork(box.checked);
});
