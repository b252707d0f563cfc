// What is shown in each place of the page.
const mountPlaces = new WeakMap();

// The object that shows a component in this place, made by `make` on the component's first call there, and the function
// that ends the call. Streamlit calls a component for every change of its data. If the data has changed while Streamlit
// was still loading the script, it ends the earlier call at once, before or after the next: the place is on the page, and
// nothing is closed. When a component is taken away, its place has left the page before the call ends.
export function mountedOnce(place, make) {
  const known = mountPlaces.get(place);
  const shown = known ?? make(place);
  mountPlaces.set(place, shown);
  const end = () => {
    if (place.isConnected || mountPlaces.get(place) !== shown) return;
    mountPlaces.delete(place);
    shown.close?.();
  };
  return { shown, isFirst: !known, end };
}
