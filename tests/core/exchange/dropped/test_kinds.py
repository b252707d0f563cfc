"""Every kind of file by its record: its examples are recognised, and read or refused in its own sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.exchange.dropped import question_files
from core.exchange.dropped.found import Reading, refusals
from core.exchange.dropped.kinds import KINDS
from core.exchange.dropped.reading import Drop
from core.exchange.dropped.recognition import kind_of
from core.perplexity import conversations
from core.reports.imported_figures import figures
from core.tasks.bank_names import ORIGINS

pytestmark = pytest.mark.quick

EXAMPLES = [(name, place) for name, kind in KINDS.items() for place in range(len(kind.examples))]
ALONE = {"results": "it holds means over all questions"}
"""Kinds of which a file alone is refused for what lacks beside it."""


def read(folder: Path, name: str, place: int) -> tuple[list[Path], Reading]:
    paths = []
    for file, content in KINDS[name].examples[place].files().items():
        path = folder / "files" / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        paths.append(path)
    (folder / "scratch").mkdir()
    return paths, Drop([folder / "files"], scratch=folder / "scratch", name=lambda path: "").read()


@pytest.mark.parametrize(("name", "place"), EXAMPLES)
def test_an_example_is_recognised_and_read(home, tmp_path, name, place):
    kind = KINDS[name]
    paths, reading = read(tmp_path, name, place)
    assert name in map(kind_of, paths)
    refused = [sentence for sentence, _ in refusals(reading)]
    if kind.place == "" or name in ALONE:
        assert refused == [refused[0]]
        assert refused[0].startswith(ALONE.get(name, kind.sentence))
    else:
        assert refused == []
        assert reading.unmapped == ()
    if kind.place == "runs" and name not in ALONE:
        (found,) = reading.runs
        assert found.run.spec.origin == (kind.origin or "table")
        assert figures(found.run).questions >= 4
    if kind.place == "jury":
        (jury,) = reading.juries
        assert len(jury.jury.judgements.jurors) >= 2
    if kind.place in ("new_run", "perplexity"):
        assert [found.kind for found in reading.elsewhere] == [name]
    if name == "questions":
        assert "question" in reading.elsewhere[0].read_as
        assert question_files.keep(paths[0], paths[0].name)
    if name == "conversation":
        assert conversations.read(paths[0])


def test_every_kind_says_what_becomes_of_its_files():
    for name, kind in KINDS.items():
        assert kind.sentence or kind.place in ("runs", "jury"), name
        assert kind.read is None or (kind.place == "runs" and kind.examples and kind.origin), name
        assert not kind.listed or kind.examples or name == "run", name


def test_names_of_banks_belong_to_origins_of_records():
    assert set(ORIGINS) <= {kind.origin for kind in KINDS.values()}
