"""What servers reply, read and checked: the most probable next tokens, the log-probabilities of a text, a text.

A reply that can't be right raises :class:`~core.models.server.client.WrongReplyError`, and is asked for again.
"""

import math
import struct
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.models.server.client import MissingAnswerError, WrongReplyError
from core.models.server.reply_body import entries_of, mapping, number
from core.models.spelling import Span, composed, ends_of, exact, pieces, spans_of, with_parts_marked

ABSENT = -100.0
"""A lower log-probability means "unknown": some servers send -9999 for that, and no model gives a listed token less."""
SLACK = 1e-3
"""Probabilities may sum to more than 1 by this much, and by what rounding adds (:func:`_rounded`)."""
ROUNDING = 1e-6
DECIMALS = 4
"""Log-probabilities with this few decimals were rounded."""
NOT_SPELLED = "the server's tokens do not spell the text that it was asked for"
LONGEST_TOKEN = 1_000
LONGEST_WRITTEN = 10_000
"""Characters."""
FILTER_SIGNS = ("prompt_filter_results", "promptFeedback", "prompt_feedback")
"""What a reply without an answer holds if a filter took it."""
TAIL = 200
"""The number of characters at the end of a text that its tokens must spell."""


@dataclass(frozen=True, slots=True)
class NextTokens:
    """The most probable next tokens as text with their log-probabilities, the most probable first.

    Tokens with the same spelling are all listed. ``floor`` is the upper bound for a token that is not listed.
    ``entries`` counts the list's entries, also those without a probability, and ``chosen`` is the token that the server
    wrote, with the log-probability that it gives beside the list. ``noise`` is how far rounding may move the sum of the
    probabilities. With ``believed`` off, no figure comes from the list.
    """

    tokens: tuple[tuple[str, float], ...]
    floor: float
    entries: int = 0
    chosen: tuple[str, float] | None = None
    noise: float = 0.0
    believed: bool = True

    @property
    def total(self) -> float:
        """The sum of the listed probabilities."""
        return sum(math.exp(min(log_p, 1.0)) for _, log_p in self.tokens)

    def log_p(self, text: str) -> float | None:
        """The log of the summed probability of the tokens with this spelling; None if none is listed or believed."""
        values = [log_p for token, log_p in self.tokens if token == text] if self.believed else []
        if not values:
            return None
        return values[0] if len(values) == 1 else math.log(sum(math.exp(log_p) for log_p in values))


@dataclass(frozen=True, slots=True)
class EchoedText:
    """A text's tokens with their log-probabilities given what is before them (NaN for the first).

    ``context`` of them begin before the continuation, and ``joined`` says that the last of these reaches into it.
    ``pieces`` are the parts of the continuation that the others add, and that one; together they are the continuation.
    """

    tokens: tuple[str, ...]
    log_p: tuple[float, ...]
    context: int
    joined: bool
    pieces: tuple[str, ...]


def next_tokens(reply: Mapping[str, Any], *, chat: bool, requested: int, place: int = 0) -> NextTokens:
    """The most probable next tokens in a reply to a request for this many (-1: all), at the ``place`` of one of the
    tokens that the server wrote.

    A token that is not listed has at most the probability of the last listed one, and at most what the listed ones
    leave of 1. A server may also list the token that it chose, which says nothing about the others.
    """
    logprobs = _logprobs(reply)
    chosen: tuple[Any, Any]
    # llama.cpp's own server answers completions in the form of a chat, and older vLLM chats in that of completions.
    if "content" in logprobs or (chat and "top_logprobs" not in logprobs):
        first = mapping(_at(place, logprobs.get("content"), "a token"))
        pairs = _by_bytes([mapping(entry) for entry in entries_of(first.get("top_logprobs"))])
        chosen = first.get("token"), first.get("logprob")
    else:
        pairs = list(mapping(_at(place, logprobs.get("top_logprobs"), "a token")).items())
        chosen = tuple((entries_of(logprobs.get(name))[place:] or [None])[0] for name in ("tokens", "token_logprobs"))
    listed = [(_spelled(token), log_p) for token, value in pairs if (log_p := number(value)) > ABSENT]
    listed.sort(key=lambda pair: -pair[1])
    if not listed:
        raise MissingAnswerError(
            "the server lists no tokens with their log-probabilities; start it so that it gives them"
        )
    values = [log_p for _, log_p in listed]
    off = _rounded(values)
    total = sum(math.exp(min(log_p, 1.0)) for log_p in values)
    noise = sum(math.exp(log_p) * math.expm1(each) for log_p, each in zip(values, off, strict=True) if each)
    if values[0] > SLACK + off[0] or total > 1 + SLACK + noise:
        raise WrongReplyError(f"the server's probabilities of next tokens sum to {total:.4g}, more than 1")
    last = (min(requested, len(values)) if requested > 0 else len(values)) - 1
    return NextTokens(
        tuple(listed),
        min(values[last] + off[last], math.log(max(1 - total, 0) + noise + ROUNDING)),
        entries=len(pairs),
        noise=noise,
        chosen=None if chosen[0] is None or math.isnan(number(chosen[1])) else (_spelled(chosen[0]), number(chosen[1])),
    )


def _by_bytes(entries: Sequence[Mapping[str, Any]]) -> list[tuple[Any, Any]]:
    """Each token with its value. Tokens that are written alike are named by their bytes, as far as these are text."""
    times = Counter(str(entry.get("token")) for entry in entries)
    return [
        (_of_bytes(entry) if times[str(entry.get("token"))] > 1 else entry.get("token"), entry.get("logprob"))
        for entry in entries
    ]


def _of_bytes(entry: Mapping[str, Any]) -> Any:
    try:
        return bytes(entries_of(entry.get("bytes"))[:LONGEST_TOKEN]).decode() or entry.get("token")
    except (TypeError, ValueError):  # no bytes, or half a character
        return entry.get("token")


def _rounded(values: Sequence[float]) -> list[float]:
    """How far each log-probability may be off, because all ``values`` were rounded: to a few decimals, or to half
    precision. Values above 1 are no log-probabilities, whatever their form."""
    if max(values) <= 1:
        for decimals in range(1, DECIMALS + 1):
            if all(abs(value - round(value, decimals)) < 1e-12 for value in values):
                return [0.5 * 10.0**-decimals] * len(values)
        for bits, is_held in ((11, _is_float16), (8, _is_bfloat16)):
            if all(map(is_held, values)):
                return [abs(value) * 2.0**-bits for value in values]
    return [0.0] * len(values)


def _is_float16(value: float) -> bool:
    return bool(struct.unpack("e", struct.pack("e", value))[0] == value)


def _is_bfloat16(value: float) -> bool:
    packed = struct.pack(">f", value)
    return packed.endswith(b"\0\0") and bool(struct.unpack(">f", packed)[0] == value)


def echoed(reply: Mapping[str, Any], *, text: str, continuation: str) -> EchoedText:
    """The tokens of ``text + continuation`` in a reply that echoes them, without what the server wrote after them."""
    logprobs = _logprobs(reply)
    tokens = [str(token) for token in entries_of(logprobs.get("tokens"))]
    values = [number(entry) for entry in entries_of(logprobs.get("token_logprobs"))]
    if len(tokens) != len(values) or len(tokens) < 2:
        raise WrongReplyError(
            f"the server gives {len(values)} log-probabilities for {len(tokens)} tokens of the text that was sent"
        )
    for value in values:
        _check_log_probability(value)
    whole, spans, begins = _placed(reply, tokens, text, continuation)
    data = whole.encode()
    start = len(whole[:begins].encode())
    context = sum(first < start or first == end == start for first, end in spans)
    joined = context > 0 and spans[context - 1][1] > start
    return EchoedText(
        tokens=tuple(exact(token, data[slice(*span)]) for token, span in zip(tokens, spans, strict=False)),
        log_p=tuple(values[: len(spans)]),
        context=context,
        joined=joined,
        pieces=pieces(whole, ends_of(whole, spans[context - joined :]), start=begins),
    )


def last_list(reply: Mapping[str, Any], text: EchoedText) -> dict[str, float]:
    """The tokens that an echo lists at the place of the text's last token; empty where it lists none."""
    rows = entries_of(_logprobs(reply).get("top_logprobs"))
    top = mapping(rows[len(text.tokens) - 1]) if len(text.tokens) <= len(rows) else {}
    return {_spelled(token): log_p for token, value in top.items() if (log_p := number(value)) > ABSENT}


def echoed_rows(reply: Mapping[str, Any], *, text: str, most: int) -> list[dict[str, Any]]:
    """A row for each token of ``text`` in a reply that echoes it: ``text, loss, probability, entropy`` (not known) and
    up to ``most`` ``alternatives`` as (text, probability); the first token has only its text. The texts of the tokens
    are ``text``, behind those of tokens in front of it (:func:`~core.models.spelling.pieces`)."""
    logprobs = _logprobs(reply)
    tokens = [str(token) for token in entries_of(logprobs.get("tokens"))]
    values = entries_of(logprobs.get("token_logprobs"))
    listed = entries_of(logprobs.get("top_logprobs"))
    if not len(tokens) == len(values) == len(listed):
        raise WrongReplyError(
            f"the server gives {len(values)} log-probabilities and {len(listed)} lists of the most probable tokens for "
            f"{len(tokens)} tokens of the text that was sent"
        )
    rows: list[dict[str, Any]] = []
    whole, spans, _ = _placed(reply, tokens, "", text)
    added = pieces(whole, ends_of(whole, spans))
    for token, piece, span, value, top in zip(tokens, added, spans, values, listed, strict=False):
        log_p = None if math.isnan(number(value)) else number(value)
        known = [(_spelled(name), log) for name, each in mapping(top).items() if (log := number(each)) > ABSENT]
        for each in (*(log for _, log in known), log_p or 0.0):
            _check_log_probability(each)
        best = sorted(known, key=lambda pair: -pair[1])[:most]
        rows.append(
            {
                "text": piece if span != (0, 0) else _spelled(token),  # a token in front of the text adds nothing
                "loss": None if log_p is None else -log_p,
                "probability": None if log_p is None else math.exp(log_p),
                "entropy": None,
                "alternatives": [[with_parts_marked(name), math.exp(each)] for name, each in best if log_p is not None],
            }
        )
    return rows


def written(reply: Mapping[str, Any], *, chat: bool) -> str:
    """The text that the server wrote."""
    choice = _choice(reply)
    if _is_filtered(choice):
        raise MissingAnswerError("the server's filter took the answer", filtered=True)
    text = mapping(choice.get("message")).get("content") if chat else choice.get("text")
    if text is not None and not isinstance(text, str):
        raise WrongReplyError("the server's answer holds no text")
    return (text or "")[:LONGEST_WRITTEN]


def _spelled(token: Any) -> str:
    """A token's text; a server may send any length."""
    return str(token)[:LONGEST_TOKEN]


def _check_log_probability(value: float) -> None:
    if value > SLACK:
        raise WrongReplyError(f"the server gives a token the log-probability {value:.4g}, which is above 0")


def _placed(
    reply: Mapping[str, Any], tokens: Sequence[str], text: str, continuation: str
) -> tuple[str, list[Span], int]:
    """The text with its continuation, the bytes of it that each token spells, and the character at which the
    continuation begins. At most one token, which has no span, was written after the text.

    Only the end of a long text is compared.
    """
    plain, other = text + continuation, composed(text + continuation)
    read = mapping(reply.get("usage")).get("prompt_tokens")
    nothing_written = read == len(tokens) or _choice(reply).get("text") == plain
    for whole, begins in [(plain, len(text))] + [(other, len(composed(text)))] * (other != plain):
        needed = min(begins, max(0, len(whole) - TAIL))
        for written_after in (0, 1) if nothing_written else (1, 0):
            spans = spans_of(tokens[: len(tokens) - written_after], whole, needed=needed)
            if spans is not None:
                return whole, spans, begins
    raise WrongReplyError(NOT_SPELLED)


def _logprobs(reply: Mapping[str, Any]) -> Mapping[str, Any]:
    logprobs = _choice(reply).get("logprobs")
    if not isinstance(logprobs, Mapping):
        raise MissingAnswerError(
            "the server gives no log-probabilities; start it so that it does, or use another server",
            filtered=_is_filtered(_choice(reply)),
        )
    return logprobs


def _choice(reply: Mapping[str, Any]) -> Mapping[str, Any]:
    choices = entries_of(reply.get("choices"))
    if not choices:
        filtered = any(sign in reply for sign in FILTER_SIGNS)
        raise MissingAnswerError("the server gives 0 answers to one question", filtered=filtered)
    if len(choices) != 1:
        raise WrongReplyError(f"the server gives {len(choices)} answers to one question")
    return mapping(choices[0])


def _is_filtered(choice: Mapping[str, Any]) -> bool:
    return choice.get("finish_reason") == "content_filter"


def _at(place: int, values: Any, what: str) -> Any:
    entries = entries_of(values)
    if len(entries) <= place:
        raise MissingAnswerError(f"the server's answer lacks {what} with its log-probabilities")
    return entries[place]
