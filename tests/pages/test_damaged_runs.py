"""A damaged run is a sentence with its name and the way out on every page and in every command, and hides no other."""

import json
import os
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from app import notices
from app.caches import run_cache
from core import access
from core.access import Actor, UserRole
from core.errors import AccessError
from core.runs import actions, engine, store, trash
from core.serving import monitoring
from hedge.cli import main
from tests.conftest import synthetic_run, without_digests
from tests.damaged import flip
from tests.pages.conftest import Open

Damage = Callable[[Path], object]


def _in_place(make: Damage) -> Damage:
    def damage(path: Path) -> None:
        path.unlink()
        make(path)

    return damage


DAMAGES: dict[str, Damage] = {
    "deleted": Path.unlink,
    "empty": lambda path: path.write_bytes(b""),
    "truncated": lambda path: os.truncate(path, path.stat().st_size // 2),
    "zero bytes": lambda path: path.write_bytes(bytes(path.stat().st_size)),
    "a flipped bit": flip,
    "noise": lambda path: path.write_bytes(bytes(range(256)) * 8),
    "a folder": _in_place(Path.mkdir),
    "a pipe": _in_place(os.mkfifo),
    "a loop of links": _in_place(lambda path: path.symlink_to(path.name)),
}


def _with(**fields: object) -> Damage:
    """run.json of an older version with other fields."""

    def damage(path: Path) -> None:
        values = without_digests(path)
        for name, value in fields.items():
            place, _, field = name.rpartition("__")
            (values[place] if place else values)[field] = value
        path.write_text(json.dumps(values))

    return damage


FORMS: dict[str, Damage] = {
    "no object": lambda path: path.write_text("[]"),
    "nested deeply": lambda path: path.write_text("[" * 100_000),
    "an id of another run": _with(id="other-qa-0123456789"),
    "no spec": _with(spec=None),
    "a spec of texts": _with(spec__shots="2"),
    "another seed": _with(spec__seed=7),
    "a time as a text": _with(created="yesterday"),
    "no number as a time": _with(ended=float("nan")),
    "a time beyond all calendars": _with(ended=1e300),
    "a state as a list": _with(state=["done"]),
    "no provenance": _with(provenance=None),
    "a provenance of texts": _with(provenance={"engine": "cpu"}),
    "other numbers": _with(provenance={"bounded_questions": "3"}),
    "half of what was scored": _with(provenance={"scored": {"questions": 5}, "scoring_seconds": 3.0}),
}


def _older(path: Path) -> None:
    """The record as an older version wrote it, so that no digest tells what was damaged."""
    record = path.with_name("run.json")
    record.write_text(json.dumps(without_digests(record)))


def _other_columns(path: Path) -> None:
    table = pq.read_table(path)
    pq.write_table(table.rename_columns([f"{name}?" for name in table.column_names]), path)


def _bytes_for_texts(path: Path) -> None:
    """Texts that are no UTF-8, which is only noticed where they are read."""
    table = pq.read_table(path)
    ends = pa.py_buffer(np.arange(len(table) + 1, dtype=np.int32).tobytes())
    texts = pa.Array.from_buffers(pa.string(), len(table), [None, ends, pa.py_buffer(b"\xff" * len(table))])
    pq.write_table(table.set_column(table.column_names.index("question"), "question", texts), path)


def _words(text: str) -> str:
    """Markdown as a person reads it."""
    return text.replace("\\", "")


FILES = ("questions.parquet", "logits.parquet", "run.json")
CASES = [
    *((file, name, False) for file in FILES for name in DAMAGES),
    *((file, name, True) for file in FILES for name in DAMAGES if name != "a flipped bit"),  # nothing tells it there
    *(("run.json", name, True) for name in FORMS),
]


@pytest.fixture
def three(home: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Three runs; the one in the middle will be damaged. None ships."""
    monkeypatch.setattr("core.runs.store.ASSETS", home.parent / "assets")
    return [synthetic_run(24, model=model) for model in ("first", "damaged", "last")]


@pytest.mark.parametrize(("file", "name", "older"), CASES)
def test_a_damaged_file_is_one_sentence_and_hides_no_other_run(
    three: list[str], home: Path, capsys: pytest.CaptureFixture[str], file: str, name: str, older: bool
):
    first, damaged, last = three
    path = home / "runs" / damaged / file
    if older:
        _older(path)
    (DAMAGES | FORMS)[name](path)
    listed = run_cache.runs()
    assert {record.run_id for record in listed.records} == {first, last}
    (sentence,) = map(str, listed.problems)
    assert sentence.startswith(f"Run {damaged} is damaged, because its {file} ")
    assert "; delete the run and " in sentence
    assert listed.problems[0].may_delete
    assert len(sentence) < 300
    wanted = sentence.removeprefix("Run ").removesuffix(".")
    assert main(["runs"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if damaged in line] == [f"unreadable {wanted}"]
    assert len(lines) == 3
    assert main(["report", *three]) == main(["compare", *three]) == 1
    printed = capsys.readouterr()
    assert printed.err == f"hedge: run {wanted}\n" * 2
    assert first in printed.out
    assert last in printed.out
    assert damaged not in printed.out
    assert main(["report", damaged]) == 2
    assert capsys.readouterr().err == f"hedge: run {wanted}\n"
    assert main(["delete", damaged]) == 0
    assert not run_cache.runs().problems
    assert not path.parent.is_symlink()
    assert not path.parent.exists()


@pytest.mark.parametrize(
    ("file", "damage"),
    [
        ("logits.parquet", _other_columns),
        ("questions.parquet", _other_columns),
        ("questions.parquet", _bytes_for_texts),
    ],
)
def test_what_only_reading_notices_is_shown_on_every_page_from_then_on(
    open_page: Open, home: Path, file: str, damage: Damage
):
    first, damaged = (synthetic_run(24, model=model) for model in ("first", "damaged"))
    path = home / "runs" / damaged / file
    whole = path.read_bytes()
    _older(path)
    damage(path)
    app = open_page("compare", runs=f"{first},{damaged}")
    if damage is _bytes_for_texts:  # Compare reads no texts of runs before a person asks for them
        app = open_page("one_question", run=damaged)
    assert not app.error
    assert sum(f"its {file} " in _words(each.value) for each in app.warning) == 1
    for page in ("overview", "new_run"):
        app = open_page(page)
        assert not app.error
        (warning,) = app.warning
        assert _words(warning.value).startswith(f"Run {damaged} is damaged, because its {file} ")
    path.write_bytes(whole)
    assert not open_page("overview").warning
    assert len(run_cache.runs().records) == 2


@pytest.mark.parametrize(("file", "name"), [("run.json", "deleted"), ("logits.parquet", "a flipped bit")])
def test_pages_name_it_once_and_a_button_deletes_it(open_page: Open, home: Path, file: str, name: str):
    first, damaged, last = (synthetic_run(24, model=model) for model in ("first", "damaged", "last"))
    assert len(run_cache.runs().records) == 3  # seen whole before
    DAMAGES[name](home / "runs" / damaged / file)
    for page in ("overview", "compare", "new_run", "alpha_lab"):
        app = open_page(page)
        assert not app.error
        (warning,) = app.warning
        assert _words(warning.value).startswith(f"Run {damaged} is damaged, because its {file} ")
    assert {record.run_id for record in run_cache.runs().finished} == {first, last}
    app.button(key=f"delete_unreadable_{damaged}").click().run()
    assert not app.warning
    assert [run.run_id for run in trash.binned()] == [damaged]


@pytest.mark.parametrize("name", ["empty", "zero bytes", "noise", "a folder", "a pipe", "a loop of links"])
def test_a_damaged_progress_or_log_is_none(three: list[str], home: Path, name: str):
    run_id = three[1]
    store.update_record(run_id, state="running", ended=None)
    for file in ("progress.json", "log.txt"):
        path = home / "runs" / run_id / file
        path.write_text("{}")
        DAMAGES[name](path)
    assert store.read_progress(run_id) is None
    assert isinstance(store.read_log(run_id), list)
    assert engine.status(run_id).progress is None
    assert {now.run_id for now in engine.statuses()} <= {run_id}
    assert b"hedge_runs{" in monitoring.exposition(sessions=0)
    store.end(run_id, "failed", "stopped")
    assert main(["delete", run_id]) == 0


def test_many_damaged_runs_take_no_more_room_than_a_few(open_page: Open, home: Path):
    ids = [synthetic_run(8, model=f"m{i}") for i in range(6)]
    for run_id in ids[:5]:
        (home / "runs" / run_id / "run.json").write_text("{}")
    app = open_page("overview")
    assert len(app.warning) == notices.MOST
    assert [each.label for each in app.expander if "can't be read" in each.label] == ["2 more runs can't be read"]


@pytest.mark.parametrize(
    ("actor", "may", "way_out"),
    [
        (Actor("ann", UserRole.VIEWER), set(), run_cache.ASK),
        (Actor("ann", UserRole.LAUNCHER), {"logits.parquet"}, "delete the run and repeat it"),
        (Actor("ann", UserRole.ADMINISTRATOR), {"logits.parquet", "run.json"}, "delete the run and repeat it"),
    ],
)
def test_only_who_may_delete_it_is_told_to(
    three: list[str], home: Path, request: pytest.FixtureRequest, actor: Actor, may: set[str], way_out: str
):
    for run_id, file in zip(three, ("logits.parquet", "run.json"), strict=False):
        store.update_record(run_id, provenance={"launched_by": "ann"})
        (home / "runs" / run_id / file).write_bytes(b"")
    request.addfinalizer(lambda: access.serve("local"))
    access.serve("login", whose=lambda: actor)
    damaged = run_cache.runs().problems
    deletable = " ".join(each.reason for each in damaged if each.may_delete)
    assert {file for file in ("logits.parquet", "run.json") if file in deletable} == may
    assert f"; {way_out}." in next(str(each) for each in damaged if "logits" in str(each))
    for each in damaged:
        with nullcontext() if each.may_delete else pytest.raises(AccessError):
            actions.delete(each.run_id)
