"""Bombs end in one sentence that names the limit and the way out; the other files of the drop are read."""

import io
import pickle
import re
import zipfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from core.exchange.dropped.apart import DropApart, _Files, _Groups, _Kind, _State, default_limits
from core.exchange.dropped.examples import zipped
from core.exchange.dropped.files import DroppedFile, Gathered
from core.exchange.dropped.found import FoundFile, Reading, refusals
from core.exchange.workbook import workbook
from core.processes.confined import LimitReached, Limits
from tests.core.exchange.dropped.test_odd_files import csv
from tests.core.exchange.drops import Drop, written

GOOD = csv()
MEMORY = Limits(memory=400 << 20, seconds=20.0)


def read(tmp_path: Path, *files: tuple[str, bytes | str], limits: Limits = MEMORY) -> Reading:
    paths = written(tmp_path, dict(files))
    return DropApart(paths, scratch=tmp_path / "scratch", name=lambda path: path.name, limits=limits).read()


def npz_bomb() -> bytes:
    """Sixteen million questions in an archive of 100 kB."""
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": (8_000_000, 2)})
    into = io.BytesIO()
    with zipfile.ZipFile(into, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for side in ("cal", "test"):
            with archive.open(f"{side}_probs.npy", "w") as member:
                member.write(header.getvalue())
                for _ in range(128):
                    member.write(bytes(1_000_000))
            archive.writestr(f"{side}_labels.npy", b"")
    return into.getvalue()


def parquet_bomb() -> bytes:
    """A column of 400 million equal texts; a dictionary holds one of them."""
    into = io.BytesIO()
    column = pa.DictionaryArray.from_arrays(pa.array(np.zeros(4_000_000, dtype=np.int8)), pa.array(["x" * 400]))
    pq.write_table(pa.table({"p_A": column, "p_B": column, "label": column}), into, compression="zstd")
    return into.getvalue()


def eval_bomb() -> bytes:
    header = b'{"status": "success", "eval": {}}'
    return zipped({"header.json": header, "samples/1_epoch_1.json": b"[" + b" " * 80_000_000})


def xlsx_bomb() -> bytes:
    rows = b'<row><c t="inlineStr"><is><t>a</t></is></c><c t="inlineStr"><is><t>b</t></is></c></row>' * 1_500_000
    with zipfile.ZipFile(io.BytesIO(workbook({"t": pa.table({"a": [1], "b": [2]})}))) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    sheet = "xl/worksheets/sheet1.xml"
    return zipped(members | {sheet: members[sheet].replace(b"<sheetData>", b"<sheetData>" + rows)})


def pickle_bomb() -> bytes:
    """A list that holds the list before it twice, 40 times over."""
    value: list[object] = []
    for _ in range(40):
        value = [value, value]
    return pickle.dumps([{"id": 1, "logits_options": value}])


BOMBS = {
    "probs_m_qa_float32_base.npz": (npz_bomb, r"expected at most 1,000,000 questions, found 8,000,000; split it"),
    "t.parquet": (parquet_bomb, r"it needs more than 0\.39\d* GB of memory; split it, or use `hedge import"),
    "a.eval": (eval_bomb, r"expected at most 64,000,000 bytes in a member"),
    "t.json": (lambda: b"[" * 5_000_000, r"expected a whole JSON document"),
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_refused_and_the_rest_is_read(home, tmp_path, name):
    make, says = BOMBS[name]
    reading = read(tmp_path, (name, make()), ("good.csv", GOOD))
    assert [found_run.name for found_run in reading.runs] == ["good.csv"]
    ((sentence, names),) = refusals(reading)
    assert names == (name,)
    assert re.search(says, sentence), sentence
    assert "\n" not in sentence


@pytest.mark.parametrize(("name", "make"), [("t.xlsx", xlsx_bomb), ("a.pkl", pickle_bomb)])
def test_a_bomb_of_time_is_stopped(home, tmp_path, name, make):
    reading = read(tmp_path, (name, make()), ("good.csv", GOOD), limits=Limits(memory=400 << 20, seconds=0.5))
    assert [found_run.name for found_run in reading.runs] == ["good.csv"]
    assert [names for _, names in refusals(reading)] in ([(name,)], [])  # a pickle of shared lists holds no texts


def test_what_is_read_apart_equals_what_is_read_here(home, tmp_path):
    steps: list[str] = []
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text(GOOD.replace("0.1,0.8", "0.2,0.7") if name == "b.csv" else GOOD)
    paths = [tmp_path / "a.csv", tmp_path / "b.csv"]
    for place in ("here", "there"):
        (tmp_path / place).mkdir()
    drop = DropApart(paths, scratch=tmp_path / "there", limits=MEMORY)
    apart = drop.read(progress=lambda done, total, name: steps.append(name))
    here = Drop(paths, scratch=tmp_path / "here").read()
    assert [found_run.run.questions for found_run in apart.runs] == [found_run.run.questions for found_run in here.runs]
    assert [found_run.run.spec for found_run in apart.runs] == [found_run.run.spec for found_run in here.runs]
    assert list(refusals(apart)) == list(refusals(here))
    assert {str(path) for path in paths} <= set(steps)
    again = drop.read()
    assert [id(found_run.run) for found_run in again.runs] == [
        id(found_run.run) for found_run in apart.runs
    ]  # read once


def test_the_limits_are_those_of_the_settings(monkeypatch):
    monkeypatch.setenv("HEDGE_READ_MEMORY_GB", "2.5")
    assert default_limits().memory == int(2.5 * (1 << 30))
    assert default_limits(memory_gb=3).memory == 3 << 30


@pytest.mark.parametrize("kind", ["plain", "link", "dots"])
def test_a_path_outside_of_the_drop_is_refused(tmp_path, kind):
    """A process that a file has taken over names a file of the server, which a page would open for its visitor."""
    secret, scratch = tmp_path / "secret.csv", tmp_path / "out"
    secret.write_text("a,b\n")
    scratch.mkdir()
    (scratch / "link.csv").symlink_to(secret)
    (scratch / "honest.csv").write_text("a,b\n")
    path = {"plain": secret, "link": scratch / "link.csv", "dots": scratch / ".." / "secret.csv"}[kind]
    state = _State([(tmp_path / "in.zip", "in.zip")], scratch)
    with pytest.raises(LimitReached, match="which is not part of the drop"):
        _Files(Gathered((DroppedFile(path, "in.csv"),), ())).add_to(state)
    _Files(Gathered((DroppedFile(scratch / "honest.csv", "in.csv"),), ())).add_to(state)
    assert state.gathered is not None


def test_results_of_other_files_and_kinds_are_refused(tmp_path):
    state = _State([(tmp_path / "in.csv", "in.csv")], tmp_path)
    with pytest.raises(LimitReached, match="the kind 'shell'"):
        _Kind(tmp_path / "in.csv", "shell").add_to(state)
    with pytest.raises(LimitReached, match="results without their files"):
        _Groups(((("in.csv",), "key"),), (), (), ()).reading(state)
    other = FoundFile(DroppedFile(tmp_path / "other.csv", "other.csv"), "questions")
    with pytest.raises(LimitReached, match="which is not part of the drop"):
        _Groups((), (other,), (), ()).reading(state)
