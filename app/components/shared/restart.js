// What an open page does when its server was restarted: the new server knows nothing of it, so it is loaded again, once,
// and says so. Its view is in its address. Texts that a person typed are shown, to be copied, because no server has them.

import { make, say } from "./dom.js";

const KEPT_AS = "hedge-restarted";
const ONCE_IN_MS = 30_000; // servers that answer in turn must not load a page again and again
const TEXT_FIELDS = "textarea, input[type=text]:not([role=combobox])";

// Of the page, and not of this script, which the new server may send again.
const page = (window.hedgePage ??= { server: null, typed: new Map(), notice: takeNotice() });

function takeNotice() {
  try {
    const kept = JSON.parse(sessionStorage.getItem(KEPT_AS));
    sessionStorage.removeItem(KEPT_AS);
    return kept;
  } catch {
    return null; // a browser that keeps nothing
  }
}

export function rememberTyped(event) {
  const [field] = event.composedPath();
  if (!(field instanceof Element) || !field.matches(TEXT_FIELDS)) return;
  const label = field.ariaLabel ?? field.labels?.[0]?.textContent;
  if (!label) return;
  if (field.value.trim()) page.typed.set(label, field.value);
  else page.typed.delete(label);
}

// Calls `back` each time when the page has a connection again after it had none.
export function watchConnection(back) {
  const app = document.querySelector("[data-test-connection-state]");
  if (!app) return { disconnect() {} };
  let lost = false;
  const watch = new MutationObserver(() => {
    const connected = app.dataset.testConnectionState === "CONNECTED";
    if (connected && lost) back();
    lost = !connected;
  });
  watch.observe(app, { attributes: true, attributeFilter: ["data-test-connection-state"] });
  return watch;
}

// `server` names the start of the server that has just drawn the page.
export function followServer(server) {
  page.server ??= server;
  if (page.server === server) return;
  page.server = server;
  if (page.notice && Date.now() - page.notice.at < ONCE_IN_MS) return;
  try {
    sessionStorage.setItem(KEPT_AS, JSON.stringify({ at: Date.now(), typed: [...page.typed] }));
  } catch {
    // The page is loaded again without a word.
  }
  location.reload();
}

export function showRestart(place) {
  place.hidden = !page.notice || page.notice.closed;
  if (place.hidden) return;
  const { typed } = page.notice;
  say(
    place.querySelector("p"),
    `The server was restarted, so this page was loaded again.${typed.length ? " You had typed:" : ""}`,
  );
  place.querySelector("dl").replaceChildren(...typed.flatMap(([label, text]) => [make("dt", label), make("dd", text)]));
  place.querySelector("button").onclick = () => {
    page.notice.closed = true;
    place.hidden = true;
  };
}
