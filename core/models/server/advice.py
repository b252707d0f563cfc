"""What a server's own words ask for, followed where that changes no figure.

A server that refuses a request often says how it wants it: ``Use 'max_completion_tokens' instead``. :data:`TABLE` pairs
such words with a change of the request's body. The client makes the change, asks again, and keeps it for this server
and endpoint; the run's description lists it. Only the fields that are named here are ever changed, each once, so the
words of a hostile server can do nothing else. What can't be followed is repeated with a hint (:data:`HINTS`).
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from core.models.server.bodies import BESIDE, NEUTRAL, OTHERWISE, PROTOCOL, Body

OPTIONAL = (*NEUTRAL, "seed", "add_special_tokens", "return_token_strs")
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
    """A change of a request's body: the ``field`` is called ``to``, has another ``value``, or is left out if there is
    neither."""

    field: str
    to: str = ""
    value: Any = None

    @property
    def leaves_out(self) -> bool:
        """Whether the field is left out."""
        return not self.to and self.value is None

    @property
    def text(self) -> str:
        """The change in words, for a run's description.

        >>> Change("max_tokens", "max_completion_tokens").text, Change("seed").text, Change("top_k", value=0).text
        ('max_completion_tokens instead of max_tokens', 'without seed', 'top_k 0')
        """
        if self.value is not None:
            return f"{self.field} {self.value}"
        return f"{self.to} instead of {self.field}" if self.to else f"without {self.field}"

    def applied(self, body: Body) -> Body:
        """The body with this change, or as it is if the change would alter what is asked."""
        if self.field not in body or (self.field == "temperature" and not _at_default(body)):
            return body
        if self.value is not None:
            return {**body, self.field: self.value}
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
            r"(?=.*temperature)(?=.*(?:not support|unsupported|not supported|default|deprecated|positive|greater|"
            r"at least|minimum|>=? ?0))",
            re.IGNORECASE,
        ),
        Change("temperature"),
    ),
)
"""Patterns in a server's words, and the change that each asks for. Words that refuse a field of :data:`OPTIONAL` leave
that field out."""
WORD = re.compile(r"[a-z_]+")
OF_MODEL = re.compile(r"\b(?:for|by|with|on) (?:this|the) model\b", re.IGNORECASE)
CAPITAL = re.compile(r"(?<=[a-z])(?=[A-Z])")
"""Where a word of a name begins that is written as ``presencePenalty``."""
INVALID = (400, 422)
FAILED = 500


def changed(changes: Iterable[Change], body: Body) -> Body:
    """The body with all changes that a server has asked for."""
    for change in changes:
        body = change.applied(body)
    return body


def asked_changes(words: str, body: Body, earlier: Sequence[Change] = (), *, status: int = 400) -> tuple[Change, ...]:
    """The changes of ``body`` for which a server's words ask, after those that were ``made``; empty if none can be
    followed.

    Fields that the words name are left out, or get their second neutral value first. Once more fields are named, all
    fields beside the protocol go, because a strict server names one after the other.

    >>> asked_changes("Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.", {"max_tokens": 1})
    (Change(field='max_tokens', to='max_completion_tokens', value=None),)
    >>> [change.text for change in asked_changes("Extra inputs: top_k, min_p", {"top_k": -1, "min_p": 0})]
    ['top_k 0', 'without min_p']
    """
    wanted = (change for pattern, change in TABLE if pattern.search(words))
    if change := next((change for change in wanted if change.applied(body) != body), None):
        return (change,)
    plain_words = _words(words)
    named = [name for name in OPTIONAL if name in plain_words and name in body]
    if not named or not (status in (*INVALID, FAILED) or REFUSED.search(words)):
        return ()
    if "top_p" in named and "must" in plain_words:  # Text Generation Inference, whose penalties have other scales
        named += PROTOCOL
    again = any(change.leaves_out or change.value is not None for change in earlier)
    second = {name: Change(name, value=OTHERWISE[name]) for name in named if name in OTHERWISE}
    second = {name: change for name, change in second.items() if change not in earlier}
    if again and not second and any(name in BESIDE for name in named):
        named += BESIDE
    return tuple(second.get(name) or Change(name) for name in dict.fromkeys(named) if name in body)


def guessed_changes(words: str, body: Body, *, status: int) -> tuple[Change, ...]:
    """What to leave out if a server that has accepted nothing yet refuses a body without naming any of its fields:
    first the fields beside the protocol, then all optional ones.

    >>> guessed_changes("The prompt is too long", {"prompt": "x", "top_k": -1}, status=400)
    ()
    """
    if status not in INVALID or _words(OF_MODEL.sub("", words)) & {*body}:
        return ()
    optional = [name for name in OPTIONAL if name in body]
    return tuple(map(Change, [name for name in optional if name in BESIDE] or optional))


def _words(text: str) -> set[str]:
    return {*WORD.findall(CAPITAL.sub("_", text).lower())}


def most_listed(words: str) -> int:
    """The most next tokens that a server lists, as it says when it refuses more; 0 if it does not say.

    >>> most_listed("top_logprobs must be between 0 and 8"), most_listed("Input should be less than or equal to 10")
    (8, 10)
    >>> most_listed("logprobs are not available")
    0
    """
    match = MOST.search(words)
    return int(match[1]) if match else 0


def hint(words: str) -> str:
    """What to do about words that can't be followed; empty if they speak for themselves."""
    return next((text for pattern, text in HINTS if pattern.search(words)), "")


def _at_default(body: Body) -> bool:
    """Whether the body asks the same at a server's default temperature of 1: it samples at 1, or only reads the list of
    next tokens, which must be that of temperature 1 anyway."""
    written = body.get("max_tokens", body.get("max_completion_tokens", 0))
    return written == 1 or body.get("temperature") == 1
