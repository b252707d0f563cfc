"""Finished runs at a URL."""

from __future__ import annotations

import pytest

from core.errors import InputError, RunError
from core.runs import store
from core.runs.storage import archive
from core.runs.store import RunRecord
from core.settings import settings
from tests.conftest import synthetic_run
from tests.core.runs.conftest import spec


@pytest.fixture(params=["file", "memory"])
def url(request, home, tmp_path, monkeypatch):
    found = f"file://{tmp_path}/bucket/hedge" if request.param == "file" else f"memory://{tmp_path.name}/hedge"
    monkeypatch.setenv("HEDGE_ARCHIVE_URL", found)
    return found


def test_a_finished_run_goes_to_the_archive_once_and_comes_back_the_same(url, monkeypatch, tmp_path):
    name = synthetic_run(seed=3)
    store.create(RunRecord(spec=spec(), state="running", created=0.0))
    assert archive.push() == [name]
    assert archive.push() == []
    assert archive.listed() == [name]
    content = {p.name: p.read_bytes() for p in store.folder_of(name).iterdir() if p.name != archive.MARK}
    monkeypatch.setenv("HEDGE_HOME", str(tmp_path / "another"))
    assert archive.pull(name) == name
    assert {p.name: p.read_bytes() for p in (settings().runs / name).iterdir()} == content
    assert archive.pull(name) == name  # again changes nothing
    with pytest.raises(InputError, match="there is no run 'nothing' in"):
        archive.pull("nothing")
    store.update_record(name, ended=5.0)  # as a repeat would
    assert archive.push() == [name]


def test_a_half_copied_run_is_not_there(url, monkeypatch):
    name = synthetic_run(seed=4)
    place, root = archive._place()
    place.makedirs(f"{root}/{name}", exist_ok=True)
    place.pipe_file(f"{root}/{name}/questions.parquet", b"half")
    assert archive.listed() == []
    assert archive.push() == [name]
    assert archive.listed() == [name]


def test_an_archive_that_cannot_be_used_is_one_sentence(home, tmp_path, monkeypatch):
    with pytest.raises(InputError, match="HEDGE_ARCHIVE_URL is not set"):
        archive.push()
    monkeypatch.setenv("HEDGE_ARCHIVE_URL", "nonsense://bucket")
    with pytest.raises(InputError, match=r"HEDGE_ARCHIVE_URL nonsense://bucket can't be used \(.*nonsense"):
        archive.listed()
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("HEDGE_ARCHIVE_URL", f"file://{tmp_path}/file/below")
    synthetic_run()
    with pytest.raises(RunError, match=r"can't be copied to file://.*Not a directory"):
        archive.push()
