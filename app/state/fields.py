"""The kinds of fields in a link: how the text of each is read, and which texts are invalid.

A record declares a field as ``bins: Annotated[int, bins] = 15``: the type, the function that reads the text of a link
or raises :class:`InputError`, and the default.
"""

import re
from collections.abc import Callable, Iterable
from decimal import Decimal
from typing import Annotated, Any

from core.conformal.alpha import check_thousandths
from core.errors import InputError

Read = Callable[[str], Any]

DECIMAL = re.compile(r"(?P<whole>[0-9]{0,9})(?:[.,](?P<fraction>[0-9]{1,9}))?(?P<percent>%?)")
AMOUNT = re.compile(r"[0-9]{1,12}(?:\.[0-9]{1,9})?")
LONGEST_TEXT = 200
MOST_COMPARED = 24
COMMA = "%2C"
"""What a link writes for a comma in one of several names. No name holds it."""
SWITCH = ("on", "off")
"""The values of something that can be switched off."""


def _is_whole(text: str, *, digits: int) -> bool:
    """Whether the text is a whole number of at most ``digits`` ASCII digits, without a sign."""
    return text.isascii() and text.isdecimal() and len(text) <= digits


def one_of(allowed: tuple[str, ...]) -> Callable[[str], str]:
    """A reader that accepts one of these words."""

    def read(text: str) -> str:
        if text not in allowed:
            raise InputError(f"it must be one of {', '.join(allowed)}")
        return text

    return read


def some_of(allowed: tuple[str, ...]) -> Callable[[str], str]:
    """A reader that accepts any of these words, separated by commas, each only once."""

    def read(text: str) -> str:
        names = list(dict.fromkeys(name for name in text.split(",") if name))
        if not names or not set(names) <= set(allowed):
            raise InputError(f"it must be one or more of {', '.join(allowed)}")
        return ",".join(names)

    return read


def whole(digits: int, rule: str) -> Callable[[str], int]:
    """A reader of a whole number from 0. ``rule`` tells the person what is allowed."""

    def read(text: str) -> int:
        if not _is_whole(text, digits=digits):
            raise InputError(rule)
        return int(text)

    return read


def whole_or_nothing(digits: int, rule: str) -> Callable[[str], str]:
    """A reader of a whole number that may be empty. The number is kept as text, without leading zeros."""

    def read(text: str) -> str:
        if text and not _is_whole(text, digits=digits):
            raise InputError(rule)
        return str(int(text)) if text else ""

    return read


def amount_or_nothing(rule: str) -> Callable[[str], str]:
    """A reader of a number from 0 that may be empty, such as a price. It is kept as text."""

    def read(text: str) -> str:
        if text and (AMOUNT.fullmatch(text) is None or not text.isascii()):
            raise InputError(rule)
        return text

    return read


def amount_text(number: float | None) -> str:
    """A number as the text of such a field.

    >>> amount_text(2.0), amount_text(0.0001), amount_text(None)
    ('2', '0.0001', '')
    """
    return "" if number is None else f"{number:.9f}".rstrip("0").rstrip(".")


def parts(digits: int, scale: int, rule: str) -> Callable[[str], int]:
    """A reader of a number that a link holds in parts of 1 / ``scale`` and the page as a decimal: a whole number counts
    parts, and a decimal or a percentage is the number itself.

    >>> read = parts(3, 1000, "no number")
    >>> read("50"), read("0.05"), read(".05"), read("0,05"), read("5%")
    (50, 50, 50, 50, 50)
    """

    def read(text: str) -> int:
        match = DECIMAL.fullmatch(text)
        if match is None or not (match["percent"] or match["fraction"]):
            return whole(digits, rule)(text)
        count = Decimal(f"{match['whole'] or 0}.{match['fraction'] or 0}") * scale / (100 if match["percent"] else 1)
        if count != int(count):
            raise InputError(rule)
        return whole(digits, rule)(str(int(count)))

    return read


def _thousandths(text: str) -> int:
    rule = "alpha must be a whole number of thousandths from 1 to 999, or a number such as 0.05"
    number = parts(3, 1000, rule)(text)
    if not number:
        raise InputError(rule)
    return check_thousandths(number)


def _ordinal(text: str) -> int:
    if not (_is_whole(text, digits=9) and int(text) > 0):
        raise InputError("it must be a whole number from 1")
    return int(text)


def _text(text: str) -> str:
    if len(text) > LONGEST_TEXT:
        raise InputError(f"it can have at most {LONGEST_TEXT} characters, not {len(text)}")
    return text


def run_list(most: int, rule: str) -> Callable[[str], str]:
    """A reader of at most ``most`` run ids, separated by commas, each only once. ``rule`` says the limit."""

    def read(text: str) -> str:
        names = [name for name in text.split(",") if name]
        if len(names) > most or len(text) > most * LONGEST_TEXT:
            raise InputError(rule)
        return ",".join(dict.fromkeys(names))

    return read


def _names(text: str) -> str:
    if len(text) > MOST_COMPARED * LONGEST_TEXT:
        raise InputError(f"it can have at most {MOST_COMPARED * LONGEST_TEXT:,} characters, not {len(text):,}")
    return ",".join(dict.fromkeys(name for name in text.split(",") if name))


def joined(names: Iterable[str]) -> str:
    """Names as the text of a field.

    >>> joined(["a", "b, c"]), split("a,b%2C c")
    ('a,b%2C c', ['a', 'b, c'])
    """
    return ",".join(name.replace(",", COMMA) for name in names)


def split(text: str) -> list[str]:
    """The names in the text of a field."""
    return [name.replace(COMMA, ",") for name in text.split(",") if name]


Id = Annotated[str, str]
"""The id of a run, a question or an answer. The page says whether it exists."""
Thousandths = Annotated[int, _thousandths]
"""An alpha, from 1 to 999 thousandths."""
Ordinal = Annotated[int, _ordinal]
"""A position in a list, from 1."""
Text = Annotated[str, _text]
"""A text of at most :data:`LONGEST_TEXT` characters."""
Runs = Annotated[str, run_list(MOST_COMPARED, f"at most {MOST_COMPARED} runs can be compared")]
"""At most :data:`MOST_COMPARED` run ids, separated by commas, each only once."""
Names = Annotated[str, _names]
"""Names or hashes, separated by commas, each only once."""
