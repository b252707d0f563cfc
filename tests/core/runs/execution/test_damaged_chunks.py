"""Files of an unfinished run that are damaged: the run makes them again, and is equal to one that was not disturbed."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from core.errors import InputError, RunCancelled
from core.runs import store
from core.runs.execution.execute import execute
from core.runs.spec import RunSpec
from core.settings import settings
from core.storage import tables
from core.storage.tables import finished_chunks
from tests.damaged import flip

pytestmark = pytest.mark.quick

SPEC = RunSpec(model="fake", task="qa", shots=2)
WRITING = RunSpec(model="fake", task="qa", shots=2, repeats=2)


def folder_of(spec: RunSpec) -> Path:
    return settings().runs / spec.run_id


def stopped(spec: RunSpec, *, chunks: int = 1) -> Path:
    """Execute a run until it has finished this many chunks; returns its folder."""
    with pytest.raises(RunCancelled):
        execute(spec, cancelled=lambda: len(finished_chunks(folder_of(spec))) >= chunks)
    return folder_of(spec)


def stopped_writing() -> Path:
    """Execute :data:`WRITING` until ten answers are written; returns their file."""
    path = folder_of(WRITING) / "chunks" / store.WRITTEN
    with pytest.raises(RunCancelled):
        execute(WRITING, cancelled=lambda: path.exists() and path.read_bytes().count(b"\n") >= 10)
    return path


def undisturbed(spec: RunSpec, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Execute the run in a home of its own; returns its folder."""
    monkeypatch.setenv("HEDGE_HOME", str(tmp_path / "undisturbed"))
    execute(spec)
    return folder_of(spec)


def assert_equal(folder: Path, other: Path) -> None:
    names = sorted(path.name for path in other.glob("*.parquet"))
    assert sorted(path.name for path in folder.glob("*.parquet")) == names
    for name in names:
        assert (folder / name).read_bytes() == (other / name).read_bytes()


def change(path: Path, to: Callable[[pa.Table], pa.Table]) -> None:
    """Another table in the place of one, written as Hedge writes it."""
    tables.write_table(path, to(tables.read_table(path)))


def _fewer_options(table: pa.Table) -> pa.Table:
    return table.set_column(1, "logits", pa.array([row[:-1] for row in table["logits"].to_pylist()]))


def _older(path: Path) -> None:
    """A chunk without a digest, of an older version, that is cut off."""
    pq.write_table(tables.read_table(path), path)
    path.write_bytes(path.read_bytes()[:-20])


DAMAGES: dict[str, Callable[[Path], object]] = {
    "truncated": lambda path: path.write_bytes(path.read_bytes()[:700]),
    "empty": lambda path: path.write_bytes(b""),
    "zeros": lambda path: path.write_bytes(bytes(path.stat().st_size)),
    "a bit": flip,
    "no table": lambda path: path.write_text("{}"),
    "older": _older,
    "other questions": lambda path: change(
        path, lambda table: table.set_column(0, "id", pa.array([f"x{i}" for i in range(len(table))]))
    ),
    "other order": lambda path: change(path, lambda table: table.take([1, 0, *range(2, len(table))])),
    "fewer questions": lambda path: change(path, lambda table: table.slice(1)),
    "fewer options": lambda path: change(path, _fewer_options),
    "no logits": lambda path: change(path, lambda table: table.drop_columns(["logits"])),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_chunk_is_scored_again(fake, monkeypatch, tmp_path, damage):
    folder = stopped(SPEC, chunks=2)
    DAMAGES[damage](folder / "chunks" / "000000.parquet")
    heard = []
    execute(SPEC, on_progress=heard.append)
    log = store.read_log(SPEC.run_id)
    assert sum("000000.parquet is damaged (" in line and "scored again" in line for line in log) == 1
    assert not any("000001.parquet" in line for line in log)
    assert any("continues after 50 questions" in line for line in log)  # what is damaged does not count as done
    assert min(p.done for p in heard if p.stage == "scoring") == 55
    assert_equal(folder, undisturbed(SPEC, monkeypatch, tmp_path))


def test_a_chunk_with_other_columns_than_the_others_is_scored_again(fake, monkeypatch, tmp_path):
    folder = stopped(SPEC, chunks=3)
    change(folder / "chunks" / "000001.parquet", lambda table: table.drop_columns(["top_token"]))
    execute(SPEC)
    assert sum("000001.parquet is damaged (it has not the columns" in line for line in store.read_log(SPEC.run_id)) == 1
    assert_equal(folder, undisturbed(SPEC, monkeypatch, tmp_path))


def test_files_beside_the_chunks_are_not_taken_for_some(fake, monkeypatch, tmp_path):
    folder = stopped(SPEC)
    for name in ("000000 (copy).parquet", "000009.parquet", "part-000001.parquet"):
        shutil.copy(folder / "chunks" / "000000.parquet", folder / "chunks" / name)
    execute(SPEC)
    assert_equal(folder, undisturbed(SPEC, monkeypatch, tmp_path))


@pytest.mark.parametrize("damage", ["truncated", "a bit", "gone"])
def test_a_chunk_that_is_damaged_while_the_run_is_at_work_is_scored_again_in_the_same_try(
    fake, monkeypatch, tmp_path, damage
):
    broken = []

    def hear(progress):
        chunk = folder_of(SPEC) / "chunks" / "000000.parquet"
        if progress.done == progress.total and not broken:
            broken.append(damage)
            (DAMAGES | {"gone": Path.unlink})[damage](chunk)

    execute(SPEC, on_progress=hear)
    assert broken
    assert_equal(folder_of(SPEC), undisturbed(SPEC, monkeypatch, tmp_path))


def test_a_disk_that_damages_every_chunk_ends_the_run_with_a_sentence(fake, monkeypatch):
    write = store.write_chunk

    def writing(folder, index, scored):
        write(folder, index, scored)
        flip(folder / "chunks" / f"{index:06d}.parquet")

    monkeypatch.setattr(store, "write_chunk", writing)
    with pytest.raises(InputError, match=r"000000\.parquet is damaged .* each time it is written; check the disk"):
        execute(SPEC)
    monkeypatch.setattr(store, "write_chunk", write)
    execute(SPEC)
    assert len(store.read_logits(SPEC.run_id).ids) == 128


@pytest.mark.parametrize("damage", ["truncated", "a bit", "no table", "fewer questions"])
def test_the_options_on_their_own_are_scored_again_where_their_file_is_damaged(fake, monkeypatch, tmp_path, damage):
    spec = RunSpec(model="fake", task="qa", form="cloze")
    folder = stopped(spec)
    DAMAGES[damage](folder / store.BARE)
    execute(spec)
    assert sum(f"{store.BARE} is damaged" in line for line in store.read_log(spec.run_id)) == 1
    assert_equal(folder, undisturbed(spec, monkeypatch, tmp_path))


@pytest.mark.parametrize("file", [store.BARE, "questions.parquet"])
@pytest.mark.parametrize("at_work", [True, False])
def test_other_files_that_are_damaged_are_made_again(fake, monkeypatch, tmp_path, file, at_work):
    spec = RunSpec(model="fake", task="qa", form="cloze")
    if not at_work:
        flip(stopped(spec) / file)
    execute(spec, on_progress=lambda now: at_work and now.done == now.total > 0 and flip(folder_of(spec) / file))
    assert store.read_record(spec.run_id).state == "done"
    assert_equal(folder_of(spec), undisturbed(spec, monkeypatch, tmp_path))


LINES: dict[str, Callable[[list[bytes]], bytes]] = {
    "cut off": lambda lines: b"\n".join(lines)[:-20],
    "no text": lambda lines: b"\n".join([b"\xff\xfe", *lines[1:]]) + b"\n",
    "zeros": lambda lines: b"\n".join([bytes(80), *lines[1:]]) + b"\n",
    "another letter": lambda lines: b"\n".join([lines[0].replace(b'" ', b'"  '), *lines[1:]]) + b"\n",
    "another question": lambda lines: b"\n".join([*lines, b'{"id": "nobody", "texts": [" A", " A"]}']) + b"\n",
    "joined": lambda lines: b" ".join(lines[:2]) + b"\n" + b"\n".join(lines[2:]) + b"\n",
}


@pytest.mark.parametrize("damage", LINES)
def test_a_damaged_line_of_written_answers_is_asked_again_and_no_other(fake, monkeypatch, tmp_path, damage):
    spec, path = WRITING, stopped_writing()
    lines = path.read_bytes().splitlines()
    assert len(lines) == 10
    path.write_bytes(LINES[damage](lines))
    heard = []
    execute(spec, on_progress=lambda now: heard.append(now.stage))
    assert sum(f"of {store.WRITTEN} is damaged" in line for line in store.read_log(spec.run_id)) == 1
    first = next(stage for stage in heard if stage.startswith("writing answers, "))
    undamaged = {"joined": 8, "another question": 10}.get(damage, 9)
    assert first == f"writing answers, {undamaged + 1} of 64"
    assert_equal(folder_of(spec), undisturbed(spec, monkeypatch, tmp_path))


def test_written_answers_of_an_older_version_are_kept(fake):
    spec, path = WRITING, stopped_writing()
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    rows[0]["texts"] = [" of an older version"] * 2
    path.write_text("".join(json.dumps({"id": row["id"], "texts": row["texts"]}) + "\n" for row in rows))
    execute(spec)
    assert not any("damaged" in line for line in store.read_log(spec.run_id))
    assert store.read_written(spec.run_id)["text"].to_pylist().count(" of an older version") == 2
