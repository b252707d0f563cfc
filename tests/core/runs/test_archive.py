"""Finished runs at a URL, and what is forecast before a run is launched."""

from __future__ import annotations

import platform

import pytest

from core.errors import InputError, RunError
from core.runs import archive, forecast, store
from core.runs.execute import execute
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


def test_a_forecast_goes_by_runs_that_ended_here(home, monkeypatch):
    monkeypatch.setenv("HEDGE_FAKE_ENGINE", '{"ms": 1, "needs_gib": 0.25}')
    before, unknown = forecast.forecasts([spec(), spec(task="nothing")])
    assert (before.state, before.refused, before.questions) == ("", "", 130)
    assert (before.memory_gib, before.rate, before.seconds) == (0.25, None, None)
    assert before.disk_bytes == 130 * forecast.BYTES_A_QUESTION
    assert unknown.refused.startswith("unknown task 'nothing'")
    execute(spec())
    record = store.read_record(spec().run_id)
    seconds = record.provenance["scoring_seconds"]
    done, other = forecast.forecasts([spec(), spec(seed=1, samples=260)])
    assert done.state == "done"
    assert other.state == ""
    assert other.rate == pytest.approx(130 / seconds)
    assert other.seconds == pytest.approx(2 * seconds)
    # A rate of another host, or of another kind of run, says nothing here.
    store.update_record(spec().run_id, provenance=record.provenance | {"host": f"not {platform.node()}"})
    assert forecast.forecasts([spec(seed=1)])[0].rate is None


def test_what_is_too_large_is_refused_in_the_forecast(home, monkeypatch):
    monkeypatch.setenv("HEDGE_FAKE_ENGINE", '{"needs_gib": 100000}')
    (found,) = forecast.forecasts([spec()])
    assert "needs about 100000.0 GiB" in found.refused
