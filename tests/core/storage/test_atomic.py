import pytest

from core.errors import RunLostError
from core.storage.atomic import drop_parts, guarded, replacing, write_atomically

pytestmark = pytest.mark.quick


def test_writing_leaves_no_parts_behind(tmp_path):
    path = tmp_path / "x.json"
    write_atomically(path, b"1")
    with pytest.raises(FileNotFoundError), replacing(path) as part:
        part.write_bytes((tmp_path / "missing").read_bytes())
    assert path.read_bytes() == b"1"
    assert list(tmp_path.iterdir()) == [path]


def test_a_guard_prevents_lasting_writes_alone(tmp_path):
    def refuse():
        raise RunLostError("the run was given to another worker")

    with guarded(refuse):
        with pytest.raises(RunLostError):
            write_atomically(tmp_path / "run.json", b"1")
        write_atomically(tmp_path / "progress.json", b"1", lasting=False)
    write_atomically(tmp_path / "log.txt", b"1")  # the guard has gone with its block
    assert sorted(path.name for path in tmp_path.iterdir()) == ["log.txt", "progress.json"]


def test_parts_of_a_killed_writer_are_dropped(tmp_path):
    (tmp_path / "chunks").mkdir()
    (tmp_path / "chunks" / ".000000.parquet.0a.part").write_bytes(b"half")
    (tmp_path / "whole.part").write_bytes(b"not one of ours")
    drop_parts(tmp_path)
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["chunks", "whole.part"]
