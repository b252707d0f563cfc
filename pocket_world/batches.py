"""Documents as tensors: token rows padded on the right, and the weight of each token as a target."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import torch
from transformers import LlamaForCausalLM, PreTrainedTokenizerFast

from pocket_world.documents import MIDDLE, Document, StepPart

LENGTHS, TARGET_STEP = (32, 64, 96, 128, 160, 192, 288, 384, 512), 128
"""Rows (less one token) are padded to one of these lengths, targets to a multiple of the step: the processor's kernels
are prepared anew for every size that they meet."""

FEWEST = 300
"""Padded tokens of a batch; fewer are read with the next longer rows."""

Read = Callable[[torch.Tensor], tuple[torch.Tensor, list[torch.Tensor]]]
"""From tokens (rows, length) to hidden states (rows, length, hidden), the last ones and those of each middle layer."""


@dataclass(frozen=True, slots=True)
class TokenBatch:
    """``tokens`` (rows, length) int64, padded with 0; ``weights`` (rows, length) float32, 0 on padding.

    ``expected`` (:data:`~pocket_world.documents.MIDDLE`, rows, length) int64 holds the token that each middle layer
    should predict at each place, and ``expected_weights`` of the same shape its weight, which is 0 at most places.
    ``size`` counts tokens without padding.
    """

    tokens: torch.Tensor
    weights: torch.Tensor
    expected: torch.Tensor
    expected_weights: torch.Tensor
    size: int


@dataclass(frozen=True, slots=True)
class WeightedRow:
    """A document's tokens and their weights. ``expected`` maps the number of a middle layer, from 0, and a place to the
    token that it should predict there; each of these has the weight ``expected_weight``."""

    tokens: list[int]
    weights: list[float]
    expected: dict[tuple[int, int], int]
    expected_weight: float

    def scaled(self, share: float) -> WeightedRow:
        """The same row, its weights times a share."""
        weights = [weight * share for weight in self.weights]
        return WeightedRow(self.tokens, weights, self.expected, self.expected_weight * share)


EXPECTED_WEIGHT = 0.5
"""The weight of a token that a middle layer should predict; that of a letter is 1."""


def batch(documents: Sequence[Document], tokenizer: PreTrainedTokenizerFast) -> TokenBatch:
    """The documents as one batch, in their order."""
    rows = _rows(documents, tokenizer)
    return _padded(rows, _length(max(len(row.tokens) for row in rows)))


def batches(parts: Sequence[StepPart], tokenizer: PreTrainedTokenizerFast) -> list[TokenBatch]:
    """The documents of all parts as batches of rows of like length, the shortest first.

    The weights of a part's tokens are scaled so that they add up to its share of all parts' weights. In one batch
    nearly half of the tokens that a step of everything reads would be padding, in these a quarter is.
    """
    groups: dict[int, list[WeightedRow]] = {}
    for row in sorted(weighted_rows(parts, tokenizer), key=lambda row: len(row.tokens)):
        groups.setdefault(_length(len(row.tokens)), []).append(row)
    lengths = sorted(groups)
    for shorter, longer in pairwise(lengths):
        if len(groups[shorter]) * shorter < FEWEST:
            groups[longer] = groups.pop(shorter) + groups[longer]
    return [_padded(groups[length], length) for length in lengths if length in groups]


def weighted_rows(parts: Sequence[StepPart], tokenizer: PreTrainedTokenizerFast) -> list[WeightedRow]:
    """The documents of all parts as rows; the weights of a part add up to its share of all parts' weights."""
    found: list[WeightedRow] = []
    whole = sum(part.weight for part in parts)
    for part in parts:
        rows = _rows(part.documents, tokenizer)
        share = part.weight / whole / sum(sum(row.weights[1:]) for row in rows)
        found += [row.scaled(share) for row in rows]
    return found


def _rows(documents: Sequence[Document], tokenizer: PreTrainedTokenizerFast) -> list[WeightedRow]:
    # In one call, past transformers' own checks, this takes two fifths of the time of a call for each document.
    texts = [text for document in documents for piece in document.pieces for text in (piece.text, *piece.expected)]
    encoded = iter(tokenizer.backend_tokenizer.encode_batch_fast(texts))
    rows = []
    for document in documents:
        row = WeightedRow([], [], {}, EXPECTED_WEIGHT)
        for piece in document.pieces:
            ids = next(encoded).ids
            row.tokens.extend(ids)
            row.weights.extend([piece.weight] * len(ids))
            for number, text in enumerate(piece.expected):
                expected = next(encoded).ids
                if text:
                    row.expected[number, len(row.tokens) - 1] = expected[0]
        rows.append(row)
    return rows


def _length(tokens: int) -> int:
    return 1 + next((length for length in LENGTHS if length >= tokens - 1), tokens - 1)


def _padded(rows: Sequence[WeightedRow], length: int) -> TokenBatch:
    made = TokenBatch(
        tokens=torch.tensor([row.tokens + [0] * (length - len(row.tokens)) for row in rows]),
        weights=torch.tensor([row.weights + [0.0] * (length - len(row.weights)) for row in rows]),
        expected=torch.zeros(MIDDLE, len(rows), length, dtype=torch.int64),
        expected_weights=torch.zeros(MIDDLE, len(rows), length),
        size=sum(len(row.tokens) for row in rows),
    )
    for place, row in enumerate(rows):
        for (number, at), token in row.expected.items():
            made.expected[number, place, at], made.expected_weights[number, place, at] = token, row.expected_weight
    return made


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
    vocabulary this large is a fifth of the work. The loss of the tokens that the middle states of ``read`` should
    predict is added. Padding stands on the right, so that no real token sees it. ``read``
    is by default what transformers computes; ``precision`` is float32 or bfloat16.
    """
    read = read or (lambda tokens: (model.model(input_ids=tokens, use_cache=False).last_hidden_state, []))
    last, middle = read(data.tokens[:, :-1])
    learned = [(last, data.tokens[:, 1:], data.weights[:, 1:])]
    for states, expected, weights in zip(middle, data.expected, data.expected_weights, strict=False):
        learned.append((states, expected[:, :-1], weights[:, :-1]))
    loss, whole = torch.zeros(()), torch.zeros(())
    for states, targets, weights in learned:
        places = weights.flatten().nonzero().flatten()
        chosen = torch.nn.functional.pad(weights.flatten()[places], (0, -len(places) % TARGET_STEP))
        places = torch.nn.functional.pad(places, (0, len(chosen) - len(places)))
        loss = loss + token_loss(model, states.flatten(0, 1)[places], targets.flatten()[places], chosen, precision)
        whole = whole + chosen.sum()
    return loss / whole if mean else loss


def token_loss(
    model: LlamaForCausalLM, hidden: torch.Tensor, targets: torch.Tensor, weights: torch.Tensor, precision: torch.dtype
) -> torch.Tensor:
    """Σ weight · −log p(target) of hidden states (n, hidden)."""
    logits = torch.nn.functional.linear(hidden.to(precision), model.lm_head.weight.to(precision))
    loss: torch.Tensor = (torch.nn.functional.cross_entropy(logits.float(), targets, reduction="none") * weights).sum()
    return loss


def share_right(model: LlamaForCausalLM, data: TokenBatch) -> float:
    """The share of targets with a whole weight that are the likeliest next token."""
    with torch.inference_mode():
        guessed = model(input_ids=data.tokens[:, :-1].to(model.device)).logits.argmax(-1).cpu()
    targets = data.weights[:, 1:] == 1
    return float((guessed == data.tokens[:, 1:])[targets].float().mean())
