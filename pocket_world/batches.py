"""Documents as tensors: token rows padded on the right, the weight of each token as a target, and their loss."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from torch.nn.utils.rnn import pad_sequence
from transformers import LlamaForCausalLM, PreTrainedTokenizerFast

from pocket_world.documents import MIDDLE, Document, StepPart

LENGTHS = (32, 64, 96, 128, 160, 192, 288, 384, 512)
"""Rows of up to this many tokens share a batch: a quarter of what a step reads is then padding, in one batch half."""

EXPECTED_WEIGHT = 0.5
"""The weight of a token that a middle layer should predict; that of a letter is 1."""


@dataclass(frozen=True, slots=True)
class TokenBatch:
    """``tokens`` (rows, length) int64, padded with 0; ``weights`` (rows, length) float32, 0 on padding.

    ``expected`` (:data:`~pocket_world.documents.MIDDLE`, rows, length) int64 holds the token that each middle layer
    should predict at each place, and ``expected_weights`` of the same shape its weight, which is 0 at most places.
    """

    tokens: torch.Tensor
    weights: torch.Tensor
    expected: torch.Tensor
    expected_weights: torch.Tensor


@dataclass(frozen=True, slots=True)
class WeightedRow:
    """A document's tokens and their weights. ``expected`` maps the number of a middle layer, from 0, and a place to the
    token that it should predict there."""

    tokens: list[int] = field(default_factory=list)
    weights: list[float] = field(default_factory=list)
    expected: dict[tuple[int, int], int] = field(default_factory=dict)


def batches(parts: Sequence[StepPart], tokenizer: PreTrainedTokenizerFast) -> list[TokenBatch]:
    """The documents of all parts as batches of rows of like length, the shortest first.

    The weights of a part's tokens are scaled so that they add up to its share of all parts' weights.
    """
    groups: dict[int, list[tuple[WeightedRow, float]]] = {length: [] for length in LENGTHS}
    for part in parts:
        rows = _rows(part.documents, tokenizer)
        scale = part.weight / sum(other.weight for other in parts) / sum(sum(row.weights[1:]) for row in rows)
        for row in rows:
            length = next((length for length in LENGTHS if length >= len(row.tokens) - 1), LENGTHS[-1])
            groups[length].append((row, scale))
    return [_padded(rows) for rows in groups.values() if rows]


def _rows(documents: Sequence[Document], tokenizer: PreTrainedTokenizerFast) -> list[WeightedRow]:
    # In one call, past transformers' own checks, this takes two fifths of the time of a call for each document.
    texts = [text for document in documents for piece in document.pieces for text in (piece.text, *piece.expected)]
    encoded = iter(tokenizer.backend_tokenizer.encode_batch_fast(texts))
    rows = [WeightedRow() for _ in documents]
    for row, document in zip(rows, documents, strict=True):
        for piece in document.pieces:
            ids = next(encoded).ids
            row.tokens.extend(ids)
            row.weights.extend([piece.weight] * len(ids))
            for number, text in enumerate(piece.expected):
                expected = next(encoded).ids
                if text:
                    row.expected[number, len(row.tokens) - 1] = expected[0]
    return rows


def _padded(rows: Sequence[tuple[WeightedRow, float]]) -> TokenBatch:
    tokens = pad_sequence([torch.tensor(row.tokens) for row, _ in rows], batch_first=True)
    weights = pad_sequence([torch.tensor(row.weights) * scale for row, scale in rows], batch_first=True)
    expected = torch.zeros(MIDDLE, *tokens.shape, dtype=torch.int64)
    expected_weights = torch.zeros(MIDDLE, *tokens.shape)
    for place, (row, scale) in enumerate(rows):
        for (number, at), token in row.expected.items():
            expected[number, place, at] = token
            expected_weights[number, place, at] = EXPECTED_WEIGHT * scale
    return TokenBatch(tokens, weights, expected, expected_weights)


def weighted_loss(model: LlamaForCausalLM, batch: TokenBatch, *, middle: Sequence[int] = ()) -> torch.Tensor:
    """Σ weight · −log p(token | tokens before it), and that of what the layers ``middle`` should predict.

    ``middle`` counts layers from 1. Their states go through the last norm and the output layer. Those of the second one
    are read backwards, the last dimension first: a place can then hold a token of its own beside the one that it
    expects, and heads can compare the two (:func:`pocket_world.begin._comparing_heads`). Only positions that have a
    weight go through the output layer, which for a model this small is a fifth of the work.
    """
    device = model.device
    output = model.model(input_ids=batch.tokens[:, :-1].to(device), use_cache=False, output_hidden_states=bool(middle))
    targets_of_layers = [(output.last_hidden_state, batch.tokens[:, 1:], batch.weights[:, 1:])]
    for place, layer in enumerate(middle):
        states = model.model.norm(output.hidden_states[layer])
        targets, weights = batch.expected[place, :, :-1], batch.expected_weights[place, :, :-1]
        targets_of_layers.append((states.flip(-1) if place == 1 else states, targets, weights))
    loss = torch.zeros((), device=device)
    for states, targets, weights in targets_of_layers:
        positions = weights > 0
        logits = model.lm_head(states[positions.to(device)]).float()
        losses = torch.nn.functional.cross_entropy(logits, targets[positions].to(device), reduction="none")
        loss = loss + (losses * weights[positions].to(device)).sum()
    return loss
