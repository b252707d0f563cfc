"""Finds a class for a phone by its code, and counts the wrong codes of each network address.

An address may guess :data:`MOST` codes at once and one more every :data:`AGAIN_S` seconds. A code with which somebody
at an address has found a class is no guess there any more, so one person who guesses keeps nobody of a lecture hall
from the class that the hall is in.
"""

from __future__ import annotations

import math
import threading
import time
from collections import OrderedDict

from core.classroom import live_class
from core.classroom.codes import read_code
from core.classroom.live_class import LiveClass
from core.classroom.refusals import ClassRefusal

MOST = 20
AGAIN_S = 5.0
REMEMBERED = 10_000
"""So many addresses, and so many codes that are known at an address, are remembered."""

_lock = threading.Lock()
_free_at: OrderedDict[str, float] = OrderedDict()
"""When the wrong codes of each address will all be forgotten, by the clock of :func:`time.monotonic`."""
_known: OrderedDict[tuple[str, str], None] = OrderedDict()
"""Addresses with the code of a class that somebody there has found."""


def find_from(network: str, code: str, *, now: float | None = None) -> LiveClass:
    """The class with this code, for somebody at a network address (:func:`core.quotas.network`).

    Raises :class:`ClassRefusal` if there is none, if it is over, or if too many wrong codes have come from there.
    """
    code, now = read_code(code), time.monotonic() if now is None else now
    is_guess = _begin(network, code, now)
    try:
        live = live_class.find(code)
    except ClassRefusal as error:
        if is_guess and error.status != 404:
            _forgive(network)
        raise
    with _lock:
        _known[network, code] = None
        _shorten(_known)
    if is_guess:
        _forgive(network)
    return live


def _begin(network: str, code: str, now: float) -> bool:
    """Whether the code is a guess, and then it counts as a wrong one until it is known to be right."""
    with _lock:
        if (network, code) in _known:
            _known.move_to_end((network, code))
            return False
        until = max(_free_at.get(network, now), now)
        if until - now > (MOST - 1) * AGAIN_S:
            wait = math.ceil(until - now - (MOST - 1) * AGAIN_S)
            raise ClassRefusal(
                f"{MOST} wrong codes have come from your network, so this one was not looked at; read the code on the "
                f"projector, and try again in {wait} s",
                429,
            )
        _free_at[network] = until + AGAIN_S
        _free_at.move_to_end(network)
        _shorten(_free_at)
        return True


def _forgive(network: str) -> None:
    with _lock:
        if network in _free_at:
            _free_at[network] -= AGAIN_S


def _shorten(kept: OrderedDict[str, float] | OrderedDict[tuple[str, str], None]) -> None:
    while len(kept) > REMEMBERED:
        kept.popitem(last=False)
