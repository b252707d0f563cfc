"""Documents as tensors: token rows padded on the right, and the weight of each token as a target."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from transformers import LlamaForCausalLM, PreTrainedTokenizerBase

from core.pocket.documents import Document

ROW_STEP, TARGET_STEP = 8, 256
"""Rows (less one token) and targets are padded to multiples of these: the processor's matrix kernels are prepared
anew for every size that they meet, which otherwise took half of the time."""


@dataclass(frozen=True, slots=True)
class Batch:
    """``tokens`` (rows, length) int64, padded with 0; ``weights`` (rows, length) float32, 0 on padding."""

    tokens: torch.Tensor
    weights: torch.Tensor
    size: int


def batch(documents: Sequence[Document], tokenizer: PreTrainedTokenizerBase) -> Batch:
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
    length = longest + (1 - longest) % ROW_STEP
    return Batch(
        tokens=torch.tensor([row + [0] * (length - len(row)) for row in rows]),
        weights=torch.tensor([row + [0.0] * (length - len(row)) for row in weights]),
        size=sum(len(row) for row in rows),
    )


def weighted_loss(model: LlamaForCausalLM, data: Batch, body: Callable[..., Any] | None = None) -> torch.Tensor:
    """Σ weight · −log p(token | tokens before it) / Σ weight.

    Only positions whose next token has a weight go through the output layer, which for a model this small and a
    vocabulary this large is a fifth of the work. Padding stands on the right, so that no real token sees it. ``body``
    is ``model.model`` or the same compiled, which halves the work of a small model on a processor.
    """
    body = model.model if body is None else body
    weights, targets = data.weights[:, 1:].flatten(), data.tokens[:, 1:].flatten()
    places = weights.nonzero().flatten()
    chosen = torch.nn.functional.pad(weights[places], (0, -len(places) % TARGET_STEP))
    places = torch.nn.functional.pad(places, (0, len(chosen) - len(places)))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        read = body(input_ids=data.tokens[:, :-1], use_cache=False).last_hidden_state
        hidden = read.flatten(0, 1)[places]
        logits = model.lm_head(hidden)
    losses = torch.nn.functional.cross_entropy(logits.float(), targets[places], reduction="none")
    loss: torch.Tensor = (losses * chosen).sum() / chosen.sum()
    return loss


def share_right(model: LlamaForCausalLM, data: Batch) -> float:
    """The share of targets with a whole weight that are the likeliest next token."""
    with torch.inference_mode():
        guessed = model(input_ids=data.tokens[:, :-1]).logits.argmax(-1)
    targets = data.weights[:, 1:] == 1
    return float((guessed == data.tokens[:, 1:])[targets].float().mean())
