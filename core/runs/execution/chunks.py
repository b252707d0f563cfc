"""The chunks of a run that answers questions: which question belongs into which, and how they are filled."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa

from core.questions.rotation import first_order
from core.records import OptionLogits, Prompt, joined
from core.runs import store
from core.storage.record_tables import option_logits


class ChunkPlan:
    """The prompts of a run in chunks of ``size``, by which chunks on disk are checked.

    ``missing`` are the questions that a server does not answer. Where options are asked in several orders, prompts are
    ``turned`` questions.
    """

    def __init__(self, prompts: Sequence[Prompt], size: int, *, missing: Collection[str], turned: bool) -> None:
        self.chunks = [prompts[i : i + size] for i in range(0, len(prompts), size)]
        self.k = max((prompt.k for prompt in prompts), default=0)
        self.missing = missing
        self.turned = turned

    def question(self, name: str) -> str:
        """The id of a prompt's question."""
        return first_order(name) if self.turned else name

    def answered(self) -> list[int]:
        """The chunks with at least one question that is not missing."""
        return [
            i
            for i, chunk in enumerate(self.chunks)
            if not all(self._is_missing(prompt.question_id) for prompt in chunk)
        ]

    def misfit(self, i: int, table: pa.Table) -> str:
        """What is wrong with the table of a finished chunk; empty if nothing is."""
        names = [prompt.question_id for prompt in self.chunks[i]] if i < len(self.chunks) else []
        scored = option_logits(table)
        known = set(scored.ids)
        if scored.ids != tuple(name for name in names if name in known):
            return "it has other questions"
        if not all(name in known or self._is_missing(name) for name in names):
            return "it lacks questions"
        return self._other_options(scored)

    def part_misfit(self, i: int, table: pa.Table) -> str:
        """What is wrong with the table of a part of a chunk; empty if nothing is."""
        scored = option_logits(table)
        known = {prompt.question_id for prompt in self.chunks[i]} & set(scored.ids)
        return self._other_options(scored) if len(known) == len(scored.ids) else "it has other questions"

    def _is_missing(self, name: str) -> bool:
        return self.question(name) in self.missing

    def _other_options(self, scored: OptionLogits) -> str:
        k = scored.logits.shape[1]
        return "" if k == self.k else f"it has {k} options instead of {self.k}"


class ChunksAtWork:
    """Chunks that are being scored at the same time; each is written when its last question is there."""

    def __init__(
        self,
        folder: Path,
        prompts: Mapping[int, Sequence[Prompt]],
        *,
        k: int,
        begun: Mapping[int, OptionLogits],
        served: bool,
    ) -> None:
        self.folder = folder
        self.k = k
        self.served = served
        self.ids = {i: [p.question_id for p in chunk] for i, chunk in prompts.items()}
        self.chunk_of = {name: i for i, chunk in self.ids.items() for name in chunk}
        self.batches = {i: [begun[i]] if i in begun else [] for i in self.ids}
        for i in list(self.ids):
            self._write_if_finished(i)

    def add(self, batch: OptionLogits) -> bool:
        """Take a batch, whose questions are all of one chunk; says whether the chunk is finished."""
        i = self.chunk_of[batch.ids[0]]
        self.batches[i].append(batch)
        return self._write_if_finished(i)

    def keep(self) -> None:
        """Write what has been scored of unfinished chunks."""
        for i, batches in self.batches.items():
            if batches:
                store.write_part(
                    self.folder, i, self._joined(batches, [name for batch in batches for name in batch.ids])
                )

    def finish(self) -> None:
        """Write the chunks from which questions were left out."""
        for i in list(self.batches):
            if batches := self.batches.pop(i):
                names = {name for batch in batches for name in batch.ids}
                store.write_chunk(self.folder, i, self._joined(batches, [n for n in self.ids[i] if n in names]))

    def _write_if_finished(self, i: int) -> bool:
        if sum(len(batch.ids) for batch in self.batches[i]) < len(self.ids[i]):
            return False
        store.write_chunk(self.folder, i, self._joined(self.batches.pop(i), self.ids[i]))
        return True

    def _joined(self, batches: Sequence[OptionLogits], ids: Sequence[str]) -> OptionLogits:
        logits = joined(batches, ids, k=self.k)
        if self.served and logits.bounded is None:  # all chunks have the same columns
            logits = replace(logits, bounded=np.zeros(logits.logits.shape, dtype=np.bool_))
        return logits
