"""A text token by token: how surprised a model is by each, how unsure it was, and what it expected instead."""

from collections.abc import Sequence
from typing import Any

import torch

from core.errors import InputError
from core.models.adapters.token_evaluation import Loaded
from core.models.decoder import Decoder
from core.models.encoding import context_of
from core.models.spelling import TOO_SHORT, check_text, pieces, with_parts_marked
from core.models.token_ids import token_ids, token_spans

ALTERNATIVES = 5
TOKENS_BEFORE = 8
"""Tokens decoded with one, so that a letter whose bytes are split over several tokens is read whole."""


def view_tokens(loaded: Loaded, text: str, *, alternatives: int = ALTERNATIVES) -> dict[str, Any]:
    """JSON values: ``model``, its ``weights`` and ``notes`` on it, ``text``, and ``tokens`` with ``text, loss,
    probability, entropy`` (nats) and the likeliest ``alternatives`` as (text, probability); the first token, before
    which nothing is, has None. The texts of the tokens are ``text``, behind those of tokens in front of it
    (:func:`~core.models.spelling.pieces`).

    ``window`` is the most tokens that the model reads at once where the text has more of them, else 0. Such a text is
    read in windows that overlap by half: each later token is predicted from at least half a window before it.

    Raises :class:`InputError` for a text that is empty, too long or a single token.
    """
    check_text(text)
    ids, texts = _texts(loaded.tokenizer, text)
    if len(ids) < 2:
        raise InputError(TOO_SHORT)
    context = context_of(loaded.model.config)
    decoder = Decoder(loaded.model)
    rows: list[dict[str, Any]] = [
        {"text": texts[0], "loss": None, "probability": None, "entropy": None, "alternatives": []}
    ]
    begins = ids[:1] if ids[0] == loaded.tokenizer.bos_token_id else []
    for first, end in windows(len(ids), context, prefix=len(begins)):
        read = ids[first:end] if first == 0 else [*begins, *ids[first:end]]
        # The state of the token before predicts each token that no earlier window had: rows so far to ``end``.
        new = end - len(rows)
        hidden = decoder.hidden(decoder.tokens([read[:-1]]))[0][-new:]
        rows += _predicted(loaded, decoder, hidden, ids, texts, len(rows), alternatives)
    window = context if 0 < context < len(ids) else 0
    about = {"model": loaded.name, "kind": loaded.kind, "weights": loaded.weights, "notes": list(loaded.notes)}
    return {**about, "text": text, "window": window, "tokens": rows}


def windows(n: int, context: int, *, prefix: int = 0) -> list[tuple[int, int]]:
    """Where windows of ``n`` tokens start and end, for a model that reads ``context`` at once (0: any number).

    A window after the first begins with ``prefix`` tokens that stand at the text's start, and half a context further.

    >>> windows(10, 4)
    [(0, 4), (2, 6), (4, 8), (6, 10)]
    >>> windows(10, 0)
    [(0, 10)]
    """
    if not 0 < context < n:
        return [(0, n)]
    size = context - prefix
    spans = [(0, context)]
    while spans[-1][1] < n:
        end = min(spans[-1][1] + max(size // 2, 1), n)
        spans.append((end - size, end))
    return spans


def _predicted(
    loaded: Loaded,
    decoder: Decoder,
    hidden: torch.Tensor,
    ids: list[int],
    texts: Sequence[str],
    first: int,
    alternatives: int,
) -> list[dict[str, Any]]:
    """A row for each state of ``hidden`` (m, size): the token that follows it, from place ``first`` of the text on."""
    rows: list[dict[str, Any]] = []
    for start, logits in decoder.logits(hidden, copies=4):
        with torch.inference_mode():
            logs = torch.log_softmax(logits, dim=-1)
            entropy = -(logs.exp() * logs.clamp(min=-1e4)).sum(dim=-1)
            best, which = logs.topk(min(alternatives, logs.shape[-1]), dim=-1)
        for i in range(len(logs)):
            at = first + start + i
            log_p = float(logs[i, ids[at]])
            likeliest = [
                [with_parts_marked(loaded.tokenizer.decode([int(token)])), float(value.exp())]
                for token, value in zip(which[i], best[i], strict=True)
            ]
            rows.append(
                {
                    "text": texts[at],
                    "loss": -log_p,
                    "probability": float(logs[i, ids[at]].exp()),
                    "entropy": float(entropy[i]),
                    "alternatives": likeliest,
                }
            )
    return rows


def _texts(tokenizer: Any, text: str) -> tuple[list[int], tuple[str, ...]]:
    """The text's tokens, and what each of them adds to it; a token in front of the text has its own name."""
    (ids,), (bare,) = (token_ids(tokenizer, [text], special=special) for special in (True, False))
    front = len(ids) - len(bare)
    texts = tuple(_written(tokenizer, ids, at) for at in range(len(ids)))
    if "".join(texts[front:]).lstrip() == text.lstrip():
        return list(ids), texts
    if not getattr(tokenizer, "is_fast", False):  # it does not say which characters are a token's own
        return list(ids), tuple(map(with_parts_marked, texts))
    ((_, spans),) = token_spans(tokenizer, [text])
    return list(ids), texts[:front] + pieces(text, [end for _, end in spans[front:]])


def _written(tokenizer: Any, ids: Sequence[int], at: int) -> str:
    """What a token adds to the text before it; a part of a character may add a �."""
    start = max(0, at - TOKENS_BEFORE)
    before, after = (str(tokenizer.decode(ids[start:end])) for end in (at, at + 1))
    return after.removeprefix(before) if after.startswith(before) else str(tokenizer.decode([ids[at]]))
