"""Finished runs at a URL."""

from dataclasses import replace
from pathlib import Path

import pytest

from core.errors import InputError, RunError
from core.runs import archive, store
from core.runs.store import RunRecord
from core.settings import settings
from tests.conftest import synthetic_run
from tests.core.runs.conftest import spec

pytestmark = pytest.mark.quick


@pytest.fixture(params=["file", "memory"])
def url(request, home, tmp_path, monkeypatch):
    address = f"file://{tmp_path}/bucket/hedge" if request.param == "file" else f"memory://{tmp_path.name}/hedge"
    monkeypatch.setenv("HEDGE_ARCHIVE_URL", address)
    return address


def archived(name: str) -> dict[str, bytes]:
    """The files of a run in the archive."""
    place, root = archive._place()
    return {Path(path).name: place.cat_file(path) for path in place.ls(f"{root}/{name}", detail=False)}


def test_a_finished_run_goes_to_the_archive_once_and_its_copy_is_the_run(url, monkeypatch, tmp_path):
    name = synthetic_run(seed=3)
    store.create(RunRecord(spec=spec(), state="running", created=0.0))
    assert archive.push() == [name]
    assert archive.push() == []
    record = store.read_record(name)
    assert archived(name) == {p.name: p.read_bytes() for p in store.folder_of(name).iterdir() if p.name != archive.MARK}
    store.update_record(name, ended=5.0)  # as a repeat would
    assert archive.push() == [name]
    assert archive.push() == []
    monkeypatch.setenv("HEDGE_HOME", str(tmp_path / "another"))
    (settings().runs / name).mkdir(parents=True)
    for file, content in archived(name).items():
        (settings().runs / name / file).write_bytes(content)
    assert store.read_record(name) == replace(record, ended=5.0)


def test_run_json_is_copied_last_so_that_half_a_run_has_none(url, monkeypatch):
    name = synthetic_run(seed=4)
    place, _ = archive._place()
    copied: list[str] = []
    real = type(place).put_file

    def put_file(self, source, target, **options):
        copied.append(Path(target).name)
        return real(self, source, target, **options)

    monkeypatch.setattr(type(place), "put_file", put_file)
    assert archive.push() == [name]
    assert set(copied) == {"questions.parquet", "logits.parquet", "run.json"}
    assert copied[-1] == "run.json"


def test_an_archive_that_cannot_be_used_is_one_sentence(home, tmp_path, monkeypatch):
    with pytest.raises(InputError, match="HEDGE_ARCHIVE_URL is not set"):
        archive.push()
    monkeypatch.setenv("HEDGE_ARCHIVE_URL", "nonsense://bucket")
    with pytest.raises(InputError, match=r"HEDGE_ARCHIVE_URL nonsense://bucket can't be used \(.*nonsense"):
        archive.push()
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("HEDGE_ARCHIVE_URL", f"file://{tmp_path}/file/below")
    synthetic_run()
    with pytest.raises(RunError, match=r"can't be copied to file://.*Not a directory"):
        archive.push()
