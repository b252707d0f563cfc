// The Alpha lab at the end of a static report, where a person chooses the run. charts/static_report.py writes the data.

import { openLab } from "./outside.js";

const { page, labs } = JSON.parse(document.getElementById("embedded").textContent);
const select = document.getElementById("run");
for (const [i, { name }] of labs.entries()) select.add(new Option(name, i));
const place = document.getElementById("lab");

function open(i) {
  place.replaceChildren();
  openLab(place, { ...page, data: labs[i] });
}
select.onchange = () => open(Number(select.value));
select.closest("p").hidden = labs.length < 2;
open(0);
