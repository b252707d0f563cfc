// A phone in a class: join, answer by taps, and follow alpha.

import { changed, sharesOf } from "./chips.js";
import { Kept, Link, Refused } from "./phone_link.js";
import { say } from "../components/shared/dom.js";
import { View } from "./phone_view.js";
import { isSingleKey, letSingleKeysWork, singleKeysWork } from "../components/shared/single_keys.js";

const find = (id) => document.getElementById(id);
const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";

class Phone {
  constructor() {
    this.state = null;
    this.own = null;
    this.view = new View({ tapped: (option, by) => this.tap(option, by), again: () => this.startAgain() });
    this.typed = decodeURIComponent(location.pathname.split("/").pop());
    document.addEventListener("keydown", (event) => this.key(event));
    window.addEventListener("online", () => this.link?.flush());
    find("join").onsubmit = (event) => {
      event.preventDefault();
      this.join();
    };
    find("keys").checked = singleKeysWork();
    find("keys").onchange = () => letSingleKeysWork(find("keys").checked);
    this.begin();
  }

  begin() {
    const code = clean(this.typed);
    find("code").value = code;
    this.take(code);
    if (code && this.kept.values.seat) this.enter();
    else this.ask("");
  }

  take(code) {
    this.code = code;
    this.kept = new Kept(code);
    this.link = new Link(code, this.kept, {
      heard: (name, values) => this.heard(name, values),
      said: (sentence) => say(find("link"), sentence),
    });
  }

  ask(problem) {
    find("join").hidden = false;
    find("room").hidden = true;
    say(find("problem"), problem);
    (find("code").value ? find("name") : find("code")).focus();
  }

  async join() {
    const code = clean(find("code").value);
    if (code !== this.code) this.take(code);
    try {
      await this.link.join(find("name").value);
    } catch (error) {
      this.ask(
        error instanceof Refused ? error.message : "The server can't be reached. Check the network and try again.",
      );
      return;
    }
    history.replaceState(null, "", this.code);
    this.enter();
  }

  enter() {
    say(find("where"), `class ${this.code} · seat ${this.kept.values.seat}`);
    document.title = `Hedge: class ${this.code}`;
    find("join").hidden = true;
    this.link.follow();
  }

  heard(name, values) {
    if (name === "alpha") Object.assign(this.state, values);
    else if (values.phase === "ended") this.end(values);
    else this.state = { ...values };
    if (name === "state" && this.state.scores) this.fetchOwn();
    if (name === "state" && !this.state.scores) this.own = null;
    this.paint();
  }

  // The last figures stay on the phone.
  end(values) {
    const { sentence } = values;
    this.state = {
      ...(this.state?.phase === "results" ? { ...this.state, scores: null } : {}),
      phase: "ended",
      sentence,
    };
    this.kept.forget();
    say(find("link"), "");
  }

  async fetchOwn() {
    const stateBefore = this.state;
    const before = this.own;
    this.own = before?.sureness ? before : null;
    for (let tries = 0; tries < 5 && stateBefore === this.state; tries += 1) {
      try {
        const own = await (await this.link.ask("mine")).json();
        if (stateBefore !== this.state) return;
        this.own = own;
        this.paint();
        return;
      } catch {
        await new Promise((done) => setTimeout(done, 1000));
      }
    }
  }

  chips() {
    const k = this.state.question?.options.length ?? 0;
    return this.kept.chips(this.state.position) ?? Array(k).fill(0);
  }

  tap(option, by) {
    if (this.state?.phase !== "asked") return;
    const chips = changed(this.chips(), option, by);
    const shares = sharesOf(chips);
    if (!shares) return; // one chip stays: an answer can be changed but not taken back
    this.kept.put(this.state.position, chips, shares);
    say(find("link"), "Sending …");
    this.paint();
    this.link.flush();
  }

  startAgain() {
    this.kept.clear(this.state.position);
    this.paint();
  }

  key(event) {
    if (this.state?.phase !== "asked" || !singleKeysWork() || !isSingleKey(event, event.target)) return;
    const option = LETTERS.indexOf(event.key.toUpperCase());
    if (option >= 0 && option < this.state.question.options.length) {
      this.tap(option, event.shiftKey ? -1 : 1);
    } else if (event.key === "0") {
      this.startAgain();
    }
  }

  paint() {
    if (!this.state) return;
    this.view.show(this.state, this.state.question ? this.chips() : null, this.own);
  }
}

function clean(text) {
  return text.replaceAll(/[\s-]/g, "").toUpperCase();
}

new Phone();
