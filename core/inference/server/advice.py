"""What a server's own words ask for, followed where that changes no figure.

A server that refuses a request often says how it wants it: ``Use 'max_completion_tokens' instead``. :data:`TABLE` pairs
such words with a change of the request's body. The client makes the change, asks again, and keeps it for this server
and endpoint; the run's description lists it. Only the fields that are named here are ever changed, each once, so the
words of a hostile server can do nothing else. What can't be followed is repeated with a hint (:data:`HINTS`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

Body = Mapping[str, Any]

NEUTRAL = (
    "top_k", "top_p", "min_p", "typical_p", "repetition_penalty", "presence_penalty", "frequency_penalty", "n", "seed",
    "stop", "add_special_tokens", "skip_special_tokens", "return_token_strs", "temperature",
)  # fmt: skip
"""Fields that may be left out: each states what a server does by default, or only saves work."""
REFUSED = re.compile(
    r"unrecogni[sz]ed|unknown|unexpected|unsupported|not (?:be )?(?:supported|permitted|allowed|accepted)|extra|"
    r"additional|invalid (?:field|param|argument|key)|does(?:n.t| not) (?:support|accept|take)|no longer|deprecated|"
    r"cannot (?:both )?be (?:specified|set|used)|must be (?:strictly )?(?:positive|greater|unset|omitted)|"
    r"only the default",
    re.IGNORECASE,
)
MOST = re.compile(
    r"(?:at most|less than or equal to|<=|≤|up to|no more than|not exceed|maximum (?:value )?(?:for \w+ )?(?:of|is|:)|"
    r"max(?:imum)? allowed:?|between -?\d+ and|from -?\d+ to|[\[(]-?\d+ ?,)"
    r"\s*(\d{1,7})",
    re.IGNORECASE,
)
"""The largest number that a server says it accepts."""
HINTS = (
    (
        re.compile(r"temperature", re.IGNORECASE),
        "a model's most probable answer needs temperature 0, so use a server or a model that takes it",
    ),
    (
        re.compile(r"\bstream\b.{0,40}\b(?:true|required|must|only)\b|\bonly\b.{0,20}\bstream", re.IGNORECASE),
        "Hedge reads whole answers, so use a server or a model that answers without streaming",
    ),
    (
        re.compile(
            r"logprobs?\b.{0,80}\b(?:reasoning|thinking)|(?:reasoning|thinking)\b.{0,80}logprobs?", re.IGNORECASE
        ),
        "use a model that does not reason first, or switch its reasoning off on the server",
    ),
)  # fmt: skip
"""What to do where Hedge can't follow."""


@dataclass(frozen=True, slots=True)
class Change:
    """A change of a request's body: the ``field`` is called ``to``, or left out if that is empty."""

    field: str
    to: str = ""

    @property
    def text(self) -> str:
        """The change in words, for a run's description.

        >>> Change("max_tokens", "max_completion_tokens").text, Change("seed").text
        ('max_completion_tokens instead of max_tokens', 'without seed')
        """
        return f"{self.to} instead of {self.field}" if self.to else f"without {self.field}"

    def applied(self, body: Body) -> Body:
        """The body with this change, or as it is if the change would alter what is asked."""
        if self.field not in body or (self.field == "temperature" and not _at_default(body)):
            return body
        others = {name: value for name, value in body.items() if name != self.field}
        return {**others, self.to: body[self.field]} if self.to else others


TABLE: tuple[tuple[re.Pattern[str], Change], ...] = (
    (
        re.compile(
            r"(?:\buse\b|favou?r of|replaced by).{0,20}max_completion_tokens|max_completion_tokens.{0,20}instead",
            re.IGNORECASE,
        ),
        Change("max_tokens", "max_completion_tokens"),
    ),
    (
        re.compile(
            r"(?=.*temperature)(?=.*(?:not support|unsupported|not supported|default|deprecated|positive|> ?0))",
            re.IGNORECASE,
        ),
        Change("temperature"),
    ),
)
"""Patterns in a server's words, and the change that each asks for. Words that refuse a field of :data:`NEUTRAL` leave
that field out."""


def changed(changes: Iterable[Change], body: Body) -> Body:
    """The body with all changes that a server has asked for."""
    for change in changes:
        body = change.applied(body)
    return body


def asked_change(words: str, body: Body) -> Change | None:
    """The change of ``body`` for which a server's words ask; None if there is none that can be followed.

    >>> asked_change("Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.", {"max_tokens": 1})
    Change(field='max_tokens', to='max_completion_tokens')
    >>> asked_change("body.min_p: Extra inputs are not permitted", {"min_p": 0})
    Change(field='min_p', to='')
    """
    wanted = [change for pattern, change in TABLE if pattern.search(words)]
    if REFUSED.search(words):
        named = (name for name in NEUTRAL if re.search(rf"(?<![\w-]){name}(?![\w-])", words))
        wanted += [Change(name) for name in named]
    return next((change for change in wanted if change.applied(body) != body), None)


def most_listed(words: str) -> int:
    """The most next tokens that a server lists, as it says when it refuses more; 0 if it does not say.

    >>> most_listed("top_logprobs must be between 0 and 8"), most_listed("Input should be less than or equal to 10")
    (8, 10)
    >>> most_listed("logprobs are not available")
    0
    """
    found = MOST.search(words)
    return int(found[1]) if found else 0


def hint(words: str) -> str:
    """What to do about words that can't be followed; empty if they speak for themselves."""
    return next((text for pattern, text in HINTS if pattern.search(words)), "")


def _at_default(body: Body) -> bool:
    """Whether the body asks the same at a server's default temperature of 1: it samples at 1, or only reads the list of
    next tokens, which must be that of temperature 1 anyway."""
    written = body.get("max_tokens", body.get("max_completion_tokens", 0))
    return written == 1 or body.get("temperature") == 1
