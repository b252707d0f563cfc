"""What each step of a training reads. It follows from the seed, the stage and the step alone.

So a resumed training reads the same text as one that never stopped, and the check reads what training read.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from core.pocket.binding import pair_document
from core.pocket.documents import Document
from core.pocket.stream import Form, Stream

Stage = Literal["pairs", "binding", "facts"]

BATCHES: dict[Form, tuple[int, float]] = {
    "short": (64, 0.32),
    "rc": (32, 0.22),
    "ci": (40, 0.13),
    "drs": (24, 0.13),
    "ds": (20, 0.10),
    "instructed": (24, 0.05),
    "demonstrated": (12, 0.05),
}
"""Documents a step and share of the steps of the last stage, by form; a batch is of one form, so rows are alike."""

FACTS_ALONE: dict[Form, tuple[int, float]] = {
    "short": (64, 0.78),
    "instructed": (40, 0.08),
    "demonstrated": (16, 0.14),
}
"""The same for a stream that practises nothing but facts."""

CHAT: dict[Form, tuple[int, float]] = {
    "conversation": (12, 0.45),
    "asked in chat": (24, 0.35),
    "short": (64, 0.08),
    "rc": (32, 0.04),
    "ci": (40, 0.03),
    "drs": (24, 0.03),
    "ds": (20, 0.02),
}
"""The same for a model that is tuned for chat: conversations, letters in chat format, and some of the rest."""

BINDING_ROWS = 48
PAIRS_KEPT = 0.4
"""How much of the second stage is still the first's."""


def step_documents(stream: Stream, *, seed: int, stage: Stage, step: int, values: Sequence[str]) -> list[Document]:
    """The documents of one step; ``values`` are the answers of one token, which the first stage is made of."""
    rng = random.Random(f"{seed}|{stage}|{step}")
    if stage == "pairs" or (stage == "binding" and rng.random() < PAIRS_KEPT):
        return [pair_document(values, rng) for _ in range(BINDING_ROWS)]
    if stage == "binding":
        return [stream.document("binding", rng) for _ in range(BINDING_ROWS)]
    batches = CHAT if stream.chat else BATCHES if len(stream.tasks) > 1 else FACTS_ALONE
    form = rng.choices(list(batches), weights=[share for _, share in batches.values()])[0]
    return [stream.document(form, rng) for _ in range(batches[form][0])]


def all_documents(
    stream: Stream, *, seed: int, steps: Mapping[Stage, int], values: Sequence[str], every: int = 1
) -> Iterator[Document]:
    """The documents of every ``every``-th step of each stage, ``steps`` of them in all."""
    for stage, count in steps.items():
        for step in range(0, count, every):
            yield from step_documents(stream, seed=seed, stage=stage, step=step, values=values)
