"""Access: who may do what.

A *viewer* looks, moves controls and exports. A *launcher* also launches runs and juries, imports results, and changes
what is his or hers. An *administrator* also changes what others launched. An *outsider* has not logged in, or has no
role, and does nothing.

Anyone who uses Hedge on this machine, from the command line or on a page that only this machine can open, is its
administrator. A page server that others can reach calls :func:`serve`. From then on everything in its process is done
for the person whose page's thread it is, which the server's ``whose`` knows, or for the actor that :func:`acting_as`
names. A thread that belongs to nobody works for a visitor of a public server, and for an outsider where people log in.
A thread that works for a person is started with :func:`carried`. Each function of core that changes something begins
with :func:`needs`, so that no page, link or message can forget to ask. A worker is a process of its own, and carries
out only what was allowed when it was asked for (:func:`work`); the run's record says who that was.

Where others are served, ``HEDGE_HOME/audit.jsonl`` lists what was done: a JSON object a line, with ``time`` (UTC),
``actor``, ``address``, ``role``, ``what``, ``subject`` and ``allowed``. What was refused is in ``refusals.jsonl``, so
that refusals push nothing that was done out of the log. If the same is refused again and again, each hour has a line
for the first, second, fourth, eighth … time, and ``times`` says for which.
"""

import ipaddress
import json
import os
import re
import time
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from enum import IntEnum
from functools import wraps
from pathlib import Path
from threading import Lock
from typing import Literal, ParamSpec, TypeVar

from core.errors import AccessError
from core.settings import ASSETS, settings

Parameters = ParamSpec("Parameters")
Value = TypeVar("Value")
Mode = Literal["local", "public", "login"]

LOOPBACK = ("127.0.0.1", "localhost", "::1")
"""The addresses on which a server answers this machine alone."""
LARGEST_AUDIT = 20_000_000
"""Bytes after which the audit log, or that of refusals, is put aside; one older log is kept."""
MOST_COUNTED = 10_000
"""Refusals that are counted at once; each is of one actor, address and hour."""
LONGEST_SUBJECT = 200


class UserRole(IntEnum):
    """What an actor may do; a higher role may do all that a lower one may."""

    OUTSIDER = 0
    VIEWER = 1
    LAUNCHER = 2
    ADMINISTRATOR = 3

    @property
    def title(self) -> str:
        """The role's name in a sentence."""
        return self.name.lower()


@dataclass(frozen=True, slots=True)
class Actor:
    """Who does something: a name, empty for the person at this machine, a role, the network address if known, and the
    session of the page if it is done on one."""

    name: str
    role: UserRole
    address: str = ""
    session: str = ""


Whose = Callable[[], Actor | None]

LOCAL = Actor("", UserRole.ADMINISTRATOR)
VISITOR = Actor("visitor", UserRole.VIEWER)
OUTSIDER = Actor("outsider", UserRole.OUTSIDER)


def _nobody() -> Actor | None:
    return None


_served: list[Mode] = []
"""The mode in which this process serves others; empty if it serves nobody."""
_whose: list[Whose] = []
"""What knows the person whose page's thread this is."""
_hosts: list[tuple[frozenset[str], frozenset[str]]] = []
"""The model servers that pages may connect to, and the variables with their keys."""
NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
"""Addresses that a network without IPv4 uses for IPv4 addresses (RFC 6052)."""
_worker: list[bool] = []
"""Not empty in a worker."""
ACTOR_VARIABLE = "HEDGE_ACTOR"
"""In the environment of a process that a page starts: for whom, as :func:`environment` writes it."""
_acting: ContextVar[Actor | None] = ContextVar("acting", default=None)


def serve(mode: Mode, *, whose: Whose = _nobody, servers: Collection[str] = (), keys: Collection[str] = ()) -> None:
    """Say how this process serves pages: to the person at this machine, to everyone who can reach it, or to those who
    log in. ``whose`` gives the person whose page's thread the present one is, or None if it belongs to none. Pages may
    connect to the model ``servers`` (addresses) with the ``keys`` (names of environment variables).
    """
    _served[:] = [mode]
    _whose[:] = [whose]
    _hosts[:] = [(frozenset(servers), frozenset(keys))]


def work() -> None:
    """Say that this process is a worker: it carries out records, and nobody names anything in it."""
    _worker[:] = [True]


def is_worker() -> bool:
    """Whether this process carries out what stands in records."""
    return bool(_worker)


def mode() -> Mode:
    """How this process serves pages."""
    return _served[0] if _served else "local"


def actor() -> Actor:
    """For whom this thread works now."""
    if named := _acting.get():
        return named
    if mode() == "local":
        return LOCAL
    return _whose[0]() or (VISITOR if mode() == "public" else OUTSIDER)


@contextmanager
def acting_as(who: Actor) -> Iterator[None]:
    """Do the block for this actor."""
    token = _acting.set(who)
    try:
        yield
    finally:
        _acting.reset(token)


def carried(function: Callable[Parameters, Value]) -> Callable[Parameters, Value]:
    """The function for a thread that does it later for the person who asks now."""
    who = actor()

    @wraps(function)
    def done(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Value:
        with acting_as(who):
            return function(*args, **kwargs)

    return done


def may(role: UserRole) -> bool:
    """Whether the actor has this role or a higher one. Pages ask it to leave out what would be refused."""
    return actor().role >= role


def launcher(name: str) -> Actor:
    """The person who launched what a worker carries out, by the name in its record."""
    return Actor(name, UserRole.LAUNCHER) if name else LOCAL


def launched() -> dict[str, str]:
    """What a run's provenance says of who launched it: nothing for the person at this machine."""
    return {"launched_by": actor().name} if actor().name else {}


def needs(role: UserRole, what: str) -> Callable[[Callable[Parameters, Value]], Callable[Parameters, Value]]:
    """Let only actors with this role call the function; ``what`` it does, as in "launch runs".

    The decorated function raises :class:`~core.errors.AccessError` otherwise.
    """

    def decorate(function: Callable[Parameters, Value]) -> Callable[Parameters, Value]:
        @wraps(function)
        def checked(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Value:
            check(role, what, subject=args[0] if args else "")
            return function(*args, **kwargs)

        return checked

    return decorate


def check(role: UserRole, what: str, *, subject: object = "") -> None:
    """Raise :class:`~core.errors.AccessError` if the actor's role is lower, and write either into the audit log."""
    allowed = may(role)
    _audit(what, subject, allowed=allowed)
    if not allowed:
        raise AccessError(_refusal(what))


def check_quietly(role: UserRole, what: str) -> None:
    """As :func:`check`, for what is done so often that only refusals are worth a line in the audit log."""
    if not may(role):
        check(role, what)


def owns(owner: str) -> bool:
    """Whether the actor may change what ``owner`` launched. Pages ask it to leave out what would be refused."""
    who = actor()
    return who.role >= UserRole.ADMINISTRATOR or (who.role >= UserRole.LAUNCHER and owner == who.name)


def check_owner(owner: str, what: str, *, subject: object = "") -> None:
    """Raise :class:`~core.errors.AccessError` unless the actor launched this or is an administrator."""
    if not owns(owner):
        _audit(what, subject, allowed=False)
        raise AccessError(
            f"only the person who launched this and an administrator can {what}; ask the administrator of this server"
        )


def _refusal(what: str) -> str:
    if mode() == "public":
        return (
            f"this server is public: everyone can look, and nobody can {what}; run Hedge on your own computer to do so"
        )
    if actor().role is UserRole.OUTSIDER:
        return f"only people who are logged in and have a role can {what}; log in first"
    return f"a {actor().role.title} can't {what}; ask the administrator of this server for another role"


def check_path(place: str | Path) -> None:
    """Raise :class:`~core.errors.AccessError` if a page of a server that others reach names a file outside its folders.

    These are what ships with Hedge, the question files in ``HEDGE_HOME``, and the folders in ``HEDGE_ROOTS``. Links in
    them lead nowhere else.
    """
    if mode() == "local":
        return
    try:
        target = Path(place).expanduser().resolve()
    except (OSError, RuntimeError, ValueError):  # a loop of links, an unknown person's home, a null byte
        target = None
    roots = (ASSETS, settings().home / "questions", *settings().roots)
    if target is None or not any(target.is_relative_to(root) for root in roots):
        _audit("name a file of the server", "", allowed=False)
        raise AccessError("a page can't name files of this server; upload a file, or choose from the list")


def check_servers(servers: Collection[str], key: str) -> None:
    """Raise :class:`~core.errors.AccessError` if a page of a server that others reach names a model server, or a key's
    variable, that its administrator has not listed: it could reach hosts that only this machine reaches, and send them
    what its environment holds. Administrators may name any.
    """
    if mode() == "local" or not servers or may(UserRole.ADMINISTRATOR):
        return
    known, keys = _hosts[0] if _hosts else (frozenset[str](), frozenset[str]())
    if not known.issuperset(servers) or (key and key not in keys):
        _audit("connect to a server", " ".join(servers), allowed=False)
        raise AccessError(
            "people may only connect to the model servers and keys that the administrator of this server lists; ask "
            "for yours to be added"
        )


def environment() -> Mapping[str, str]:
    """The environment for a process that works for the present actor. It has the same rights as this process."""
    who = actor()
    values = json.dumps([mode(), who.name, int(who.role), who.address])
    return dict(os.environ) if mode() == "local" else {**os.environ, ACTOR_VARIABLE: values}


def _started_for() -> None:
    """Be for whom this process was started, if a page started it."""
    if values := os.environ.get(ACTOR_VARIABLE):
        served, name, role, address = json.loads(values)
        who = Actor(name, UserRole(role), address)
        serve(served, whose=lambda: who)


PLACE = re.compile(r"(?<![\w/:.])(?:~|/[\w.@+-]+)(?:/[^\s,;:'\"()\[\]]*)+|file://\S+")
HIDDEN_PLACE = "a file of this server"


def without_places(text: str) -> str:
    """The text as the present actor may read it: on a server that others reach, without the paths of its files,
    unless the actor is an administrator.

    >>> with acting_as(VISITOR):
    ...     without_places("1/2 of https://a.org/b")
    '1/2 of https://a.org/b'
    """
    if mode() == "local" or may(UserRole.ADMINISTRATOR):
        return text
    # The home first: its name may have spaces and other characters at which a path in a sentence ends.
    return PLACE.sub(HIDDEN_PLACE, text.replace(str(settings().home), "/home/"))


def audit_log() -> Path:
    """The file of the audit log."""
    return settings().home / "audit.jsonl"


def refusal_log() -> Path:
    """The file that lists what was refused."""
    return settings().home / "refusals.jsonl"


_counted: OrderedDict[tuple[Path, str, str, str, int], int] = OrderedDict()
"""How often an actor at an address was refused something in an hour, by the log that says so."""
_counting = Lock()


def network(client: str) -> str:
    """What counts as one network address wherever addresses are counted: an IPv4 address, or the /64 network of an
    IPv6 address, because one line has that many of its own.

    IPv6 addresses that stand for an IPv4 address (mapped, NAT64, 6to4, Teredo) count as that address. An address that
    can't be read counts as it is.

    >>> network("2001:db8:1:2:3::4"), network("::ffff:192.0.2.7"), network("64:ff9b::c000:207")
    ('2001:db8:1:2::/64', '192.0.2.7', '192.0.2.7')
    """
    try:
        address = ipaddress.ip_address(client.strip("[]").partition("%")[0])
    except ValueError:
        return client
    if isinstance(address, ipaddress.IPv4Address):
        return str(address)
    inside = address.ipv4_mapped or address.sixtofour or (address.teredo or (None, None))[1]
    if inside is None and address in NAT64:
        inside = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return str(inside or ipaddress.ip_network((int(address), 64), strict=False))


def _times_refused(who: Actor, what: str) -> int:
    """How often this was refused in this hour, now included."""
    key = (refusal_log(), who.name, network(who.address), what, int(time.time() // 3600))
    with _counting:
        times = _counted[key] = _counted.pop(key, 0) + 1
        if len(_counted) > MOST_COUNTED:
            _counted.popitem(last=False)
    return times


def _audit(what: str, subject: object, *, allowed: bool) -> None:
    if mode() == "local":
        return
    who = actor()
    times = 1 if allowed else _times_refused(who, what)
    if times & (times - 1):  # a power of two has one bit
        return
    entry = {
        "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "actor": who.name,
        "address": who.address,
        "role": who.role.title,
        "what": what,
        "subject": _in_words(subject),
        "allowed": allowed,
        **({} if allowed else {"times": times}),
    }
    path = audit_log() if allowed else refusal_log()
    with suppress(OSError):  # a full disk must not stop what is allowed, and what is refused stays refused
        if path.exists() and path.stat().st_size > LARGEST_AUDIT:
            path.replace(path.with_suffix(".old.jsonl"))
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(entry, ensure_ascii=False) + "\n")


def _in_words(subject: object) -> str:
    """The ids of what something is done to."""
    if isinstance(subject, str):
        return subject[:LONGEST_SUBJECT]
    if run_id := getattr(subject, "run_id", ""):
        return str(run_id)
    if isinstance(subject, (list, tuple)):  # an iterator would be used up
        return ", ".join(filter(None, map(_in_words, subject)))[:LONGEST_SUBJECT]
    return str(getattr(subject, "name", ""))[:LONGEST_SUBJECT]


_started_for()
