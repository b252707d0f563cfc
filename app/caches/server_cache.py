"""The abilities of servers, cached for ten minutes. Connecting asks them again."""

from collections.abc import Callable
from dataclasses import dataclass

import streamlit as st

from core.errors import HedgeError
from core.models.server.abilities import Abilities

ASKED_AGAIN_S = 600


@dataclass(frozen=True, slots=True)
class Asked:
    """What a server can do with a model, or the ``problem`` in one sentence. A problem is cached too, because asking a
    server that is gone takes seconds."""

    able: Abilities | None = None
    problem: str = ""


def abilities(model: str, servers: tuple[str, ...], key: str, *, lists_needed: bool = True) -> Asked:
    """What the servers can do with ``model``; ``key`` names the environment variable of their key. Without
    ``lists_needed``, it is no problem that they give no log-probabilities."""
    return _abilities(model, servers, key, lists_needed)


def ask_again() -> None:
    """Clear the abilities of all servers."""
    _abilities.clear()


@st.cache_resource(max_entries=128, ttl=ASKED_AGAIN_S, show_spinner="Asking the server what it can do …")  # 1 kB each
def _abilities(model: str, servers: tuple[str, ...], key: str, lists_needed: bool) -> Asked:
    from core.models.server.connect import (
        abilities_of,
    )  # imports an HTTP client

    return _told(lambda: abilities_of(model, servers, key=key, lists_needed=lists_needed))


def _told(ask: Callable[[], Abilities]) -> Asked:
    try:
        return Asked(ask())
    except HedgeError as error:
        return Asked(problem=str(error))
