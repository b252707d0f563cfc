"""What a person learns about a server while connecting to it: its models, and what it can do with one of them.

Answers come soon or not at all, and each error is one sentence about the connection, which does not mention a run.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TypeVar

from core import access
from core.access import UserRole
from core.errors import InputError
from core.models.server import abilities
from core.models.server.abilities import Abilities
from core.models.server.client import (
    TOO_FAST,
    PassingError,
    Patience,
    RefusedError,
    ServerClient,
    UnreadableError,
    WrongReplyError,
)
from core.models.server.known_servers import note_formats
from core.models.server_address import corrected, server_url

Found = TypeVar("Found")

SOON = Patience(connect_s=5.0, answer_s=30.0, first_s=2.0, gone_s=2.0, tries=2, first_pause_s=0.2, longest_pause_s=1.0)
NOT_FOUND = (404, 405)


def addresses(text: str) -> tuple[str, ...]:
    """The servers' addresses in a text, which are separated by commas or spaces.

    Raises :class:`InputError` if there is none, or one is no address.

    >>> addresses("http://gpu-1:8000, http://gpu-2:8000/v1")
    ('http://gpu-1:8000/v1', 'http://gpu-2:8000/v1')
    """
    urls = tuple(sorted({server_url(address) for address in text.replace(",", " ").split()}))
    if not urls:
        raise InputError("type the server's address first, such as http://localhost:8000/v1")
    return urls


@access.needs(UserRole.LAUNCHER, "connect to servers")
def models_on(servers: Sequence[str], *, key: str = "") -> tuple[str, ...]:
    """The names of the models that the first of the servers has; ``key`` names the variable that holds the key.

    Raises :class:`InputError` if it can't be reached, refuses the key, is no such server, or has no model.
    """
    return connected(servers, key=key)[1]


@access.needs(UserRole.LAUNCHER, "connect to servers")
def connected(servers: Sequence[str], *, key: str = "") -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The servers' addresses, the first corrected if it was not quite that of the API, and the models
    (:func:`models_on`)."""
    try:
        used, names = _asked(servers, key, _models)
    except WrongReplyError as error:
        raise InputError(
            f"what answers at {servers[0]} is no API, but perhaps a web page; give the address of the API, which "
            "usually ends in /v1"
        ) from error
    if not names:
        raise InputError(f"the server {servers[0]} has no model; load one there, then connect again")
    return used, tuple(names)


def connected_elsewhere(text: str, used: Sequence[str]) -> str:
    """A sentence on the addresses that are used, if they are not those in a ``text``; empty if they are.

    >>> connected_elsewhere("http://gpu-1:8000/docs", ("http://gpu-1:8000/v1",))
    'the address http://gpu-1:8000/docs is used as http://gpu-1:8000/v1'
    """
    given = text.replace(",", " ").split()
    if len(given) == len(used) == 1 and server_url(given[0]) != used[0]:
        return f"the address {server_url(given[0])} is used as {used[0]}"
    return ", ".join(filter(None, map(corrected, given)))


def _models(client: ServerClient) -> tuple[tuple[str, ...], list[str]]:
    names = abilities.models(client)
    return client.urls, names


@access.needs(UserRole.LAUNCHER, "connect to servers")
def abilities_of(
    model: str, servers: Sequence[str], *, key: str = "", lists_needed: bool = True, decisions: str = ""
) -> Abilities:
    """What the servers can do with ``model``. Without ``lists_needed``, one that gives no log-probabilities will do,
    and with ``decisions`` only this format of requests is tried. Else the formats are noted for Doctor.

    Raises :class:`InputError` as :func:`models_on` does, if one of the servers has no such model or fails on all that
    it is asked, and if the first gives no log-probabilities.
    """
    try:
        able = partial(
            abilities.abilities, model=model, lists_needed=lists_needed, decisions=decisions, all_formats=True
        )
        answered = _asked(servers, key, able)
    except UnreadableError as error:
        raise InputError(f"{error}, then check again") from error
    if not decisions:
        note_formats(servers, model, answered.formats)
    return answered


def _asked(servers: Sequence[str], key: str, ask: Callable[[ServerClient], Found]) -> Found:
    with errors_in_words(servers, key), ServerClient(servers, key_variable=key, patience=SOON) as client:
        return ask(client)


@contextmanager
def errors_in_words(servers: Sequence[str], key: str = "") -> Iterator[None]:
    """Errors of servers in the block as :class:`InputError`, in words that speak of no run."""
    try:
        yield
    except PassingError as error:
        if error.status:
            raise InputError(_without_advice(error)) from error
        raise InputError(
            f"no server answers at {' or '.join(servers)}; check the address, and that the server runs"
        ) from error
    except RefusedError as error:
        raise InputError(_refused(error, servers, key)) from error


def _refused(error: RefusedError, servers: Sequence[str], key: str) -> str:
    if error.status in NOT_FOUND:
        return (
            f"the server at {servers[0]} has no list of models there; give the address of the API, which usually ends "
            "in /v1"
        )
    if error.status in (401, 403):
        return (
            f"the server {servers[0]} refuses the key in {key}; check the key, and start Hedge again if you change it"
            if key
            else f"the server {servers[0]} asks for a key; name the environment variable that holds it"
        )
    return str(error)


def _without_advice(error: PassingError) -> str:
    way_out = "check again in a moment" if error.status in TOO_FAST else "look into its log, then check again"
    return f"{str(error).partition(';')[0]}; {way_out}"
