// The Alpha lab outside Streamlit: in a report's file, or in a notebook. charts/lab_outside.py writes its data.

import { openOutside } from "../shared/outside.js";
import { mountLab } from "./alpha_lab.js";

// Shows the lab inside `place`. `onView` is called with the view when a person has released what they dragged. `show`
// takes what differs in the view, and draws the lab in the colours of the moment.
export function openLab(place, { html, css, data, onView = () => {} }) {
  let { view, revision } = data;
  const seen = (now) => {
    view = now;
    onView(now);
  };
  const lab = openOutside(mountLab, place, { html, css, data, onView: seen });
  return {
    close: lab.close,
    show: (change = {}) => {
      if (Object.keys(change).some((name) => change[name] !== view[name])) {
        view = { ...view, ...change };
        revision += 1;
      }
      lab.show({ view, revision });
    },
  };
}
