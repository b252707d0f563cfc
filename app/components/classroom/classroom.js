// The lecturer's page of a class, and its projector view. It gets every change from its own stream, draws the sets
// while alpha moves, and sends alpha on to the phones.

import { readEvents } from "../../classroom/event_stream.js";
import { AlphaControl } from "../shared/alpha_control.js";
import { make, plainAlpha, say, setThemeColors } from "../shared/dom.js";
import { mounted } from "../shared/mounted.js";
import { Presenter, fitText } from "../shared/presenter.js";
import { paintReliability } from "./reliability.js";
import { Seating } from "./seating.js";
import { alphaSaid, pageSets, paintAsked, paintSets, whoSaid } from "./stage.js";

const AGAIN_MS = 1000;
const SEND_EVERY_MS = 100;
const OWN_MOVE_MS = 1500;
const SMALLEST_TEXT = 11; // pixels, in the figure
const QUESTION_SIZES = [40, 36, 32, 28, 24, 21, 18]; // of the projector view
const SETS_SIZES = [26, 23, 20, 18];
const wait = (ms) => new Promise((done) => setTimeout(done, ms));

class Projector {
  constructor(root) {
    this.root = root;
    this.find = (selector) => root.querySelector(selector);
    this.state = null;
    this.people = { people: [], joined: 0, answered: 0 };
    this.section = this.find(".classroom");
    this.view = { present: "0", shown: "page" };
    this.screen = "sets"; // of the results, in the projector view
    this.starts = [0]; // the first row of each screen of sets so far
    this.end = Infinity; // the number of rows up to the end of this screen
    this.resized = new ResizeObserver(() => this.paint());
    this.resized.observe(this.section);
    this.movedAt = -Infinity;
    this.stop = new AbortController();
    this.control = new AlphaControl(this.find, {
      move: (alpha) => this.moved({ alpha }),
      released: () => this.send(),
    });
    this.seating = new Seating(this.find, (action) => this.act(action));
    this.find(".next").onclick = () => this.next();
    this.find(".show").onclick = () => this.act({ act: "show" });
    for (const choice of root.querySelectorAll("[name=class-score]")) {
      choice.onchange = () => this.moved({ score: choice.value });
    }
  }

  load(data) {
    this.data = data;
    this.find(".qr").src = data.qr;
    const parts = data.address.replace(/^https?:\/\//, "").split(/(?=\/)/);
    this.find(".address").replaceChildren(...parts.flatMap((part) => [make("wbr"), part])); // a line breaks before a slash
    say(this.find(".code"), data.code);
    say(this.find(".joining"), data.joining);
    this.view.present = data.present;
    this.presenter = this.presentable();
    this.presenter.show();
    this.follow();
  }

  // What the room should see: no names, no list of seats.
  presentable() {
    return new Presenter(this.section, {
      name: "Projector",
      place: this.find(".acts"),
      smallest: SMALLEST_TEXT,
      view: () => this.view,
      change: (values) => {
        Object.assign(this.view, values);
        this.trigger("view", this.view);
      },
      alpha: () => (this.state?.scores ? this.state.alpha : null),
      move: (alpha) => this.control.jump(alpha),
      release: () => this.send(),
      layout: () => this.paint(),
      about: () => `Class ${this.data.code}`,
      scores: () => [],
      things: () => "back, next",
      turn: (direction) => (direction > 0 ? this.onwards() : this.back()),
      hidden: () => this.state?.phase === "asked",
      answer: () => this.act({ act: "show" }),
    });
  }

  // A clicker's one button leads through the class.
  onwards() {
    if (this.state?.phase === "asked") this.act({ act: "show" });
    else if (this.state?.phase !== "results" || this.screen === "sets") this.next();
  }

  back() {
    if (this.screen === "sureness") this.screen = "sets";
    else if (this.starts.length > 1) this.starts.pop();
    this.paintNow();
  }

  next() {
    if (this.state?.phase !== "results") return this.act({ act: "next" });
    if (this.screen === "sureness") {
      this.screen = "sets";
      this.starts = [0];
    } else if (this.hasMoreSets()) {
      this.starts.push(this.end);
    } else {
      this.screen = "sureness";
    }
    this.paintNow(); // at once, because the next key needs to know where this screen ends
  }

  hasMoreSets() {
    return this.screen === "sets" && this.end < (this.state?.asked?.length ?? 0);
  }

  ask(body) {
    const headers = { Authorization: `Bearer ${this.data.key}` };
    const options = body ? { method: "POST", body: JSON.stringify(body) } : {};
    return fetch(`join/${this.data.code}/desk`, { ...options, headers, cache: "no-store", signal: this.stop.signal });
  }

  async follow() {
    while (!this.stop.signal.aborted) {
      try {
        const answer = await this.ask();
        if (answer.ok) {
          say(this.find(".problem"), "");
          await readEvents(answer, (name, values) => this.heard(name, values));
        } else {
          say(this.find(".problem"), (await answer.json()).error);
          if ([401, 403, 404, 410].includes(answer.status)) return;
        }
      } catch {
        if (!this.stop.signal.aborted) say(this.find(".problem"), "Not connected. Trying again …");
      }
      if (this.state?.phase === "ended") return;
      await wait(AGAIN_MS);
    }
  }

  heard(name, values) {
    if (name === "people") this.people = values;
    else {
      const mine = performance.now() - this.movedAt < OWN_MOVE_MS && this.state;
      const own = mine ? { alpha: this.state.alpha, score: this.state.score } : {};
      const before = this.state?.phase;
      this.state = { ...(name === "alpha" ? this.state : {}), ...values, ...own };
      if (before && before !== this.state.phase && ["results", "ended"].includes(this.state.phase)) {
        this.trigger("phase", this.state.phase);
      }
    }
    if (this.state) this.paint();
  }

  async act(action) {
    const answer = await this.ask(action).catch(() => null);
    const problem = answer?.ok ? "" : ((await answer?.json())?.error ?? "Not connected. Try again in a moment.");
    say(this.find(".problem"), problem);
  }

  moved(change) {
    if (!this.state) return;
    this.movedAt = performance.now();
    Object.assign(this.state, change);
    this.paint();
    this.send();
  }

  // The latest alpha, one request at a time.
  async send() {
    this.unsent = true;
    if (this.sending) return;
    this.sending = true;
    while (this.unsent && !this.stop.signal.aborted) {
      this.unsent = false;
      const { alpha, score } = this.state;
      await Promise.all([this.act({ act: "alpha", alpha, score }), wait(SEND_EVERY_MS)]);
    }
    this.sending = false;
  }

  paint() {
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => this.paintNow());
  }

  paintNow() {
    const { state } = this;
    if (!state) return;
    const { phase } = state;
    const isPresented = this.view.present === "1";
    const hasQuestion = phase === "asked" || phase === "shown";
    say(this.find(".who"), whoSaid(state, this.people));
    this.find(".show").hidden = phase !== "asked";
    this.find(".next").hidden = phase === "ended" || (phase === "results" && !isPresented);
    this.seating.paint(this.people);
    this.find(".lobby").hidden = phase !== "lobby";
    this.find(".asked").hidden = !hasQuestion;
    this.find(".results").hidden = phase !== "results";
    this.find(".dial").hidden = !state.scores;
    if (state.scores) {
      this.control.set(state.alpha);
      this.control.paint(state.alpha, "");
      this.find("#alpha").setAttribute("aria-valuetext", plainAlpha(state.alpha));
      this.find(`[value=${state.score}]`).checked = true;
      say(this.find(".few"), alphaSaid(state));
    }
    this.section.dataset.screen = phase === "results" ? this.screen : phase;
    if (hasQuestion) paintAsked(this.find(".asked"), state, this.data);
    if (hasQuestion) this.fit(".asked", QUESTION_SIZES);
    if (phase === "results") {
      paintSets(this.find(".sets-shown"), state);
      this.fit(".sets-shown", SETS_SIZES);
      this.end = isPresented ? pageSets(this.find(".sets-shown"), this.starts.at(-1)) : Infinity;
      paintReliability(this.find(".sureness"), state);
    }
    say(this.find(".next"), this.hasMoreSets() ? "More sets" : nextSaid(state, this.screen));
  }

  // In the projector view the words are as large as their place allows.
  fit(selector, sizes) {
    const element = this.find(selector);
    if (this.view.present === "1") fitText(element, sizes);
    else element.style.fontSize = "";
  }

  close() {
    this.resized.disconnect();
    this.stop.abort();
    cancelAnimationFrame(this.frame);
    this.presenter?.close({ gone: true });
  }
}

function nextSaid({ phase, position, n }, screen) {
  if (phase === "lobby") return "First question";
  if (phase === "results") return screen === "sets" ? "How sure the class was" : "The sets";
  return position + 1 < n ? "Next question" : "Results";
}

// Streamlit calls this when it mounts the component, and again whenever the data or the theme changes.
export default mounted(
  (root) => new Projector(root),
  (shown, { data, parentElement, setTriggerValue }) => {
    shown.trigger = setTriggerValue;
    setThemeColors(parentElement.host ?? parentElement, shown.find(".classroom"));
    if (!shown.data) shown.load(data);
  },
);
