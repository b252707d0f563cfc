"""The abilities of servers, cached for ten minutes. Connecting asks them again."""

from collections.abc import Callable
from dataclasses import dataclass

import streamlit as st

from core.errors import HedgeError
from core.models.server.abilities import Abilities

ASKED_AGAIN_S = 600


@dataclass(frozen=True, slots=True)
class ServerAbilities:
    """The abilities of a server with a model, or the ``problem`` in one sentence. A problem is cached too, because a
    server that is gone takes seconds to answer."""

    able: Abilities | None = None
    problem: str = ""


def abilities(model: str, servers: tuple[str, ...], key: str, *, lists_needed: bool = True) -> ServerAbilities:
    """The abilities of the servers with ``model``. ``key`` names the environment variable of their key. Without
    ``lists_needed``, it is no problem that they give no log-probabilities."""
    return _abilities(model, servers, key, lists_needed)


def ask_again() -> None:
    """Clear the abilities of all servers."""
    _abilities.clear()


@st.cache_resource(max_entries=128, ttl=ASKED_AGAIN_S, show_spinner="Asking the server what it can do …")  # 1 kB each
def _abilities(model: str, servers: tuple[str, ...], key: str, lists_needed: bool) -> ServerAbilities:
    from core.models.server.connect import abilities_of  # imports an HTTP client

    return _abilities_or_problem(lambda: abilities_of(model, servers, key=key, lists_needed=lists_needed))


def _abilities_or_problem(ask: Callable[[], Abilities]) -> ServerAbilities:
    try:
        return ServerAbilities(ask())
    except HedgeError as error:
        return ServerAbilities(problem=str(error))
