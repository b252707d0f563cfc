"""The scored parts of a request on disk: a Parquet file of chunks, with one row per message.

A part (a system prompt and a conversation, or all choices) is a chunk (:mod:`core.files.tables`). The columns are
``prompt``, ``source``, ``message``, ``dropped``, ``pieces`` and ``losses`` (nats). All figures come from them.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from core.files.tables import finished_chunks, read_table, write_chunk
from core.perplexity.figures import ScoredMessage
from core.perplexity.request import Part, Request
from core.perplexity.scoring import Scorer
from core.perplexity.server_scoring import ServedWords, ServerScorer
from core.perplexity.tokens import Words
from core.progress import Reporter


def score_missing(scorer: Scorer | ServerScorer, request: Request, folder: Path, reporter: Reporter) -> float:
    """Score the parts that no earlier try finished, prompt by prompt; returns the seconds it took.

    Raises :class:`~core.errors.InputError` if the words don't fit the model.
    """
    parts = list(request.parts())
    words: list[list[Any]] = [list(of) for of in scorer.lay_out(parts, mode=request.mode)]  # each scorer's own
    for note in scorer.notes:
        reporter.log(note)
    if dropped := sum(each.dropped for of in words for each in of):
        reporter.log(f"messages of context left out because the model reads too little: {dropped:,}")
    finished = set(finished_chunks(folder))
    missing = [i for i in range(len(parts)) if i not in finished]
    reporter.done = sum(len(parts[i].windows) for i in finished)
    reporter.expect(sum(len(each.tokens) for i in missing for each in words[i]))
    for prompt, group in itertools.groupby(missing, key=lambda i: parts[i].prompt):
        of_prompt = list(group)
        reporter.report("checking itself")
        check = scorer.begin([each for i in of_prompt for each in words[i]])
        for reason in check.refused:
            reporter.log(f"self-check refused {reason}")
        reporter.log(f"{prompt.name}: self-check passed by {check.rung}: {check.largest_difference:.2e}")
        for i in of_prompt:
            messages = scorer.score(parts[i], words[i], tell=lambda tokens: reporter.advance(1, tokens))
            write_chunk(folder, i, _table(parts[i], words[i], messages))
    return reporter.rate.seconds


def read(path: Path) -> tuple[dict[tuple[str, str], tuple[ScoredMessage, ...]], int]:
    """The messages of each (prompt, source), and how many messages of context were dropped in all."""
    table = read_table(path)
    messages: dict[tuple[str, str], list[ScoredMessage]] = {}
    columns = [table[name].to_pylist() for name in ("prompt", "source", "message", "pieces", "losses")]
    for prompt, source, number, pieces, losses in zip(*columns, strict=True):
        made = ScoredMessage(number, tuple(pieces), np.array(losses, dtype=np.float32))
        messages.setdefault((prompt, source), []).append(made)
    return {key: tuple(of) for key, of in messages.items()}, sum(table["dropped"].to_pylist())


def _table(part: Part, words: Sequence[Words] | Sequence[ServedWords], messages: Sequence[ScoredMessage]) -> pa.Table:
    n = len(messages)
    return pa.table(
        {
            "prompt": [part.prompt.digest] * n,
            "source": [part.source] * n,
            "message": pa.array([message.number for message in messages], pa.int32()),
            "dropped": pa.array([each.dropped for each in words], pa.int32()),
            "pieces": pa.array([list(message.pieces) for message in messages], pa.list_(pa.string())),
            "losses": pa.array([message.losses for message in messages], pa.list_(pa.float32())),
        }
    )
