"""Files with a digest: what is not what was written is refused, and what has none is read as it is."""

import json
import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from core.errors import InputError
from core.runs import store
from core.storage import sealed
from core.storage.sealed import DamagedError
from core.storage.tables import read_table, write_table
from tests.conftest import synthetic_run, without_digests
from tests.damage.damages import flipped

pytestmark = pytest.mark.quick

VALUES = {"z": [1.5, None, float("inf")], "a": {"10": "é", "9": "\U0001f600"}, "n": 3}


def test_an_object_is_read_as_it_was_written(tmp_path: Path):
    path = tmp_path / "values.json"
    sealed.write_json(path, VALUES, indent=1)
    assert sealed.read_json(path) == VALUES
    assert set(json.loads(path.read_bytes())) == {*VALUES, "sealed"}
    path.write_text(json.dumps(VALUES))
    assert sealed.read_json(path) == VALUES  # of an older version


@pytest.mark.parametrize("content", [b"", b"\0" * 40, b"{", b"[]", b"\xff", b"[" * 100_000, b'{"a": 1, "sealed": 3}'])
def test_what_is_no_object_is_damaged(tmp_path: Path, content: bytes):
    path = tmp_path / "values.json"
    path.write_bytes(content)
    with pytest.raises(DamagedError):
        sealed.read_json(path)


def test_no_bit_of_an_object_changes_its_fields(tmp_path: Path):
    path = tmp_path / "values.json"
    sealed.write_json(path, VALUES)
    content = path.read_bytes()
    for bit in range(8 * len(content)):
        path.write_bytes(flipped(content, bit))
        try:
            values = sealed.read_json(path)
        except DamagedError:
            continue
        assert {name: values.get(name) for name in VALUES} == VALUES


def test_no_bit_of_a_table_changes_its_rows(tmp_path: Path):
    path = tmp_path / "rows.parquet"
    table = pa.table({"id": ["a", "b"], "logits": [[1.0, 2.0], [3.0, 4.0]]})
    write_table(path, table, table)
    content = path.read_bytes()
    rng = np.random.default_rng(0)
    for bit in rng.choice(8 * len(content), 1000, replace=False).tolist():
        path.write_bytes(flipped(content, bit))
        sealed._checked.cache_clear()  # all files have the same size, and the clock may not tell their times apart
        try:
            read = read_table(path)
        except InputError:
            continue
        assert read.to_pydict() == pa.concat_tables([table, table]).to_pydict()


def test_other_programs_read_a_table_with_a_digest(tmp_path: Path):
    path = tmp_path / "rows.parquet"
    table = pa.table({"id": ["a", "b"]})
    write_table(path, table)
    assert pq.read_table(path, page_checksum_verification=True).to_pydict() == table.to_pydict()


def test_a_run_is_not_read_with_the_files_of_another_one(home: Path):
    first, second = synthetic_run(seed=1), synthetic_run(seed=2)
    folder = home / "runs"
    (folder / first / "logits.parquet").write_bytes((folder / second / "logits.parquet").read_bytes())
    with pytest.raises(InputError, match="not the file that was written"):
        store.read_logits(first)
    record = folder / first / "run.json"
    record.write_bytes((folder / second / "run.json").read_bytes())
    with pytest.raises(InputError, match=f"run.json is that of the run {second}"):
        store.read_record(first)


def test_a_run_of_an_older_version_is_read_as_before(home: Path):
    name = synthetic_run()
    folder = home / "runs" / name
    logits = store.read_logits(name).logits
    older = pq.read_table(folder / "logits.parquet")
    pq.write_table(older, folder / "logits.parquet", compression="zstd")
    (folder / "run.json").write_text(json.dumps(without_digests(folder / "run.json")))
    assert np.array_equal(store.read_logits(name).logits, logits)
    assert store.read_record(name).files == {}


def change_in_place(path: Path, old: bytes, new: bytes) -> None:
    """Change bytes of a file that keeps its size and the time at which it says it was written."""
    before = path.stat()
    content = path.read_bytes()
    assert old in content
    with path.open("r+b") as file:
        file.write(content.replace(old, new, 1))
    while path.stat().st_ctime_ns == before.st_ctime_ns:
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def test_a_change_that_keeps_a_files_size_and_time_is_noticed(home: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(store, "SETTLED_NS", -(10**12))  # as if the files had been written long ago
    run_id = synthetic_run(12)
    record, logits = (home / "runs" / run_id / name for name in (store.RECORD, store.LOGITS))
    assert store.read_record(run_id).state == "done"
    store.read_logits(run_id)
    change_in_place(logits, b"PAR1", b"PAR2")
    with pytest.raises(store.UnreadableRunError, match="logits"):
        store.read_logits(run_id)
    change_in_place(record, b'"done"', b'"dome"')
    with pytest.raises(store.UnreadableRunError, match=r"run\.json"):
        store.read_record(run_id)
