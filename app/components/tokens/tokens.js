// A list of tokens, whose colour is stronger if the model was more surprised by the token. Details of the token that is
// pointed at or focused are shown below. The list is one stop of the Tab key; arrow keys go from token to token.

import { make, say } from "../shared/dom.js";
import { mounted } from "../shared/mounted.js";

const MOST_NATS = 8;
const MOST_SAID = Math.log(1e9);

const quoted = (text) => text.replaceAll("\n", "↵").replace(/^ /, "␣");

const nats = (loss, digits) => `${loss.toFixed(digits)} nats`;

class TokenText {
  constructor(root) {
    this.root = root;
    this.find = (selector) => root.querySelector(selector);
    this.find(".text").onkeydown = (event) => {
      const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, Home: -Infinity, End: Infinity }[event.key];
      if (!by || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      this.options[Math.max(0, Math.min(this.options.length - 1, this.at + by))].focus();
    };
  }

  themed() {
    const host = this.root.host ?? this.root;
    const colors = getComputedStyle(host).getPropertyValue("--st-chart-categorical-colors").split(",");
    this.find(".tokens").style.setProperty("--hot", (colors[1] ?? "").trim());
    this.find(".tokens").style.setProperty("--cool", (colors[3] ?? "").trim());
  }

  load({ tokens, names }) {
    if (this.tokens === tokens) return;
    this.tokens = tokens;
    this.names = names;
    this.options = tokens.map((token, i) => {
      const option = make("span", { className: token.text ? "" : "part", role: "option" }, token.text);
      option.style.setProperty(
        "--much",
        `${token.loss === null ? 0 : Math.round(100 * Math.min(token.loss / MOST_NATS, 1))}%`,
      );
      option.setAttribute(
        "aria-label",
        [names[i][0].trim() || "space", names[i][1], token.loss === null ? "the first token" : nats(token.loss, 1)]
          .filter(Boolean)
          .join(", "),
      );
      option.onclick = () => option.focus();
      option.onfocus = option.onpointerenter = () => this.tell(i);
      return option;
    });
    this.find(".text").replaceChildren(...this.options);
    const surprises = tokens.map(({ loss }) => loss ?? -1);
    this.tell(surprises.indexOf(Math.max(...surprises)));
  }

  tell(i) {
    this.at = i;
    this.options.forEach((option, j) => {
      option.tabIndex = i === j ? 0 : -1;
      option.setAttribute("aria-selected", String(i === j));
    });
    const token = this.tokens[i];
    const head = make("p");
    if (token.loss === null) {
      say(head, `${this.name(i)} is the first token. Nothing comes before it, so the model could not predict it.`);
      this.find(".said").replaceChildren(head);
      return;
    }
    say(
      head,
      `${this.name(i)} had a probability of ${this.chance(token)}, which is a surprisal of ${nats(token.loss, 2)}. ` +
        this.before(token.entropy) +
        "The model expected:",
    );
    const table = make("table");
    for (const [text, p] of token.alternatives) {
      const row = make("tr", { className: text === token.text ? "true" : "" });
      const bar = make("td.bar");
      const length = make("span");
      const name = make("th", { scope: "row" }, quoted(text) + (text === token.text ? " (this one came)" : ""));
      length.style.width = `${100 * p}%`;
      bar.append(length);
      row.append(name, make("td", this.share(p)), bar);
      table.append(row);
    }
    this.find(".said").replaceChildren(head, table);
  }

  name(i) {
    const [name, part] = this.names[i];
    return `“${quoted(name)}”${part ? `, ${part},` : ""}`;
  }

  /** The text about the entropy; a server does not report it. */
  before(entropy) {
    return entropy === null
      ? ""
      : `Before it, the entropy was ${nats(entropy, 2)}, as with ${this.many(entropy)} equally likely tokens. `;
  }

  many(entropy) {
    const count = Math.exp(entropy);
    return count < 10 ? count.toFixed(1) : Math.round(count).toLocaleString("en");
  }

  /** The probability of the token that came; a rare one's as "one in N". */
  chance({ probability, loss }) {
    if (probability >= 0.0005) return this.share(probability);
    if (loss > MOST_SAID) return "less than 1 in a billion";
    return `1 in ${Number(Math.exp(loss).toPrecision(2)).toLocaleString("en")}`;
  }

  share(p) {
    return p >= 0.0005 ? `${(100 * p).toFixed(1)}%` : "less than 0.05%";
  }
}

export default mounted(
  (root) => new TokenText(root),
  (text, { data }) => {
    text.themed();
    text.load(data);
  },
);
