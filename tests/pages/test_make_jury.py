"""Making a jury from the New run page: asked for, watched, cancelled, and what can't be made."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from core.runs.agent.file_lock import take
from core.runs.juries import jury_pipeline
from core.runs.juries.jury_pipeline import PathSpec
from pocket_world.jury import SPECS
from tests.pages.conftest import Open, said


@pytest.fixture
def launched(monkeypatch: pytest.MonkeyPatch) -> list[PathSpec]:
    """What was asked for; tests/core/runs/juries/test_jury_pipeline.py has the real launch."""
    asked: list[PathSpec] = []
    monkeypatch.setattr("core.runs.juries.jury_job.launch", asked.append)
    return asked


def opened(open_page: Open):
    app = open_page("new_run")
    app.session_state["make_jury_open"] = True
    return app.run()


def test_what_is_offered_at_first_can_be_asked_for(open_page: Open, launched: list[PathSpec]) -> None:
    """The models that ship with Hedge, tuned for as long as they need to learn something."""
    app = opened(open_page)
    next(button for button in app.button if button.label == "Make this jury").click().run()
    assert not app.exception
    (spec,) = launched
    assert replace(spec, samples=None) == SPECS["pocket-1m"]
    assert spec.samples >= len(jury_pipeline.drawn(SPECS["pocket-1m"]))


def test_a_jury_is_asked_for(open_page: Open, launched: list[PathSpec]) -> None:
    app = opened(open_page)
    app.text_input(key="jury_jurors").set_value("pocket-1m, pocket-1m")
    app.number_input(key="jury_samples").set_value(50)
    next(button for button in app.button if button.label == "Make this jury").click().run()
    assert not app.exception
    assert launched == [PathSpec(base="pocket-1m", jurors=("pocket-1m", "pocket-1m"), samples=50)]


def test_one_juror_is_no_jury(open_page: Open, launched: list[PathSpec]) -> None:
    app = opened(open_page)
    app.text_input(key="jury_jurors").set_value("pocket-1m")
    next(button for button in app.button if button.label == "Make this jury").click().run()
    assert "at least two jurors, got 1" in said(app)
    assert launched == []


def test_one_at_work_is_watched_and_cancelled(open_page: Open) -> None:
    spec = PathSpec(base="pocket-1m", jurors=("pocket-1m",) * 2, samples=60)
    path_id = jury_pipeline.create(spec)
    folder = jury_pipeline.folder_of(path_id)
    state = {"stage": "tune", "state": "running", "done": 7, "total": 100, "what": "pocket-1m-2", "losses": [0.7, 0.5]}
    (folder / "state.json").write_text(json.dumps(state))
    lock = take(folder / "lock")
    assert lock is not None
    with lock:
        app = opened(open_page)
        assert not app.exception
        assert "tuning pocket-1m-2 · 7 of 100" in str(app.get("progress")[0].proto.text).replace("\\", "")
        next(button for button in app.button if button.label == "Cancel").click().run()
        assert (folder / "cancel").exists()
    app = opened(open_page)
    assert "its process was stopped" in said(app).lower()
    assert "Go on" in [button.label for button in app.button]
