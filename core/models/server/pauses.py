"""The pause that a server asks for, from its headers, and how a person sees it."""

import email.utils
import math
import re
import time
from collections.abc import Mapping

LONGEST_S = 7 * 24 * 3600.0
"""A longer pause is a mistake; it counts as this one."""
EPOCH_S = 1e9
"""A larger number of seconds is a time since the epoch and not a pause; a still larger one counts milliseconds."""
PART = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")
UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0}
LIMITS = ("", "-requests", "-tokens")
"""The limits for which servers name the time of their reset."""


def named_pause(headers: Mapping[str, str], *, too_many: bool, now: float) -> float | None:
    """The pause in seconds that a reply names, from 0 to :data:`LONGEST_S`; None if it names none.

    ``Retry-After`` is a number of seconds or a date (RFC 9110, section 10.2.3), and ``Retry-After-Ms`` milliseconds.
    Where neither is there and the server had ``too_many`` requests, the limits that are used up say when they reset.

    >>> [named_pause({"retry-after": text}, too_many=True, now=0) for text in ("-5", "1e30", "soon")]
    [0.0, 604800.0, None]
    >>> named_pause({"x-ratelimit-reset-tokens": "1m30s"}, too_many=True, now=0)
    90.0
    """
    plain = headers.get("retry-after", "").strip()
    milliseconds = headers.get("retry-after-ms", "").strip()
    for text, seconds in ((milliseconds, 0.001), (plain, 1.0)):
        try:
            return _within(float(text) * seconds)
        except ValueError:
            continue
    try:
        return _within(email.utils.parsedate_to_datetime(plain).timestamp() - now)
    except (ValueError, OverflowError):
        pass
    resets = [_reset(headers, limit, now) for limit in LIMITS] if too_many else []
    return max((pause for pause in resets if pause is not None), default=None)


def in_words(pause: float, *, now: float) -> str:
    """When a pause ends, in this machine's time, and how long it is.

    >>> in_words(8 * 86400, now=0)
    'for more than 7 days'
    """
    if pause >= LONGEST_S:
        return f"for more than {LONGEST_S / 86_400:.0f} days"
    end = time.localtime(now + pause)
    day = "" if pause < 12 * 3600 else "%Y-%m-%d "
    return f"until {time.strftime(f'{day}%H:%M %Z', end).strip()} ({_length(pause)})"


def _length(seconds: float) -> str:
    """
    >>> _length(3600), _length(45), _length(3 * 3600), _length(2 * 86_400)
    ('60 minutes', '45 seconds', '3 hours', '2 days')
    """
    for size, unit in ((86_400.0, "days"), (3600.0, "hours"), (60.0, "minutes")):
        if seconds >= 2 * size:
            return f"{math.ceil(seconds / size)} {unit}"
    return f"{math.ceil(seconds)} seconds"


def _reset(headers: Mapping[str, str], limit: str, now: float) -> float | None:
    """The seconds until a limit resets; None if the server does not say so, or something is left of this limit."""
    for family in ("x-ratelimit", "ratelimit"):
        text = headers.get(f"{family}-reset{limit}", "").strip()
        left = headers.get(f"{family}-remaining{limit}", "0").strip()
        if not text or left not in ("", "0"):
            continue
        parts = PART.findall(text)
        if parts and "".join(number + unit for number, unit in parts) == text:
            return _within(sum(float(number) * UNITS[unit] for number, unit in parts))
        try:
            value = float(text)
        except ValueError:
            continue
        if value > 1000 * EPOCH_S:
            value /= 1000
        return _within(value - now if value > EPOCH_S else value)
    return None


def _within(seconds: float) -> float:
    """
    >>> _within(float("nan")), _within(float("inf")), _within(2.5)
    (0.0, 604800.0, 2.5)
    """
    return 0.0 if math.isnan(seconds) else min(max(seconds, 0.0), LONGEST_S)
