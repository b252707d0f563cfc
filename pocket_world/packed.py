"""The documents of a step in few long rows, and a whole step of training on them as one CUDA graph.

A model this small takes a GPU less time than its kernels take to start, one after the other. A captured graph starts
them all at once; its shapes are fixed, so several documents share a row, and no document sees another.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
import torch
from transformers import LlamaForCausalLM, PreTrainedTokenizerFast

from pocket_world.batches import token_loss, weighted_rows
from pocket_world.documents import MIDDLE, StepPart
from pocket_world.reader import read

LENGTH = 512
"""Tokens of a row."""

ROWS = 4
"""The number of rows is a multiple of this, so that few graphs serve all steps."""

_WARM_UP = 3
"""Steps before a capture, in which libraries allocate what a graph can't. What they change is put back."""


@dataclass(frozen=True, slots=True)
class PackedStep:
    """The documents of a step as arrays of the shape (rows, :data:`LENGTH`).

    ``targets`` are the tokens that follow ``tokens``, with their ``weights``. ``expected`` are those that each middle
    layer should predict, with theirs, of the shape (:data:`~pocket_world.documents.MIDDLE`, rows, :data:`LENGTH`).
    ``documents`` holds the number of the document, −1 where there is none. ``size`` counts tokens.
    """

    tokens: np.ndarray
    targets: np.ndarray
    weights: np.ndarray
    expected: np.ndarray
    expected_weights: np.ndarray
    documents: np.ndarray
    size: int

    @classmethod
    def blank(cls, rows: int) -> PackedStep:
        """Rows without a document."""
        shape = (rows, LENGTH)
        return cls(
            tokens=np.zeros(shape, np.int64),
            targets=np.zeros(shape, np.int64),
            weights=np.zeros(shape, np.float32),
            expected=np.zeros((MIDDLE, *shape), np.int64),
            expected_weights=np.zeros((MIDDLE, *shape), np.float32),
            documents=np.full(shape, -1, np.int16),
            size=0,
        )


def packed(parts: Sequence[StepPart], tokenizer: PreTrainedTokenizerFast) -> PackedStep:
    """The documents of all parts, each in the first row that has room for it, the longest first; weights are scaled as
    in :func:`pocket_world.batches.batches`."""
    every = sorted(weighted_rows(parts, tokenizer), key=lambda row: -len(row.tokens))
    room: list[int] = []
    places = []
    for one in every:
        needed = len(one.tokens) - 1
        row = next((row for row, left in enumerate(room) if left >= needed), len(room))
        if row == len(room):
            room.append(LENGTH)
        places.append((row, LENGTH - room[row]))
        room[row] -= needed
    made = replace(PackedStep.blank(-(-len(room) // ROWS) * ROWS), size=sum(len(one.tokens) for one in every))
    for number, ((row, start), one) in enumerate(zip(places, every, strict=True)):
        where = (row, slice(start, start + len(one.tokens) - 1))
        made.tokens[where], made.targets[where] = one.tokens[:-1], one.tokens[1:]
        made.weights[where], made.documents[where] = one.weights[1:], number
        for (layer, place), token in one.expected.items():
            at = layer, row, start + place
            made.expected[at], made.expected_weights[at] = token, one.expected_weight
    return made


class CapturedSteps:
    """Steps of training on a GPU: loss, gradients, their norm cut to 1, and the optimizers, whose rates are tensors."""

    def __init__(
        self,
        model: LlamaForCausalLM,
        optimizers: Sequence[torch.optim.Optimizer],
        *,
        precision: torch.dtype,
        middle: Sequence[int],
    ) -> None:
        self._model, self._optimizers, self._precision, self._middle = model, optimizers, precision, middle
        self._graphs: dict[int, tuple[torch.cuda.CUDAGraph, dict[str, torch.Tensor], torch.Tensor]] = {}

    def step(self, data: PackedStep) -> torch.Tensor:
        """The loss Σ weight · −log p before the step; the weights of the model are changed."""
        rows = len(data.tokens)
        if rows not in self._graphs:
            self._graphs[rows] = self._captured(rows)
        graph, inputs, loss = self._graphs[rows]
        for name, into in inputs.items():
            into.copy_(torch.from_numpy(getattr(data, name)))
        graph.replay()
        return loss

    def _captured(self, rows: int) -> tuple[torch.cuda.CUDAGraph, dict[str, torch.Tensor], torch.Tensor]:
        blank = PackedStep.blank(rows)
        inputs = {
            field.name: torch.from_numpy(getattr(blank, field.name)).to(self._model.device)
            for field in fields(PackedStep)
            if field.name != "size"
        }

        def whole() -> torch.Tensor:
            for optimizer in self._optimizers:
                optimizer.zero_grad(set_to_none=True)
            loss = packed_loss(self._model, precision=self._precision, middle=self._middle, **inputs)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(self._model.parameters(), 1.0)
            for optimizer in self._optimizers:
                optimizer.step()
            return loss.detach()

        restore = self._snapshot()
        aside = torch.cuda.Stream()
        aside.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(aside):
            for _ in range(_WARM_UP):
                whole()
        torch.cuda.current_stream().wait_stream(aside)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            loss = whole()
        restore()
        return graph, inputs, loss

    def _snapshot(self) -> Callable[[], None]:
        """A function that restores weights and optimizer states, in place, as they are now. States that don't exist yet
        become zeros, with which an optimizer begins."""
        weights = [(one, one.detach().clone()) for one in self._model.parameters()]
        states = {
            id(value): value.clone()
            for optimizer in self._optimizers
            for state in optimizer.state.values()
            for value in state.values()
        }

        def restore() -> None:
            for one, before in weights:
                one.data.copy_(before)
            for optimizer in self._optimizers:
                for state in optimizer.state.values():
                    for value in state.values():
                        value.copy_(states[id(value)]) if id(value) in states else value.zero_()

        return restore


def packed_loss(
    model: LlamaForCausalLM,
    tokens: torch.Tensor,
    targets: torch.Tensor,
    weights: torch.Tensor,
    expected: torch.Tensor,
    expected_weights: torch.Tensor,
    documents: torch.Tensor,
    *,
    precision: torch.dtype,
    middle: Sequence[int] = (),
) -> torch.Tensor:
    """That of :func:`pocket_world.batches.weighted_loss`, not divided, of a packed step."""
    last, halfway = read(model, tokens, precision=precision, sees=seen_by(documents), middle=middle)
    loss = token_loss(model, last.flatten(0, 1), targets.flatten(), weights.flatten(), precision)
    for states, wanted, counted in zip(halfway, expected, expected_weights, strict=False):
        loss = loss + token_loss(model, states.flatten(0, 1), wanted.flatten(), counted.flatten(), precision)
    return loss


def seen_by(documents: torch.Tensor) -> torch.Tensor:
    """Which tokens each token sees, (rows, 1, length, length): itself and what is before it in its document."""
    length = documents.shape[1]
    before = torch.ones(length, length, dtype=torch.bool, device=documents.device).tril()
    return ((documents[:, :, None] == documents[:, None, :]) & before)[:, None]
