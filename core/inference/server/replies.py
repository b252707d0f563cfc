"""What servers reply, read and checked: the most probable next tokens, the log-probabilities of a text, a text.

A reply that can't be right raises :class:`~core.inference.server.client.WrongReplyError`, and is asked for again.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.inference.server.client import WrongReplyError
from core.inference.server.reply_body import number
from core.inference.spelling import Span, composed, ends_of, exact, pieces, spans_of, with_parts_marked

ABSENT = -9000.0
"""A lower log-probability means "unknown": some servers send -9999 for that."""
SLACK = 1e-3
"""Probabilities may sum to more than 1 by this much, because they are rounded and computed in half precision."""
ROUNDING = 1e-6
NOT_SPELLED = "the server's tokens do not spell the text that it was asked for"
LONGEST_TOKEN = 1_000
LONGEST_WRITTEN = 10_000
"""Characters."""
TAIL = 200
"""The number of characters at the end of a text that its tokens must spell."""


@dataclass(frozen=True, slots=True)
class NextTokens:
    """The most probable next tokens as text with their log-probabilities, the most probable first.

    Tokens with the same spelling are all listed. ``floor`` is the upper bound for a token that is not listed.
    """

    tokens: tuple[tuple[str, float], ...]
    floor: float

    def log_p(self, text: str) -> float | None:
        """The log of the summed probability of the tokens with this spelling; None if none is listed."""
        found = [log_p for token, log_p in self.tokens if token == text]
        if not found:
            return None
        return found[0] if len(found) == 1 else math.log(sum(math.exp(log_p) for log_p in found))


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


def next_tokens(reply: Mapping[str, Any], *, chat: bool, asked: int) -> NextTokens:
    """The most probable next tokens in a reply to a request for ``asked`` of them (-1: all).

    A token that is not listed has at most the probability of the last listed one, and at most what the listed ones
    leave of 1. A server may also list the token that it chose, which says nothing about the others.
    """
    logprobs = _logprobs(reply)
    if chat or "content" in logprobs:  # llama.cpp's own server answers completions in the form of a chat
        first = _first(logprobs.get("content"), "a token")
        pairs = [(one.get("token"), one.get("logprob")) for one in _list(_mapping(first).get("top_logprobs"))]
    else:
        pairs = list(_mapping(_first(logprobs.get("top_logprobs"), "a token")).items())
    listed = [(_spelled(token), log_p) for token, value in pairs if (log_p := number(value)) > ABSENT]
    listed.sort(key=lambda pair: -pair[1])
    if not listed:
        raise WrongReplyError("the server lists no tokens with their log-probabilities; start it so that it gives them")
    total = sum(math.exp(min(log_p, 1.0)) for _, log_p in listed)
    if listed[0][1] > SLACK or total > 1 + SLACK:
        raise WrongReplyError(f"the server's probabilities of next tokens sum to {total:.4g}, more than 1")
    ranked = listed[:asked] if asked > 0 else listed
    return NextTokens(tuple(listed), min(ranked[-1][1], math.log(max(1 - total, 0) + ROUNDING)))


def echoed(reply: Mapping[str, Any], *, text: str, continuation: str) -> EchoedText:
    """The tokens of ``text + continuation`` in a reply that echoes them, without what the server wrote after them."""
    logprobs = _logprobs(reply)
    tokens = [str(token) for token in _list(logprobs.get("tokens"))]
    values = [number(one) for one in _list(logprobs.get("token_logprobs"))]
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


def echoed_rows(reply: Mapping[str, Any], *, text: str, most: int) -> list[dict[str, Any]]:
    """A row for each token of ``text`` in a reply that echoes it: ``text, loss, probability, entropy`` (not known) and
    at most so many ``alternatives`` as (text, probability); the first token has only its text. The texts of the tokens
    are ``text``, behind those of tokens in front of it (:func:`~core.inference.spelling.pieces`)."""
    logprobs = _logprobs(reply)
    tokens = [str(token) for token in _list(logprobs.get("tokens"))]
    values = _list(logprobs.get("token_logprobs"))
    listed = _list(logprobs.get("top_logprobs"))
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
        known = [(_spelled(one), log) for one, each in _mapping(top).items() if (log := number(each)) > ABSENT]
        for each in (*(log for _, log in known), log_p or 0.0):
            _check_log_probability(each)
        best = sorted(known, key=lambda pair: -pair[1])[:most]
        rows.append(
            {
                "text": piece if span != (0, 0) else _spelled(token),  # a token in front of the text adds nothing
                "loss": None if log_p is None else -log_p,
                "probability": None if log_p is None else math.exp(log_p),
                "entropy": None,
                "alternatives": [[with_parts_marked(one), math.exp(each)] for one, each in best if log_p is not None],
            }
        )
    return rows


def written(reply: Mapping[str, Any], *, chat: bool) -> str:
    """The text that the server wrote."""
    choice = _choice(reply)
    said = _mapping(choice.get("message")).get("content") if chat else choice.get("text")
    if said is not None and not isinstance(said, str):
        raise WrongReplyError("the server's answer holds no text")
    return (said or "")[:LONGEST_WRITTEN]


def _spelled(token: Any) -> str:
    """A token's text, of which a server may send any length."""
    return str(token)[:LONGEST_TOKEN]


def _check_log_probability(value: float) -> None:
    """Raise :class:`WrongReplyError` for a probability above 1."""
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
    read = _mapping(reply.get("usage")).get("prompt_tokens")
    nothing_written = read == len(tokens) or _choice(reply).get("text") == plain
    for whole, begins in [(plain, len(text))] + [(other, len(composed(text)))] * (other != plain):
        needed = min(begins, max(0, len(whole) - TAIL))
        for written_after in (0, 1) if nothing_written else (1, 0):
            spans = spans_of(tokens[: len(tokens) - written_after], whole, needed=needed)
            if spans is not None:
                return whole, spans, begins
    raise WrongReplyError(NOT_SPELLED)


def _logprobs(reply: Mapping[str, Any]) -> Mapping[str, Any]:
    found = _choice(reply).get("logprobs")
    if not isinstance(found, Mapping):
        raise WrongReplyError("the server gives no log-probabilities; start it so that it does, or use another server")
    return found


def _choice(reply: Mapping[str, Any]) -> Mapping[str, Any]:
    choices = _list(reply.get("choices"))
    if len(choices) != 1:
        raise WrongReplyError(f"the server gives {len(choices)} answers to one question")
    return _mapping(choices[0])


def _first(values: Any, what: str) -> Any:
    found = _list(values)
    if not found:
        raise WrongReplyError(f"the server's answer lacks {what} with its log-probabilities")
    return found[0]


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
