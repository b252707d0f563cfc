"""What servers reply, read and checked: the most probable next tokens, the log-probabilities of a text, a text.

A reply that can't be right raises :class:`~core.inference.server.client.WrongReplyError`, and is asked for again.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.inference.server.client import WrongReplyError

ABSENT = -9000.0
"""A lower log-probability means "unknown": some servers send -9999 for that."""
SLACK = 1e-3
"""Probabilities may sum to more than 1 by this much, because they are rounded and computed in half precision."""
ROUNDING = 1e-6
NOT_SPELLED = "the server's tokens do not spell the text that it was asked for"
ODD = r"(?:[^\x00-\x7f]|bytes:(?:\\x[0-9a-f]{2})+)+"
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
    """

    tokens: tuple[str, ...]
    log_p: tuple[float, ...]
    context: int
    joined: bool


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
    listed = [(str(token), float(log_p)) for token, log_p in pairs if _is_number(log_p) and log_p > ABSENT]
    listed.sort(key=lambda pair: -pair[1])
    if not listed:
        raise WrongReplyError("the server lists no tokens with their log-probabilities; start it so that it gives them")
    total = sum(math.exp(log_p) for _, log_p in listed)
    if listed[0][1] > SLACK or total > 1 + SLACK:
        raise WrongReplyError(f"the server's probabilities of next tokens sum to {total:.4g}, more than 1")
    ranked = listed[:asked] if asked > 0 else listed
    return NextTokens(tuple(listed), min(ranked[-1][1], math.log(max(1 - total, 0) + ROUNDING)))


def echoed(reply: Mapping[str, Any], *, text: str, continuation: str) -> EchoedText:
    """The tokens of ``text + continuation`` in a reply that echoes them, without what the server wrote after them."""
    logprobs = _logprobs(reply)
    tokens = [str(token) for token in _list(logprobs.get("tokens"))]
    values = [float(one) if _is_number(one) else math.nan for one in _list(logprobs.get("token_logprobs"))]
    if len(tokens) != len(values) or len(tokens) < 2:
        raise WrongReplyError(
            f"the server gives {len(values)} log-probabilities for {len(tokens)} tokens of the text that was sent"
        )
    if any(value > SLACK for value in values):
        raise WrongReplyError("the server gives a token a log-probability above 0")
    end = _end(tokens, text + continuation)
    spelled, said = "", re.compile(_pattern(continuation) + r"\Z")
    start, found = end, None
    while start > 0 and found is None:
        start -= 1
        spelled = tokens[start] + spelled
        found = said.search(spelled)
    if found is None:
        raise WrongReplyError(NOT_SPELLED)
    joined = found.start() > 0
    return EchoedText(tuple(tokens[:end]), tuple(values[:end]), start + joined, joined)


def echoed_rows(reply: Mapping[str, Any], *, text: str, most: int) -> list[dict[str, Any]]:
    """A row for each token of ``text`` in a reply that echoes it: ``text, loss, probability, entropy`` (not known) and
    at most so many ``alternatives`` as (text, probability); the first token has only its text."""
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
    for token, value, top in list(zip(tokens, values, listed, strict=True))[: _end(tokens, text)]:
        log_p = float(value) if _is_number(value) else None
        known = {str(one): float(each) for one, each in _mapping(top).items() if _is_number(each) and each > ABSENT}
        best = sorted(known.items(), key=lambda pair: -pair[1])[:most]
        rows.append(
            {
                "text": token,
                "loss": None if log_p is None else -log_p,
                "probability": None if log_p is None else math.exp(log_p),
                "entropy": None,
                "alternatives": [[one, math.exp(each)] for one, each in best] if log_p is not None else [],
            }
        )
    return rows


def written(reply: Mapping[str, Any], *, chat: bool) -> str:
    """The text that the server wrote."""
    choice = _choice(reply)
    said = _mapping(choice.get("message")).get("content") if chat else choice.get("text")
    if said is not None and not isinstance(said, str):
        raise WrongReplyError("the server's answer holds no text")
    return said or ""


def _end(tokens: Sequence[str], whole: str) -> int:
    """How many of the tokens belong to ``whole``; at most one was written after it.

    Only the end is compared, because a special token may come before the text.
    """
    tail = re.compile(_pattern(whole[-TAIL:]) + r"\Z")
    spelled = "".join(tokens[-(TAIL + 2) :])
    for written_after in (1, 0):
        text = spelled[: len(spelled) - len(tokens[-1])] if written_after else spelled
        if tail.search(text):
            return len(tokens) - written_after
    raise WrongReplyError(NOT_SPELLED)


def _pattern(text: str) -> str:
    """A regular expression for a text as servers spell it: what is not ASCII may be in tokens of single bytes, which
    have no spelling, and are shown as � or as ``bytes:…``."""
    parts = re.findall(r"[\x00-\x7f]+|[^\x00-\x7f]+", text)
    return "".join(re.escape(part) if part.isascii() else ODD for part in parts)


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


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and not math.isnan(value)
