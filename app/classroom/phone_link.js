// What a phone keeps and sends. Answers stay in the phone's own storage until the server has acknowledged them, and are
// sent again after a reload or without a network. The server takes the same answer twice without harm.

import { readEvents } from "./event_stream.js";

const AGAIN_MS = 1000;
const BETWEEN_MS = 130;
const KEPT_HOURS = 24;

function randomToken() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

// What this browser keeps of one class. Without storage, as in some private windows, it lasts as long as the page.
export class Kept {
  constructor(code) {
    this.key = `hedge-class-${code}`;
    this.values = { token: randomToken(), seat: 0, turn: 0, answers: {}, at: Date.now() };
    try {
      const saved = JSON.parse(localStorage.getItem(this.key));
      if (saved && Date.now() - saved.at < KEPT_HOURS * 3_600_000) this.values = saved;
    } catch {
      // as if nothing had been kept
    }
  }

  save() {
    try {
      localStorage.setItem(this.key, JSON.stringify(this.values));
    } catch {
      // it lasts as long as the page
    }
  }

  forget() {
    try {
      localStorage.removeItem(this.key);
    } catch {
      // nothing was kept
    }
  }

  put(question, chips, shares) {
    this.values.turn += 1;
    this.values.answers[question] = { chips, shares, turn: this.values.turn, sent: false };
    this.save();
  }

  // Start again: the earlier answer counts until the next tap.
  clear(question) {
    const answer = this.values.answers[question];
    if (answer) answer.chips = answer.chips.map(() => 0);
    this.save();
  }

  chips(question) {
    return this.values.answers[question]?.chips ?? null;
  }

  unsent() {
    return Object.entries(this.values.answers).find(([, answer]) => !answer.sent && answer.shares);
  }

  settle(question, turn) {
    const answer = this.values.answers[question];
    if (answer && answer.turn === turn) answer.sent = true;
    this.save();
  }
}

const pause = (ms) => new Promise((done) => setTimeout(done, ms));

export class Refused extends Error {
  constructor(sentence, status) {
    super(sentence);
    this.status = status;
  }
}

export class Link {
  // `heard(name, values)` is called for each message of the server, `said(sentence)` with how the connection is.
  constructor(code, kept, { heard, said }) {
    Object.assign(this, { code, kept, heard, said });
    this.flushing = null;
    this.ended = false;
  }

  async ask(what, body) {
    const headers = { Authorization: `Bearer ${this.kept.values.token}` };
    const options = body ? { method: "POST", headers, body: JSON.stringify(body) } : { headers };
    const answer = await fetch(`${this.code}/${what}`, { ...options, cache: "no-store" });
    if (answer.ok) return answer;
    const reply = await answer.json().catch(() => ({}));
    throw new Refused(reply.error ?? "The server did not answer as it should; reload the page.", answer.status);
  }

  async join(name) {
    const answer = await this.ask("seat", { name });
    this.kept.values.seat = (await answer.json()).seat;
    this.kept.save();
  }

  // Send what has not been acknowledged, one answer after the other, until everything is. Callers that ask while this goes
  // on waits for the same end.
  flush() {
    this.flushing ??= this.sendAll().finally(() => (this.flushing = null));
    return this.flushing;
  }

  async sendAll() {
    for (let next = this.kept.unsent(); next && !this.ended; next = this.kept.unsent()) {
      const [question, { shares, turn }] = next;
      try {
        await this.ask("answer", { question: Number(question), shares, turn });
        this.kept.settle(question, turn);
        this.said(this.kept.unsent() ? "Sending …" : "Saved");
        await pause(BETWEEN_MS);
      } catch (error) {
        await this.notTaken(error, question, turn);
      }
    }
  }

  async notTaken(error, question, turn) {
    const isRefused = error instanceof Refused;
    this.said(isRefused ? error.message : "No network. Your answer is kept on this phone and sent again.");
    if (isRefused && error.status < 500 && ![408, 429].includes(error.status)) {
      this.kept.settle(question, turn); // it will never be taken
    } else {
      await pause(AGAIN_MS);
    }
  }

  // Listen until the class ends. Unsent answers go first, because they count only until the truth is shown.
  async follow() {
    while (!this.ended) {
      try {
        await this.flush();
        await this.listen();
      } catch (error) {
        if (error instanceof Refused && [401, 404, 410].includes(error.status)) {
          this.ended = true;
          this.heard("state", { phase: "ended", sentence: error.message });
          return;
        }
        this.said(error instanceof Refused ? error.message : "Not connected. Trying again …");
      }
      if (!this.ended) await pause(AGAIN_MS / 2 + Math.random() * AGAIN_MS);
    }
  }

  async listen() {
    const answer = await this.ask("stream");
    this.said("");
    await readEvents(answer, (name, values) => {
      if (values.phase === "ended") this.ended = true;
      this.heard(name, values);
    });
  }
}
