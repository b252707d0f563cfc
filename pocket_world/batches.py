"""Documents as tensors: token rows padded on the right, and the weight of each token as a target."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from transformers import LlamaForCausalLM, PreTrainedTokenizerBase

from pocket_world.documents import Document

LENGTHS, TARGET_STEP = (32, 64, 96, 128, 160, 192, 288, 384, 512), 256
"""Rows (less one token) are padded to one of these lengths, targets to a multiple of the step: the processor's kernels
are prepared anew for every size that they meet."""

Read = Callable[[torch.Tensor], torch.Tensor]
"""From tokens (rows, length) to hidden states (rows, length, hidden)."""


@dataclass(frozen=True, slots=True)
class TokenBatch:
    """``tokens`` (rows, length) int64, padded with 0; ``weights`` (rows, length) float32, 0 on padding."""

    tokens: torch.Tensor
    weights: torch.Tensor
    size: int


def batch(documents: Sequence[Document], tokenizer: PreTrainedTokenizerBase) -> TokenBatch:
    """The documents as one batch; ``size`` counts tokens without padding."""
    rows: list[list[int]] = []
    weights: list[list[float]] = []
    for document in documents:
        encoded = tokenizer([piece.text for piece in document.pieces], return_attention_mask=False)["input_ids"]
        rows.append([token for ids in encoded for token in ids])
        weights.append(
            [piece.weight for piece, ids in zip(document.pieces, encoded, strict=True) for _ in range(len(ids))]
        )
    longest = max(len(row) for row in rows)
    length = 1 + next((length for length in LENGTHS if length >= longest - 1), longest - 1)
    return TokenBatch(
        tokens=torch.tensor([row + [0] * (length - len(row)) for row in rows]),
        weights=torch.tensor([row + [0.0] * (length - len(row)) for row in weights]),
        size=sum(len(row) for row in rows),
    )


def weighted_loss(
    model: LlamaForCausalLM,
    data: TokenBatch,
    read: Read | None = None,
    *,
    precision: torch.dtype = torch.bfloat16,
) -> torch.Tensor:
    """Σ weight · −log p(token | tokens before it) / Σ weight.

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
    loss: torch.Tensor = (losses * chosen).sum() / chosen.sum()
    return loss


def share_right(model: LlamaForCausalLM, data: TokenBatch) -> float:
    """The share of targets with a whole weight that are the likeliest next token."""
    with torch.inference_mode():
        guessed = model(input_ids=data.tokens[:, :-1]).logits.argmax(-1)
    targets = data.weights[:, 1:] == 1
    return float((guessed == data.tokens[:, 1:])[targets].float().mean())
