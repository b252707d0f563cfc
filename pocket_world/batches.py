"""Documents as tensors: token rows padded on the right, and the weight of each token as a target."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import torch
from transformers import LlamaForCausalLM, PreTrainedTokenizerBase

from pocket_world.documents import Document, StepPart

LENGTHS, TARGET_STEP = (32, 64, 96, 128, 160, 192, 288, 384, 512), 128
"""Rows (less one token) are padded to one of these lengths, targets to a multiple of the step: the processor's kernels
are prepared anew for every size that they meet."""

FEWEST = 300
"""Padded tokens of a batch; fewer are read with the next longer rows."""

Read = Callable[[torch.Tensor], torch.Tensor]
"""From tokens (rows, length) to hidden states (rows, length, hidden)."""


@dataclass(frozen=True, slots=True)
class TokenBatch:
    """``tokens`` (rows, length) int64, padded with 0; ``weights`` (rows, length) float32, 0 on padding.

    ``size`` counts tokens without padding.
    """

    tokens: torch.Tensor
    weights: torch.Tensor
    size: int


Row = tuple[list[int], list[float]]
"""A document's tokens and their weights."""


def batch(documents: Sequence[Document], tokenizer: PreTrainedTokenizerBase) -> TokenBatch:
    """The documents as one batch, in their order."""
    rows = [_row(document, tokenizer) for document in documents]
    return _padded(rows, _length(max(len(tokens) for tokens, _ in rows)))


def batches(parts: Sequence[StepPart], tokenizer: PreTrainedTokenizerBase) -> list[TokenBatch]:
    """The documents of all parts as batches of rows of like length, the shortest first.

    The weights of a part's tokens are scaled so that they add up to its share of all parts' weights. In one batch
    nearly half of the tokens that a step of everything reads would be padding, in these a quarter is.
    """
    all_rows: list[Row] = []
    whole = sum(part.weight for part in parts)
    for part in parts:
        rows = [_row(document, tokenizer) for document in part.documents]
        share = part.weight / whole / sum(sum(weights[1:]) for _, weights in rows)
        all_rows += [(tokens, [weight * share for weight in weights]) for tokens, weights in rows]
    groups: dict[int, list[Row]] = {}
    for row in sorted(all_rows, key=lambda row: len(row[0])):
        groups.setdefault(_length(len(row[0])), []).append(row)
    lengths = sorted(groups)
    for shorter, longer in pairwise(lengths):
        if len(groups[shorter]) * shorter < FEWEST:
            groups[longer] = groups.pop(shorter) + groups[longer]
    return [_padded(groups[length], length) for length in lengths if length in groups]


def _row(document: Document, tokenizer: PreTrainedTokenizerBase) -> Row:
    encoded = tokenizer([piece.text for piece in document.pieces], return_attention_mask=False)["input_ids"]
    weights = [piece.weight for piece, ids in zip(document.pieces, encoded, strict=True) for _ in range(len(ids))]
    return [token for ids in encoded for token in ids], weights


def _length(tokens: int) -> int:
    return 1 + next((length for length in LENGTHS if length >= tokens - 1), tokens - 1)


def _padded(rows: Sequence[Row], length: int) -> TokenBatch:
    return TokenBatch(
        tokens=torch.tensor([tokens + [0] * (length - len(tokens)) for tokens, _ in rows]),
        weights=torch.tensor([weights + [0.0] * (length - len(weights)) for _, weights in rows]),
        size=sum(len(tokens) for tokens, _ in rows),
    )


def weighted_loss(
    model: LlamaForCausalLM,
    data: TokenBatch,
    read: Read | None = None,
    *,
    precision: torch.dtype = torch.bfloat16,
    mean: bool = True,
) -> torch.Tensor:
    """Σ weight · −log p(token | tokens before it), with ``mean`` / Σ weight.

    Only positions whose next token has a weight go through the output layer, which for a model this small and a
    vocabulary this large is a fifth of the work. Padding stands on the right, so that no real token sees it. ``read``
    is by default what transformers computes; ``precision`` is float32 or bfloat16.
    """
    weights, targets = data.weights[:, 1:].flatten(), data.tokens[:, 1:].flatten()
    places = weights.nonzero().flatten()
    chosen = torch.nn.functional.pad(weights[places], (0, -len(places) % TARGET_STEP))
    places = torch.nn.functional.pad(places, (0, len(chosen) - len(places)))
    tokens = data.tokens[:, :-1]
    read = read or (lambda tokens: model.model(input_ids=tokens, use_cache=False).last_hidden_state)
    hidden = read(tokens).flatten(0, 1)[places].to(precision)
    logits = torch.nn.functional.linear(hidden, model.lm_head.weight.to(precision))
    losses = torch.nn.functional.cross_entropy(logits.float(), targets[places], reduction="none")
    loss: torch.Tensor = (losses * chosen).sum() / (chosen.sum() if mean else 1.0)
    return loss


def share_right(model: LlamaForCausalLM, data: TokenBatch) -> float:
    """The share of targets with a whole weight that are the likeliest next token."""
    with torch.inference_mode():
        guessed = model(input_ids=data.tokens[:, :-1]).logits.argmax(-1)
    targets = data.weights[:, 1:] == 1
    return float((guessed == data.tokens[:, 1:])[targets].float().mean())
