"""Who may lead a class from which browser.

Streamlit knows who uses a page, but the projector's figures come by requests of their own. The page gives its component
a random key for one class; a request with that key is done for the person whom the page belongs to. Keys are kept as
hashes, in memory alone: after a restart of the server the page hands out a new one.

A public server has no logins and everyone on it is a viewer. Where it was started with ``--lecturer``, a link that is
printed at the start makes its reader a lecturer, who may open classes and nothing else that a viewer may not.
"""

import hashlib
import hmac
import secrets
import threading
from collections import Counter, OrderedDict

from core.access import Actor, UserRole
from core.serving.classroom.refusals import ClassRefusal

MOST_KEYS = 1000
MOST_STREAMS = 3
"""The most streams of one key that are open at once."""
LECTURER = "lecturer"
"""The name in the address of the link for lecturers, and that of a lecturer in the audit log."""

_keys: OrderedDict[str, tuple[str, Actor]] = OrderedDict()
_streams: Counter[str] = Counter()
"""How many streams of each key are open, by its hash."""
_lock = threading.Lock()
_lecturer: list[str] = []


def _hash(key: str) -> str:
    return hashlib.sha256(key.encode("utf-8", "replace")).hexdigest()


def new_key(code: str, who: Actor) -> str:
    """A key with which a browser leads the class ``code`` for ``who``."""
    key = secrets.token_hex(16)
    with _lock:
        _keys[_hash(key)] = (code, who)
        while len(_keys) > MOST_KEYS:
            _keys.popitem(last=False)
    return key


def holder(code: str, key: str) -> Actor:
    """For whom a request with this key is done.

    Raises :class:`ClassRefusal` if it is no key of this class.
    """
    with _lock:
        known = _keys.get(_hash(key))
    if known is None or known[0] != code:
        raise ClassRefusal("this page may not lead the class; reload the lecturer's page", 401)
    return known[1]


def attach(key: str) -> None:
    """A stream of this key begins.

    Raises :class:`ClassRefusal` if as many are open as may be.
    """
    with _lock:
        if _streams[_hash(key)] >= MOST_STREAMS:
            raise ClassRefusal(
                f"this page listens to its class {MOST_STREAMS} times already, which is the most; reload it", 429
            )
        _streams[_hash(key)] += 1


def detach(key: str) -> None:
    """A stream of this key has ended."""
    with _lock:
        _streams[_hash(key)] -= 1
        if not _streams[_hash(key)]:
            del _streams[_hash(key)]


def allow_lecturer() -> str:
    """Let anyone with the returned key open classes on a public server."""
    _lecturer[:] = [secrets.token_urlsafe(24)]
    return _lecturer[0]


def is_lecturer(key: str) -> bool:
    """Whether this is the key of the printed link."""
    return bool(_lecturer) and hmac.compare_digest(key.encode("utf-8", "replace"), _lecturer[0].encode())


def lecturer(address: str) -> Actor:
    """The actor for a reader of the printed link."""
    return Actor(LECTURER, UserRole.LAUNCHER, address)
