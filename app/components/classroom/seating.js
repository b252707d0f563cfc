// The list of seats, in which the lecturer frees seats and says how many one network may take.

import { make, say } from "../shared/dom.js";

export class Seating {
  // `act` asks the server to do something.
  constructor(find, act) {
    Object.assign(this, { find, act, rows: new Map() });
    find(".allow").onsubmit = (event) => {
      event.preventDefault();
      act({ act: "allow", most: find(".most").valueAsNumber });
    };
  }

  paint({ people, networks = [], most = 0, turned_away: refused = 0 }) {
    const name = refused ? `Seats · ${refused} refused, because their network has ${most} seats` : "Seats";
    say(this.find(".seating summary"), name);
    const field = this.find(".most");
    if (this.most !== most) field.value = this.most = most;
    for (const [number, row] of this.rows) {
      if (!people.some(([taken]) => taken === number)) this.drop(number, row);
    }
    for (const [number, name, hasAnswered, isOpen] of people) {
      if (!this.rows.has(number)) this.add(number, name);
      const words = [hasAnswered && "has answered", !isOpen && "page closed"];
      say(this.rows.get(number).querySelector(".faint"), words.filter(Boolean).join(", "));
    }
    this.paintNetworks(networks);
  }

  add(number, name) {
    const row = this.row(number, name);
    const next = Math.min(...[...this.rows.keys()].filter((other) => other > number));
    this.find(".taken").insertBefore(row, this.rows.get(next) ?? null);
    this.rows.set(number, row);
  }

  row(number, name) {
    return make(
      "li",
      make("span", name ? `${number} ${name}` : String(number)),
      make("span.faint", ""),
      make(
        "button",
        {
          "aria-label": `Free seat ${number}${name ? `, ${name}` : ""}`,
          onclick: () => this.act({ act: "free", seats: [number] }),
        },
        "Free",
      ),
    );
  }

  // Keep the focus in the list, so that a keyboard user can free the next seat.
  drop(number, row) {
    const next = row.nextElementSibling ?? row.previousElementSibling;
    if (row.contains(row.getRootNode().activeElement)) {
      (next?.querySelector("button") ?? this.find(".seating summary")).focus();
    }
    row.remove();
    this.rows.delete(number);
  }

  // One line for each network from which several people came, if there are several such networks.
  paintNetworks(networks) {
    const shown = networks.length > 1 ? networks.filter((seats) => seats.length > 1) : [];
    const key = JSON.stringify(shown);
    if (this.networks === key) return;
    this.networks = key;
    this.find(".networks").replaceChildren(
      ...shown.map((seats) => {
        const where = `the network of seat ${seats[0]}`;
        const line = make(
          "li",
          make("span", `${seats.length} seats are taken from ${where}.`),
          make(
            "button",
            {
              "aria-label": `Free all ${seats.length} seats of ${where}`,
              onclick: () => {
                const question = `Free ${seats.length} seats, and delete their names and answers?`;
                if (window.confirm(question)) this.act({ act: "free", seats });
              },
            },
            `Free all ${seats.length}`,
          ),
        );
        return line;
      }),
    );
  }
}
