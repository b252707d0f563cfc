import { withTables } from "./table_files.js";

// What is shown in each place of the page, and its latest calls.
const mountPlaces = new WeakMap();

// Calls that may have been overtaken. Their tables stay in memory, so they are few.
const RECENT_CALLS = 3;

// The function that Streamlit calls for a component, when it is put on the page and for every change of its data. On the
// first call in a place, `make(place, data)` makes the object that shows the component; every call is shown by
// `show(object, call)`. When the component has left the page, the object is closed.
//
// If data changes while the script is still loading, Streamlit calls the function for the earlier data too, before or
// after the call for the later data, and ends that call at once. The place is still on the page then: the object stays,
// and shows again what the ended call has covered.
export function mounted(make, show) {
  return withTables((call) => {
    const place = call.parentElement;
    const known = mountPlaces.get(place);
    const entry = known ?? { shown: make(place, call.data), recent: [] };
    mountPlaces.set(place, entry);
    entry.recent = [...entry.recent, call].slice(-RECENT_CALLS);
    show(entry.shown, call);
    return () => {
      if (mountPlaces.get(place) !== entry) return;
      if (!place.isConnected) {
        mountPlaces.delete(place);
        entry.shown.close?.();
        return;
      }
      const covered = entry.recent.at(-1) === call ? entry.recent.at(-2) : null;
      entry.recent = entry.recent.filter((other) => other !== call);
      if (covered) show(entry.shown, covered);
    };
  });
}
