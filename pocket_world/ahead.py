"""The text of the steps to come, made by processes of their own, so that a GPU never waits for it."""

from __future__ import annotations

import multiprocessing
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import torch
from transformers import PreTrainedTokenizerFast

from pocket_world.curriculum import step_documents
from pocket_world.documents import StepPart
from pocket_world.recipes import Recipe, Stage
from pocket_world.stream import Stream

Step = tuple[Stage, int]

Data = TypeVar("Data")

_AHEAD = 8
"""Steps that are made ahead for each process."""


@dataclass(frozen=True, slots=True)
class StepText(Generic[Data]):
    """What a recipe reads at any step, as ``form`` makes it from the documents."""

    stream: Stream
    recipe: Recipe
    tokenizer: PreTrainedTokenizerFast
    values: Sequence[str]
    form: Callable[[Sequence[StepPart], PreTrainedTokenizerFast], Data]

    def of(self, step: Step) -> Data:
        """That of one step."""
        stage, number = step
        documents = step_documents(self.stream, self.recipe, stage=stage, step=number, values=self.values)
        return self.form(documents, self.tokenizer)


def steps_from(recipe: Recipe, first: Step) -> Iterator[Step]:
    """This step and those after it, to the end of the last stage."""
    counts = recipe.stage_steps
    order = list(counts)
    stage, number = first
    for later in order[order.index(stage) :]:
        yield from ((later, step) for step in range(number if later == stage else 0, counts[later]))


def made_ahead(text: StepText[Data], steps: Iterator[Step], *, workers: int) -> Iterator[Data]:
    """The text of these steps in their order: made where it is asked for, or ahead by so many processes."""
    if not workers:
        yield from map(text.of, steps)
        return
    # A process that was forked from one with threads or a GPU may hang. These are forked from one that has neither and
    # has imported what they need, which every one of them would else do for itself.
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    pool = ProcessPoolExecutor(workers, mp_context=context, initializer=_begin, initargs=(text,))
    try:
        waiting: deque[Future[Data]] = deque()
        for step in steps:
            waiting.append(pool.submit(_made, step))
            if len(waiting) > _AHEAD * workers:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)


_text: StepText[Any] | None = None


def _begin(text: StepText[Any]) -> None:
    global _text
    torch.set_num_threads(1)
    _text = text


def _made(step: Step) -> Any:
    assert _text is not None
    return _text.of(step)
