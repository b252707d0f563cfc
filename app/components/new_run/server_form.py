"""Choose models on a server: connect to it, see what it can do, and say what asking it may cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import streamlit as st

from app.caches import server_cache
from app.formatting import plain, sentence
from core.errors import HedgeError
from core.inference.server.abilities import Abilities
from core.inference.server.remembered import RememberedServers, remember, remembered
from core.runs.spec import FORMATS, FORMS, TEXT_FORMS, RunSpec

HERE, SERVER = "here", "server"
PLACES = {HERE: "Loaded by Hedge", SERVER: "On a server"}
PLACE_HELP = (
    "A model on a server is one that vLLM, SGLang, llama.cpp, Ollama or an API holds, in this room or far away. The "
    "server must speak the OpenAI protocol and give log-probabilities."
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
BUDGET_HELP = (
    "The run stops before it costs more. What has finished is kept, and a larger budget continues it. Without prices, "
    "the budget counts millions of tokens."
)
PRICE_HELP = "The price of a million tokens, in any currency. Leave it empty if there is none."
SHOWN_BEFORE = 4


@dataclass(frozen=True, slots=True)
class ServedModels:
    """Models on a server that were chosen, what the server can do with all of them, and what it may cost."""

    models: tuple[str, ...]
    connection: RememberedServers
    able: tuple[Abilities, ...]
    price_read: float
    price_written: float
    budget: float | None

    @property
    def formats(self) -> tuple[str, ...]:
        """The prompt formats that can be asked for letters."""
        able = {
            "plain": all(one.listed for one in self.able),
            "chat": all(one.chat_listed for one in self.able),
        }
        return tuple(name for name in FORMATS if able[name])

    @property
    def forms(self) -> tuple[str, ...]:
        """The forms that can be asked."""
        texts = all(one.echo for one in self.able) and "plain" in self.formats
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
        }


def is_on_server(prefix: str) -> bool:
    """Show the switch between models that Hedge loads and models on a server. Whether the second is chosen."""
    st.session_state.setdefault(f"{prefix}_place", HERE)
    place = st.segmented_control(
        "Where the model is",
        list(PLACES),
        format_func=PLACES.__getitem__,
        required=True,
        key=f"{prefix}_place",
        help=PLACE_HELP,
        persist_state="session",
    )
    return str(place) == SERVER


def fill(prefix: str, spec: RunSpec) -> None:
    """Put the server of a run into the form, and connect to it again. For callbacks."""
    if not spec.servers:
        st.session_state[f"{prefix}_place"] = HERE
        return
    st.session_state.update(
        {
            f"{prefix}_place": SERVER,
            f"{prefix}_price_read": spec.price_read or None,
            f"{prefix}_price_written": spec.price_written or None,
            f"{prefix}_budget": spec.budget,
        }
    )
    _fill_address(prefix, RememberedServers(spec.servers, spec.key_variable))
    _connect(prefix)
    if spec.model in st.session_state.get(f"{prefix}_listed", ()):
        st.session_state[f"{prefix}_served"] = [spec.model]


def offer(prefix: str, spec: RunSpec) -> None:
    """Put the server of a run into the form, without a connection."""
    st.session_state[f"{prefix}_place"] = SERVER if spec.servers else HERE
    if spec.servers:
        _fill_address(prefix, RememberedServers(spec.servers, spec.key_variable))


def served_models(prefix: str) -> ServedModels | None:
    """Show the address, the models of the server that is connected, what it can do, and prices. None without a model
    that can be asked."""
    with st.container(border=True, gap="small"):
        _address(prefix)
        if problem := st.session_state.get(f"{prefix}_problem"):
            st.error(plain(sentence(problem)))
        connection: RememberedServers | None = st.session_state.get(f"{prefix}_connection")
        if connection is None:
            return None
        if _typed(prefix) != st.session_state.get(f"{prefix}_connected_as"):
            st.caption("The address or the key has changed. Press Connect again.")
            return None
        chosen = st.multiselect(
            "Models",
            st.session_state[f"{prefix}_listed"],
            placeholder="Choose a model of the server",
            select_all=False,
            key=f"{prefix}_served",
            persist_state="session",
            help=MODELS_HELP,
        )
        asked = [server_cache.asked(model, connection.servers, connection.key_variable) for model in chosen]
        for problem in dict.fromkeys(one.problem for one in asked if one.problem):
            st.error(plain(sentence(problem)))
        able = [one.able for one in asked if one.able]
        for words in dict.fromkeys(able_words(one) for one in able):
            st.caption(plain(words))
        read, written, budget = _prices(prefix)
    if not chosen or len(able) < len(chosen):
        return None
    found = ServedModels(tuple(map(str, chosen)), connection, tuple(able), read, written, budget)
    if not found.formats:
        st.error("These models have no format of the prompt in common. Launch them one after the other.")
        return None
    return found


def able_words(able: Abilities) -> str:
    """What a server can do, in a sentence or two."""
    who = " ".join(filter(None, (able.kind, able.version, able.quantisation)))
    texts = "scores texts and writes answers" if able.echo else "writes answers, but can't score texts"
    context = f" It reads at most {able.context:,} tokens." if able.context else ""
    sure = able.echo or -1 in (able.listed, able.chat_listed)
    bounds = "" if sure else " A letter that it does not list has only an upper bound, so figures may be ranges."
    named = f" ({who})" if who else ""
    return f"This server{named} gives the log-probabilities of {_most_listed(able)}, {texts}.{bounds}{context}"


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
    others = [one for one in before if (" ".join(one.servers), one.key_variable) != _typed(prefix)]
    if others:
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.caption("Used before:", width="content")
            for i, one in enumerate(others[:SHOWN_BEFORE]):
                st.button(
                    plain(", ".join(one.servers)),
                    key=f"{prefix}_before_{i}",
                    type="tertiary",
                    on_click=_connect_again,
                    args=(prefix, one),
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
    from core.inference.server.connect import addresses, models_on  # with its HTTP client

    for name in ("connection", "problem", "listed", "served"):
        st.session_state.pop(f"{prefix}_{name}", None)
    address, key = _typed(prefix)
    server_cache.ask_again()
    try:
        servers = addresses(address)
        listed = models_on(servers, key=key)
        remember(servers, key=key)
    except HedgeError as error:
        st.session_state[f"{prefix}_problem"] = str(error)
        return
    connection = RememberedServers(servers, key)
    _fill_address(prefix, connection)  # in its one form, as it is stored
    st.session_state[f"{prefix}_connection"] = connection
    st.session_state[f"{prefix}_connected_as"] = _typed(prefix)
    st.session_state[f"{prefix}_listed"] = list(listed)
    st.session_state[f"{prefix}_served"] = list(listed[:1])


def _prices(prefix: str) -> tuple[float, float, float | None]:
    with st.expander("Price and budget"):
        left, middle, right = st.columns(3)
        read = left.number_input(
            "Price, read", 0.0, None, None, placeholder="none", key=f"{prefix}_price_read", help=PRICE_HELP
        )
        written = middle.number_input(
            "Price, written", 0.0, None, None, placeholder="none", key=f"{prefix}_price_written", help=PRICE_HELP
        )
        budget = right.number_input(
            "Budget", 0.0, None, None, placeholder="none", key=f"{prefix}_budget", help=BUDGET_HELP
        )
    return float(read or 0), float(written or 0), None if budget is None else float(budget)
