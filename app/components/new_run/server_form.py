"""Choose models on a server: connect to it, see what it can do, and set a budget."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from app.caches import server_cache
from app.components.shared.controls import REFUSED, choice, whole_number
from app.formatting import plain, sentence
from app.state.fields import amount_text
from app.state.new_run import HERE, SERVER
from core import access
from core.access import UserRole
from core.errors import HedgeError
from core.models.letter_mass import way_out
from core.models.price import MILLION, Price
from core.models.server import permission
from core.models.server.abilities import COMPLETIONS, TEXTS, Abilities
from core.models.server.known_servers import RememberedServers, remember, remembered
from core.models.server_address import TIMEOUT_S, ServedModel, model_on_servers
from core.questions.prompting.decision import DECISION_FORMATS
from core.questions.prompting.forms import FORMATS, FORMS, TEXT_FORMS
from core.runs.prompts import Combination
from core.runs.spec import MAX_PICKS, RunSpec

PLACES = {HERE: "Loaded by Hedge", SERVER: "On a server"}
PLACE_HELP = (
    "A model on a server is one that vLLM, SGLang, llama.cpp, Ollama or an API holds, in this room or far away. The "
    "server must speak the OpenAI protocol and give log-probabilities, or answer decisions."
)
ADDRESS_HELP = (
    "The address of the API, which usually ends in /v1. Several addresses, separated by spaces, share the work if all "
    "of them hold the same model."
)
KEY_HELP = (
    "The name of the environment variable that holds the server's key, for example OPENAI_API_KEY. An entry of that "
    "name in Streamlit's secrets works as well. Hedge stores the name and never the key."
)
MODELS_HELP = "The models that the server lists. Two servers with one model name count as two models."
BUDGET_HELP = "The run stops before it costs more. Finished questions are kept, and a larger budget continues the run."
PRICE_HELP = "In any currency. Leave it empty if there is none."
NO_TEXTS = "This server does not give the log-probabilities of a text that it was sent"
WRONG_TEXTS = "This server gives wrong log-probabilities of a text that it was sent"
FAILED_TEXTS = "This server failed when it was asked for the log-probabilities of a text"
CHECK_HELP = "Asks the server again what it can do. It may have been started again, or have failed only for a moment."
WITH_TEXTS = "Use a server that gives them, such as vLLM."
TIMEOUT_HELP = (
    "How many seconds the server may take for one answer. Then the question is asked again. A large model that answers "
    "slowly needs more."
)
PICKS_HELP = (
    "How many answers are sampled of each question, at temperature 1, with a request for each. The share of the "
    "answers that name an option stands for its probability. More picks give finer frequencies."
)
PICKED, DECIDED = "picks", "decisions"
"""What can be asked of a model without log-probabilities."""
USUAL_PICKS = 20
SHOWN_BEFORE = 4
LIMITS = ("price_read", "price_written", "budget", "budget_tokens", "timeout")
"""The fields of prices and limits, as keys of widgets and links name them."""
UNTOLD_KIND = "me"
"""What llama-cpp-python's server answers to who owns its models."""


@dataclass(frozen=True, slots=True)
class ServedModels:
    """Models on a server that were chosen, what the server can do with all of them, and what it may cost."""

    models: tuple[str, ...]
    connection: RememberedServers
    able: tuple[Abilities, ...]
    price_read: float = 0.0
    price_written: float = 0.0
    budget: float | None = None
    timeout_s: float = TIMEOUT_S
    picks: int = 0
    """How often each question is asked, if a model has no log-probabilities."""

    @property
    def asked_models(self) -> tuple[str, ...]:
        """The models as runs name them (:attr:`~core.runs.spec.RunSpec.asked_model`)."""
        return tuple(model_on_servers(model, self.connection.servers) for model in self.models)

    @property
    def jury_models(self) -> dict[str, Abilities]:
        """The models as juries name them, with what the server can do with each."""
        url = self.connection.servers[0]
        return {str(ServedModel(name, url)): able for name, able in zip(self.models, self.able, strict=True)}

    @property
    def price(self) -> Price:
        """The prices and limits of the requests."""
        return Price(self.price_read, self.price_written, self.budget)

    @property
    def formats(self) -> tuple[str, ...]:
        """The prompt formats that can be asked for letters, or for picks."""
        return ("chat", "plain") if self.picks else self._common(FORMATS)

    @property
    def decisions(self) -> tuple[str, ...]:
        """The formats of requests for decisions that can be asked."""
        return self._common(DECISION_FORMATS)

    def _common(self, formats: Sequence[str]) -> tuple[str, ...]:
        return tuple(name for name in formats if all(name in able.formats for able in self.able))

    @property
    def forms(self) -> tuple[str, ...]:
        """The forms that can be asked."""
        texts = not self.picks and all(abilities.echo for abilities in self.able) and "plain" in self.formats
        return tuple(name for name in FORMS if texts or name not in TEXT_FORMS)

    def fields(self) -> dict[str, Any]:
        """The fields of a :class:`~core.runs.prompts.Combination` that say where the models are and what they cost."""
        return {
            "models": self.models,
            "servers": self.connection.servers,
            "key_variable": self.connection.key_variable,
            "price_read": self.price_read,
            "price_written": self.price_written,
            "budget": self.budget,
            "timeout_s": self.timeout_s,
            "picks": self.picks,
        }


def is_on_server(prefix: str, label: str = "Where the model is") -> bool:
    """Show the switch between models that Hedge loads and models on a server. Whether the second is chosen.

    A visitor of a public server has no such choice.
    """
    if not access.may(UserRole.LAUNCHER):
        return False
    st.session_state.setdefault(f"{prefix}_place", HERE)
    place = choice(label, PLACES, key=f"{prefix}_place", help=PLACE_HELP, persist_state="session")
    return place == SERVER


def fill(prefix: str, spec: RunSpec) -> None:
    """Put the server of a run into the form, and connect to it if the person has done so before. For callbacks."""
    if not spec.servers:
        st.session_state[f"{prefix}_place"] = HERE
        return
    st.session_state.update({f"{prefix}_place": SERVER, f"{prefix}_picks": float(spec.picks or USUAL_PICKS)})
    _fill_address(prefix, RememberedServers(spec.servers, spec.key_variable))
    if permission.is_kept(spec.servers, spec.key_variable, access.actor().name):
        _connect(prefix)
    if spec.model in st.session_state.get(f"{prefix}_listed", ()):
        st.session_state[f"{prefix}_served"] = [spec.model]


def limits_of(spec: RunSpec) -> dict[str, Any]:
    """The prices and limits of a run as the texts of :data:`LIMITS`."""
    if not spec.servers:
        return {}
    budget, priced = spec.budget, spec.price.is_known
    return {
        "price_read": amount_text(spec.price_read or None),
        "price_written": amount_text(spec.price_written or None),
        "budget": amount_text(budget if priced else None),
        "budget_tokens": amount_text(None if priced or budget is None else round(budget * MILLION)),
        "timeout": amount_text(spec.timeout_s),
    }


def offer(prefix: str, spec: RunSpec) -> None:
    """Put the server of a run into the form, without a connection."""
    st.session_state[f"{prefix}_place"] = SERVER if spec.servers else HERE
    if spec.servers:
        _fill_address(prefix, RememberedServers(spec.servers, spec.key_variable))


def served_models(
    prefix: str, *, one_text: bool = False, without_texts: str = "", instead: Collection[str] = ()
) -> ServedModels | None:
    """Show the address, the models of the server that is connected, what it can do, and prices. None without a model
    that can be asked.

    A page that reads ``one_text`` takes one model and shows no prices. If the page needs a server that scores texts,
    ``without_texts`` says what is not possible with another one. ``instead`` are those of :data:`PICKED` and
    :data:`DECIDED` that the page can ask of a model without log-probabilities.
    """
    with st.container(border=True, gap="small"):
        _address(prefix)
        if problem := st.session_state.get(f"{prefix}_problem"):
            st.error(plain(sentence(problem)))
        if used := st.session_state.get(f"{prefix}_corrected"):
            st.caption(plain(sentence(used)))
        connection: RememberedServers | None = st.session_state.get(f"{prefix}_connection")
        if connection is None:
            return None
        if _typed(prefix) != st.session_state.get(f"{prefix}_connected_as"):
            st.caption("The address or the key has changed. Press Connect again.")
            return None
        chosen = st.multiselect(
            "Model" if one_text else "Models",
            st.session_state[f"{prefix}_listed"],
            placeholder="Choose a model of the server",
            max_selections=1 if one_text else None,
            select_all=False,
            wrap=True,
            key=f"{prefix}_served",
            persist_state="session",
            help=MODELS_HELP,
        )
        answers = [
            server_cache.abilities(model, connection.servers, connection.key_variable, lists_needed=not instead)
            for model in chosen
        ]
        for problem in dict.fromkeys(item.problem for item in answers if item.problem):
            st.error(plain(sentence(problem)))
        able = [item.able for item in answers if item.able]
        for words in dict.fromkeys(able_words(item) for item in able):
            st.caption(plain(words))
        for words in dict.fromkeys(words for item in able for words in list_words(item)):
            st.warning(plain(words))
        if failures := list(dict.fromkeys(failure_words(item) for item in able if item.failing)):
            st.warning(plain(" ".join(failures)))
        if lacking := without_texts and next((no_texts(item) for item in able if not item.echo), ""):
            st.error(plain(f"{lacking}, so {without_texts}. {WITH_TEXTS}"))
        if failures or len(able) < len(answers):
            st.button("Check again", key=f"{prefix}_again", on_click=server_cache.ask_again, help=CHECK_HELP)
        if lacking:
            return None
        limits = {} if one_text else _limits(prefix)
        if any(not _lists(item) and not item.decisions for item in able):
            if PICKED not in instead:
                st.error(f"This server gives no log-probabilities and answers no decisions. {WITH_TEXTS}")
                return None
            limits["picks"] = _picks(prefix)
    if not chosen or len(able) < len(chosen) or limits.get("picks") == 0:
        return None
    served = ServedModels(tuple(map(str, chosen)), connection, tuple(able), **limits)
    if not served.formats and not (instead and served.decisions):
        st.error("These models have no format of the prompt in common. Launch them one after the other.")
        return None
    return served


def letters_warning(served: ServedModels | None, combination: Combination) -> None:
    """Warn of models that gave the letters almost none of the next token's probability for a test question.

    A larger share is no warning: pocket-1m gives the letters 1.8% there, and more than 99% for the questions of a task.
    """
    if served is None or not any(form not in TEXT_FORMS for form in combination.forms):
        return
    for model, able in zip(served.models, served.able, strict=True):
        for chat in (name == "chat" for name in combination.formats):
            mass = able.chat_letters if chat else able.letters
            if mass and mass.is_no_answer:
                words = f"{model} was asked a test question in {'chat' if chat else 'plain'} format: {mass.without}"
                stops = " A run stops if its first questions have less than 1%."
                st.warning(plain(f"{words}. {sentence(way_out(mass.first, chat=chat))}{stops}"))


def _lists(able: Abilities) -> bool:
    return bool(able.listed or able.chat_listed)


def _picks(prefix: str) -> int:
    """Show and return how often each question is asked, or 0 if that is not possible. Such a server is usually asked in
    chat format."""
    if f"{prefix}_picks" not in st.session_state:
        st.session_state.update({f"{prefix}_picks": float(USUAL_PICKS), f"{prefix}_format": "chat"})
    picks = whole_number("Picks of each question", key=f"{prefix}_picks", help=PICKS_HELP) or 0
    if picks == REFUSED:
        return 0
    if not 2 <= picks <= MAX_PICKS:
        st.error(f"Picks must lie from 2 to {MAX_PICKS}, got {picks:,}.")
        return 0
    st.caption(f"Each question is {picks:,} requests.")
    return picks


def able_words(able: Abilities) -> str:
    """What a server can do, in a sentence or two."""
    kind = "" if able.kind == UNTOLD_KIND else able.kind
    who = " ".join(filter(None, (kind, able.version, able.quantisation)))
    named = f" ({who})" if who else ""
    if not _lists(able) and able.decisions:
        return f"This server{named} answers decisions: it gives the probability of every option of a question."
    if not _lists(able):
        return (
            f"This server{named} gives no log-probabilities. It can be asked each question "
            "several times, and the shares of its answers stand for probabilities."
        )
    texts = "scores texts and writes answers" if able.echo else "writes answers, but can't score texts"
    context = f" It reads at most {able.context:,} tokens." if able.context else ""
    sure = able.echo or -1 in (able.listed, able.chat_listed)
    bounds = "" if sure else " A letter that it does not list has only an upper bound, so figures may be ranges."
    reasoning = " In chat format, the model's reasoning is switched off." if able.reasoning_off else ""
    decisions = " It also answers decisions, with the probability of every option." if able.decisions else ""
    given = f"gives the log-probabilities of {_most_listed(able)}, {texts}"
    return f"This server{named} {given}.{bounds}{decisions}{context}{reasoning}"


def list_words(able: Abilities) -> tuple[str, ...]:
    """What is wrong with the lists of next tokens, and what becomes of the letters, a sentence for each format."""
    words = []
    for chat, name, check in ((False, "plain", able.lists), (True, "chat", able.chat_lists)):
        if check.fault:
            refused = able.letters_fault(chat=chat) is not None
            instead = "letters can't be scored" if refused else "its list is not used for letters"
            words.append(f"In the {name} format, the server {check.fault.clause}, so {instead}.")
    return tuple(words)


def failure_words(able: Abilities) -> str:
    """One sentence about what the server failed on."""
    whats = " and ".join(what for what, _ in able.failing)
    how = " and ".join(dict.fromkeys(how for _, how in able.failing))
    return (
        f"The server failed ({how}) each time when it was asked for {whats}, though it answered simpler requests. "
        "Until it is checked again, this counts as not possible."
    )


def no_texts(able: Abilities) -> str:
    """Why the server's texts can't be used, as the beginning of a sentence."""
    if able.echo_wrong:
        return WRONG_TEXTS
    return FAILED_TEXTS if {TEXTS, COMPLETIONS} & {what for what, _ in able.failing} else NO_TEXTS


def _most_listed(able: Abilities) -> str:
    plain_text, chat = (_tokens(number) for number in (able.listed, able.chat_listed))
    if not able.listed:
        return f"{chat}, in chat format alone"
    if not able.chat_listed:
        return f"{plain_text}, in plain text alone"
    return plain_text if able.listed == able.chat_listed else f"{plain_text} ({chat} in chat format)"


def _tokens(number: int) -> str:
    if number == 1:
        return "the most probable next token"
    return "all next tokens" if number < 0 else f"the {number} most probable next tokens"


def _address(prefix: str) -> None:
    before = remembered()
    if before and f"{prefix}_address" not in st.session_state:
        _fill_address(prefix, before[0])
    st.session_state.setdefault(f"{prefix}_key", "")
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        st.text_input(
            "Address of the server",
            key=f"{prefix}_address",
            placeholder="http://localhost:8000/v1",
            help=ADDRESS_HELP,
            persist_state="session",
        )
        st.button("Connect", key=f"{prefix}_connect", on_click=_connect, args=(prefix,))
    st.text_input(
        "Environment variable of the key",
        key=f"{prefix}_key",
        placeholder="none",
        help=KEY_HELP,
        persist_state="session",
    )
    others = [servers for servers in before if (" ".join(servers.servers), servers.key_variable) != _typed(prefix)]
    if others:
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.caption("Used before:", width="content")
            for i, servers in enumerate(others[:SHOWN_BEFORE]):
                st.button(
                    plain(", ".join(servers.servers)),
                    key=f"{prefix}_before_{i}",
                    type="tertiary",
                    on_click=_connect_again,
                    args=(prefix, servers),
                )


def _typed(prefix: str) -> tuple[str, str]:
    words = str(st.session_state.get(f"{prefix}_address") or "").replace(",", " ").split()
    return " ".join(words), str(st.session_state.get(f"{prefix}_key") or "").strip()


def _fill_address(prefix: str, connection: RememberedServers) -> None:
    st.session_state[f"{prefix}_address"] = " ".join(connection.servers)
    st.session_state[f"{prefix}_key"] = connection.key_variable


def _connect_again(prefix: str, connection: RememberedServers) -> None:
    _fill_address(prefix, connection)
    _connect(prefix)


def _connect(prefix: str) -> None:
    """Ask the typed server for its models. Keeps them, or one sentence that says what is wrong."""
    from core.models.server.connect import addresses, connected, connected_elsewhere  # imports an HTTP client

    for name in ("connection", "problem", "corrected", "listed", "served"):
        st.session_state.pop(f"{prefix}_{name}", None)
    address, key = _typed(prefix)
    server_cache.ask_again()
    try:
        servers = addresses(address)
        servers, listed = connected(servers, key=key)
        remember(servers, key=key)
    except HedgeError as error:
        st.session_state[f"{prefix}_problem"] = str(error)
        return
    st.session_state[f"{prefix}_corrected"] = connected_elsewhere(address, servers)
    connection = RememberedServers(servers, key)
    _fill_address(prefix, connection)  # in its one form, as it is stored
    st.session_state[f"{prefix}_connection"] = connection
    st.session_state[f"{prefix}_connected_as"] = _typed(prefix)
    st.session_state[f"{prefix}_listed"] = list(listed)
    st.session_state[f"{prefix}_served"] = list(listed[:1])


def _limits(prefix: str) -> dict[str, Any]:
    """Show the prices, the budget and the timeout; returns them as fields of :class:`ServedModels`."""
    st.session_state.setdefault(f"{prefix}_timeout", TIMEOUT_S)
    with st.expander("Price, budget and timeout"):
        left, right = st.columns(2)
        read, written = (
            side.number_input(
                f"Price of a million tokens {name}",
                value=None,
                format="%g",
                placeholder="none",
                key=f"{prefix}_price_{name}",
                help=PRICE_HELP,
            )
            for side, name in ((left, "read"), (right, "written"))
        )
        with left:
            budget = _budget(prefix, priced=bool(read or written))
        timeout = right.number_input(
            "Timeout of an answer, in seconds",
            step=1.0,
            format="%.0f",
            key=f"{prefix}_timeout",
            help=TIMEOUT_HELP,
        )
    return {
        "price_read": float(read or 0),
        "price_written": float(written or 0),
        "budget": budget,
        "timeout_s": TIMEOUT_S if timeout is None else float(timeout),
    }


def _budget(prefix: str, *, priced: bool) -> float | None:
    """Show and return the budget, in the unit of :class:`~core.models.price.Price`."""
    where: dict[str, Any] = {"placeholder": "none", "help": BUDGET_HELP}
    if priced:
        budget = st.number_input(
            "Budget, in the prices' currency", value=None, format="%g", key=f"{prefix}_budget", **where
        )
        return None if budget is None else float(budget)
    tokens = st.number_input(
        "Budget, in tokens", value=None, step=1000.0, format="%g", key=f"{prefix}_budget_tokens", **where
    )
    return None if tokens is None else tokens / MILLION
