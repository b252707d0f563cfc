"""Format data and figures as text. Text from data is shown literally and never read as markdown."""

import math
import re
from collections.abc import Iterable
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING

from core.access import without_places
from core.estimates import signed as signed  # for pages and reports alike

if TYPE_CHECKING:
    import pandas as pd  # only for a type: the server's first page need not wait for its import

MARKDOWN = re.compile(r"([\\`*_{}\[\]()#+\-.!|~<>$:=^\"'&])")
DIRECTIONS = re.compile("[\u202a-\u202e\u2066-\u2069]")
"""Characters that reverse the text after them, such as the rest of a sentence behind a file's name."""
LINK_START = re.compile(r"(?i)(https?|ftp)(?=:)|(\bwww)(?=\.)|(?=@)")
JOINER = "\u2060"
"""An invisible character without width. Inside `http://` it keeps markdown from making a link."""


def plain(text: str) -> str:
    """Escape the text so that markdown shows it literally: no links, images, colours, formulas, line breaks or
    characters that reverse the text after them.

    >>> plain("a_b [c](d)")
    'a\\\\_b \\\\[c\\\\]\\\\(d\\\\)'
    """
    flat = " ".join(DIRECTIONS.sub("", text).split())
    return MARKDOWN.sub(r"\\\1", LINK_START.sub(lambda match: (match[1] or match[2] or "") + JOINER, flat))


def shortened(text: str, length: int = 60) -> str:
    """The text on one line, cut to at most ``length`` characters."""
    flat = " ".join(text.split())
    return flat if len(flat) <= length else flat[: length - 1].rstrip() + "…"


def sentence(text: str) -> str:
    """The text as a sentence: it starts with a capital and ends with a full stop. It names no file of a server to
    people who only visit that server.

    >>> sentence("alpha must lie in (0, 1)")
    'Alpha must lie in (0, 1).'
    """
    text = without_places(text)
    return f"{text[:1].upper()}{text[1:]}{'' if text.endswith(('.', '!', '?')) else '.'}"


def duration(seconds: float) -> str:
    """A duration in its two largest units, for example ``1 min 40 s``."""
    left = max(0, math.ceil(seconds))
    if left < 60:
        return f"{left} s"
    if left < 3600:
        return f"{left // 60} min {left % 60} s"
    return f"{left // 3600} h {left % 3600 // 60} min"


PERCENT = "%.1f%%"
"""How a number column of a table writes percentages: with one decimal, as texts do. Streamlit's own format keeps up to
two decimals and drops zeros."""


def in_percent(frame: "pd.DataFrame", columns: Iterable[str]) -> "pd.DataFrame":
    """The frame with these columns of shares as percentages, for :data:`PERCENT`."""
    return frame.assign(**{name: 100 * frame[name] for name in columns})


def rounded(value: float) -> str:
    """A positive number with the decimals that its size leaves room for.

    >>> rounded(3.14159), rounded(114.25), rounded(86_547.92)
    ('3.14', '114.2', '86,548')
    """
    return f"{value:,.{2 if value < 100 else 1 if value < 1000 else 0}f}"


def clock(moment: float, behind_utc: int | None) -> str:
    """Format seconds since the epoch as the time of day.

    ``behind_utc`` is how many minutes the local clock is behind UTC; None stands for this machine's time zone.

    >>> clock(3_661, 0), clock(3_661, -60)
    ('01:01:01', '02:01:01')
    """
    zone = None if behind_utc is None else timezone(timedelta(minutes=-behind_utc))
    return f"{datetime.fromtimestamp(moment, zone):%H:%M:%S}"


def counted(number: int, singular: str, many: str = "") -> str:
    """A number and its noun, for example ``1 question`` or ``2,000 questions``."""
    return f"{number:,} {singular if number == 1 else many or singular + 's'}"


def size(count: float) -> str:
    """A number of bytes in the largest unit that gives at least 1, for example ``1.4 MB``.

    >>> size(1_400_000), size(999)
    ('1.4 MB', '999 B')
    """
    for unit, name in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if count >= unit:
            return f"{count / unit:,.1f} {name}"
    return f"{count:,.0f} B"
