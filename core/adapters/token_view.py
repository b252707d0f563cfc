"""A text token by token: how surprised a model is by each, how unsure it was, and what it expected instead."""

from __future__ import annotations

from typing import Any

import torch

from core.adapters.token_evaluation import Loaded
from core.errors import InputError
from core.inference.decoder import Decoder
from core.inference.encoding import context_of

ALTERNATIVES = 5
LONGEST = 2000
"""Characters of a text."""


def view_tokens(loaded: Loaded, text: str, *, alternatives: int = ALTERNATIVES) -> dict[str, Any]:
    """JSON values: ``model``, ``text``, and ``tokens`` with ``text, loss, probability, entropy`` (nats) and the
    likeliest ``alternatives`` as (text, probability); the first token, before which nothing is, has None.

    Raises :class:`InputError` for a text that is empty or too long.
    """
    if not text.strip() or len(text) > LONGEST:
        raise InputError(f"a text has from 1 to {LONGEST:,} characters, got {len(text.strip()):,}")
    ids = list(loaded.tokenizer(text)["input_ids"])
    context = context_of(loaded.model.config)
    if not 2 <= len(ids) <= context:
        raise InputError(f"the text has {len(ids)} tokens; the model reads from 2 to {context:,}")
    decoder = Decoder(loaded.model)
    hidden = decoder.hidden(decoder.tokens([ids[:-1]]))[0]
    rows: list[dict[str, Any]] = [
        {"text": _written(loaded, ids, 0), "loss": None, "probability": None, "entropy": None, "alternatives": []}
    ]
    for start, logits in decoder.logits(hidden, copies=4):
        with torch.inference_mode():
            logs = torch.log_softmax(logits, dim=-1)
            entropy = -(logs.exp() * logs.clamp(min=-1e4)).sum(dim=-1)
            best, which = logs.topk(min(alternatives, logs.shape[-1]), dim=-1)
        for i in range(len(logs)):
            at = start + i + 1
            log_p = float(logs[i, ids[at]])
            likeliest = [
                [loaded.tokenizer.decode([int(token)]), float(value.exp())]
                for token, value in zip(which[i], best[i], strict=True)
            ]
            rows.append(
                {
                    "text": _written(loaded, ids, at),
                    "loss": -log_p,
                    "probability": float(logs[i, ids[at]].exp()),
                    "entropy": float(entropy[i]),
                    "alternatives": likeliest,
                }
            )
    return {"model": loaded.name, "kind": loaded.kind, "text": text, "tokens": rows}


def _written(loaded: Loaded, ids: list[int], at: int) -> str:
    """What a token adds to the text: a byte of a letter alone reads as a mark."""
    before, after = (str(loaded.tokenizer.decode(ids[:end])) for end in (at, at + 1))
    return after.removeprefix(before) if after.startswith(before) else str(loaded.tokenizer.decode([ids[at]]))
