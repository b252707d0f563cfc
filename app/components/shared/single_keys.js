// Shortcuts of one character ("p", "j", space), which act wherever the focus is. A person can switch them all off, and
// the browser keeps that (WCAG 2.2, success criterion 2.1.4). The app's pages list them (shared/shortcuts); the phone's
// page of a class asks here too.

const KEPT_AS = "hedge-single-keys";
const OF_TEXT =
  "input, textarea, select, [contenteditable=''], [contenteditable=true], [role=textbox], [role=combobox]";
const NOT_OF_TEXT = "[type=range], [type=radio], [type=checkbox], [type=button], [type=submit]";
// Elements that use the space bar when they have the focus.
const OF_SPACE =
  "button, a, summary, canvas, [type=radio], [type=checkbox], [type=button], [role=button], [role=radio], " +
  "[role=checkbox], [role=switch], [role=tab], [role=option], [role=menuitem]";

export const SINGLE_KEYS_CHANGED = "hedge:single-keys";

export function singleKeysWork() {
  try {
    return localStorage.getItem(KEPT_AS) !== "off";
  } catch {
    return true; // a browser that keeps nothing
  }
}

export function letSingleKeysWork(on) {
  try {
    if (on) localStorage.removeItem(KEPT_AS);
    else localStorage.setItem(KEPT_AS, "off");
  } catch {
    // The choice is lost with the page.
  }
  window.dispatchEvent(new Event(SINGLE_KEYS_CHANGED));
}

// Whether a key types text where the focus is.
export function isTypedInto(target) {
  return target.matches(OF_TEXT) && !target.matches(NOT_OF_TEXT);
}

export function isForSpace(target) {
  return target.matches(OF_SPACE);
}

// Whether a key would be a shortcut: one character that is for nothing that has the focus.
export function isSingleKey(event, target) {
  if (event.altKey || event.ctrlKey || event.metaKey || event.isComposing || [...event.key].length !== 1) return false;
  return !isTypedInto(target) && !(event.key === " " && isForSpace(target));
}
