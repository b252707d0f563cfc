"""The scored parts of a request on disk: a Parquet file of chunks, with one row per message.

A part (a system prompt and a conversation, or all choices) is a chunk (:mod:`core.storage.tables`). The columns are
``prompt``, ``source``, ``message``, ``dropped``, ``pieces`` and ``losses`` (nats). All figures come from them.
"""

import itertools
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from core.models.perplexity.figures import ScoredMessage
from core.models.perplexity.request import Part, Request
from core.models.perplexity.scoring import Scorer
from core.models.perplexity.server_scoring import ServedWords, ServerScorer
from core.models.perplexity.tokens import Words
from core.progress import Reporter
from core.storage.tables import read_part, sound_chunks, write_chunk, write_part


def score_missing(
    scorer: Scorer | ServerScorer, request: Request, folder: Path, reporter: Reporter
) -> tuple[float, dict[str, list[str]]]:
    """Score the parts that no earlier try finished, prompt by prompt.

    Returns the seconds it took, and the conversations with a message that a server does not answer, with the kind and
    the reason, by their hash: they are left out under all prompts. Raises :class:`~core.errors.InputError` if the words
    don't fit the model, and :class:`~core.errors.ServerError` if no conversation is left.
    """
    parts = list(request.parts())
    words: list[list[Any]] = [
        list(laid_out) for laid_out in scorer.lay_out(parts, mode=request.mode)
    ]  # each scorer's own
    for note in scorer.notes:
        reporter.log(note)
    if dropped := sum(each.dropped for laid_out in words for each in laid_out):
        reporter.log(f"messages of context left out because the model reads too little: {dropped:,}")

    def log(what: str) -> None:
        reporter.log(f"{what}; its messages are scored again")

    finished = set(sound_chunks(folder, fits=partial(misfit, parts), log=log))
    begun = {i: _begun(folder, i, parts, log) for i in range(len(parts)) if i not in finished}
    scoring = _Parts(folder, {i: (parts[i], words[i]) for i in begun}, begun)
    left = scoring.missing(scoring.parts)
    reporter.done = sum(len(part.windows) for part in parts) - len(left)
    reporter.expect(sum(len(words[i][j].tokens) for i, j in left))
    left_out: dict[str, list[str]] = {}
    for prompt, group in itertools.groupby(list(scoring.parts), key=lambda i: parts[i].prompt):
        of_prompt = [i for i in group if parts[i].source not in left_out]
        reporter.report("checking itself")
        check = scorer.begin([each for i in of_prompt for each in words[i]])
        for reason in check.refused:
            reporter.log(f"self-check refused {reason}")
        reporter.log(f"{prompt.name}: self-check passed by {check.rung}: {check.largest_difference:.2e}")
        for together in [of_prompt] if scorer.at_once else [[i] for i in of_prompt]:
            places = scoring.missing(together)
            try:
                messages = scorer.score([parts[i].windows[j] for i, j in places], [words[i][j] for i, j in places])
                for place, message in messages:
                    i, j = places[place]
                    scoring.add(i, j, message)
                    reporter.advance(1, len(words[i][j].tokens))
            finally:
                scoring.keep()
            for place, missing in (scorer.missing if isinstance(scorer, ServerScorer) else {}).items():
                i, j = places[place]
                number = parts[i].windows[j].number + 1
                left_out[parts[i].source] = [missing.kind, f"message {number}: {missing.reason}"]
                if parts[i].endings or not {part.source for part in parts} - left_out.keys():
                    raise missing.error
    return reporter.rate.seconds, left_out


class _Parts:
    """The ``parts`` that are not finished, by number; each is written when its last message is there.

    When a try stops, its unfinished parts are kept, because a server is paid for them.
    """

    def __init__(
        self, folder: Path, parts: dict[int, tuple[Part, Sequence[Any]]], begun: dict[int, dict[int, ScoredMessage]]
    ) -> None:
        self.folder = folder
        self.parts = parts
        self.made = begun
        for i in parts:
            self._write_if_finished(i)

    def missing(self, numbers: Iterable[int]) -> list[tuple[int, int]]:
        """The windows of these parts that have no message yet, as (part, window)."""
        return [(i, j) for i in numbers for j in range(len(self.parts[i][1])) if j not in self.made[i]]

    def add(self, i: int, j: int, message: ScoredMessage) -> None:
        """Take the message of a window."""
        self.made[i][j] = message
        self._write_if_finished(i)

    def keep(self) -> None:
        """Write down what there is of unfinished parts."""
        for i, windows in self.made.items():
            if 0 < len(windows) < len(self.parts[i][1]):
                write_part(
                    self.folder, i, self._table(i).append_column("window", pa.array(sorted(windows), pa.int32()))
                )

    def _write_if_finished(self, i: int) -> None:
        if len(self.made[i]) == len(self.parts[i][1]):
            write_chunk(self.folder, i, self._table(i))

    def _table(self, i: int) -> pa.Table:
        (part, words), messages = self.parts[i], self.made[i]
        return _table(part, [words[j] for j in sorted(messages)], [messages[j] for j in sorted(messages)])


def misfit(parts: Sequence[Part], i: int, table: pa.Table) -> str:
    """What is wrong with the table of a finished part; empty if nothing is."""
    numbers = [window.number for window in parts[i].windows] if i < len(parts) else []
    if [message.number for message in _messages(table)] != numbers:
        return "it has other messages"
    return _other_part(parts[i], table)


def _other_part(part: Part, table: pa.Table) -> str:
    named = {*zip(table["prompt"].to_pylist(), table["source"].to_pylist(), strict=True)}
    return "" if named == {(part.prompt.digest, part.source)} else "it is of another prompt or conversation"


def _begun(folder: Path, i: int, parts: Sequence[Part], log: Callable[[str], None]) -> dict[int, ScoredMessage]:
    """What an earlier try had of a part that it did not finish: messages by their window."""

    def misfit(i: int, table: pa.Table) -> str:
        numbers = [parts[i].windows[j].number for j in table["window"].to_pylist()]
        same = numbers == [message.number for message in _messages(table)]
        return _other_part(parts[i], table) if same else "it has other messages"

    table = read_part(folder, i, fits=misfit, log=log)
    return {} if table is None else dict(zip(table["window"].to_pylist(), _messages(table), strict=True))


def read(table: pa.Table) -> tuple[dict[tuple[str, str], tuple[ScoredMessage, ...]], int]:
    """The messages of each (prompt, source), and how many messages of context were dropped in all."""
    messages: dict[tuple[str, str], list[ScoredMessage]] = {}
    columns = table["prompt"].to_pylist(), table["source"].to_pylist()
    for prompt, source, message in zip(*columns, _messages(table), strict=True):
        messages.setdefault((prompt, source), []).append(message)
    return {key: tuple(scored) for key, scored in messages.items()}, sum(table["dropped"].to_pylist())


def _messages(table: pa.Table) -> list[ScoredMessage]:
    columns = (table[name].to_pylist() for name in ("message", "pieces", "losses"))
    return [
        ScoredMessage(number, tuple(pieces), np.array(losses, dtype=np.float32))
        for number, pieces, losses in zip(*columns, strict=True)
    ]


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
