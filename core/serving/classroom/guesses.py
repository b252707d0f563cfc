"""Finds a class for a phone by its code, and limits the codes that are guessed from each network address.

A code is no guess at an address where it is known: somebody there has found the class, sits in it or leads it. Of other
codes :data:`MOST` are looked at at once and one more every :data:`AGAIN_S` seconds; right ones are not counted. All
34,012,224 codes therefore take 5.4 years from one address, and in the day that a class lasts 17,300 codes can be looked
at, which find it with a chance of 1 in 2,000.

While an address has used up its guesses, its codes wait, and the next to be looked at is the one that was asked for
most often. A guesser asks for many codes and a hall for one, so the hall's comes first. Someone who wants to hold it up
must ask for each code that is looked at before as often as the hall does for its own: asking R times as often keeps the
hall out for about R looks. Once its code was looked at, the whole hall gets in.
"""

import math
import threading
import time
from collections import Counter, OrderedDict
from dataclasses import dataclass, field

from core.serving.classroom import class_store, live_class
from core.serving.classroom.codes import TOKEN, hash_of, read_code
from core.serving.classroom.live_class import LiveClass
from core.serving.classroom.refusals import ClassRefusal

MOST = 20
AGAIN_S = 5.0
WAITING = 50
"""The number of codes that wait at one address; a further one takes the place of one that was asked for least often."""
REMEMBERED = 10_000
"""The number of addresses, and of known codes at an address, that are remembered."""


@dataclass(slots=True)
class _Address:
    free_at: float = 0.0
    """When its wrong codes will all be forgotten, by the clock of :func:`time.monotonic`."""
    waiting: Counter[str] = field(default_factory=Counter)
    """How often each code that waits was asked for."""

    def wait(self, now: float) -> float:
        """Seconds until the next code can be looked at."""
        return max(self.free_at, now) - now - (MOST - 1) * AGAIN_S

    def ask(self, code: str, now: float) -> None:
        if self.free_at <= now:
            self.waiting.clear()
        if code not in self.waiting and len(self.waiting) >= WAITING:
            del self.waiting[min(self.waiting, key=self.waiting.__getitem__)]
        self.waiting[code] += 1


_lock = threading.Lock()
_addresses: OrderedDict[str, _Address] = OrderedDict()
_known: OrderedDict[tuple[str, str], None] = OrderedDict()
"""Addresses with the code of a class that somebody there has found, sits in or leads."""


def find_from(network: str, code: str, token: str = "", *, now: float | None = None) -> LiveClass:
    """The class with this code, for somebody at a network address (:func:`core.access.quotas.network`), who may have a
    seat's token.

    Raises :class:`ClassRefusal` if there is none, if it is over, or if too many wrong codes have come from there.
    """
    code, now = read_code(code), time.monotonic() if now is None else now
    with _lock:
        is_known = (network, code) in _known
    if not is_known and not _has_seat(code, token):
        return _guessed(network, code, now)
    live = live_class.find(code)
    know(network, code)
    return live


def know(network: str, code: str) -> None:
    """From now on this code is no guess at this address."""
    with _lock:
        _know(network, code)


def _know(network: str, code: str) -> None:
    _known[network, code] = None
    _known.move_to_end((network, code))
    _shorten(_known)


def _has_seat(code: str, token: str) -> bool:
    """Asks the file for both at once, so that without the token nothing tells a right code from a wrong one."""
    return bool(TOKEN.fullmatch(token)) and class_store.has_seat(code, hash_of(token))


def _guessed(network: str, code: str, now: float) -> LiveClass:
    """Look at the codes that wait at the address while it may guess, until this one's turn has come."""
    with _lock:
        address = _addresses.setdefault(network, _Address())
        _addresses.move_to_end(network)
        _shorten(_addresses)
        address.ask(code, now)
        while (wait := address.wait(now)) <= 0:
            chosen = max(
                address.waiting, key=lambda waiting_code: (address.waiting[waiting_code], waiting_code == code)
            )
            del address.waiting[chosen]
            try:
                live = live_class.find(chosen)
            except ClassRefusal as error:
                if error.status == 404:
                    address.free_at = max(address.free_at, now) + AGAIN_S
                if chosen == code:
                    raise
                continue
            _know(network, chosen)
            if chosen == code:
                return live
    raise ClassRefusal(
        f"{MOST} wrong codes have come from your network, so this one has to wait; compare it with the projector, and "
        f"try again in {math.ceil(wait)} s",
        429,
        wait_s=math.ceil(wait),
    )


def _shorten(entries: OrderedDict[str, _Address] | OrderedDict[tuple[str, str], None]) -> None:
    while len(entries) > REMEMBERED:
        entries.popitem(last=False)
