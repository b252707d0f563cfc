"""Making a jury on the Jury page: asked for, watched, cancelled, and what can't be made."""

import re
from dataclasses import replace

import pytest

from core.jury.pipeline import jury_spec
from core.jury.pipeline.jury_spec import JurySpec
from core.runs import engine, store
from core.runs.agent import liveness
from core.runs.execution import jury_run
from core.storage.file_lock import take
from pocket_world.jury import SPECS
from tests.pages.conftest import Open, click, page_text, unfolded


@pytest.fixture
def launched(monkeypatch: pytest.MonkeyPatch) -> list[JurySpec]:
    """The juries that the page launches; tests/core/runs/execution/test_jury_run.py has the real launch."""
    specs: list[JurySpec] = []
    monkeypatch.setattr("core.runs.jury_job.launch", specs.append)
    return specs


def test_what_is_offered_at_first_can_be_asked_for(open_page: Open, launched: list[JurySpec]) -> None:
    """The models that ship with Hedge, tuned for as long as they need to learn something."""
    app = unfolded(open_page("jury"), "make_jury_open")
    click(app, "Make this jury")
    (spec,) = launched
    assert replace(spec, samples=None) == SPECS["pocket-3m-instruct"]
    assert spec.samples >= len(jury_spec.drawn(SPECS["pocket-3m-instruct"]))


def test_a_jury_is_asked_for(open_page: Open, launched: list[JurySpec]) -> None:
    app = unfolded(open_page("jury"), "make_jury_open")
    app.text_input(key="jury_jurors").set_value("pocket-1m, pocket-1m")
    app.number_input(key="jury_samples").set_value(50)
    click(app, "Make this jury")
    assert launched == [JurySpec(base="pocket-3m-instruct", jurors=("pocket-1m", "pocket-1m"), samples=50)]


def test_one_juror_is_no_jury(open_page: Open, launched: list[JurySpec]) -> None:
    app = unfolded(open_page("jury"), "make_jury_open")
    app.text_input(key="jury_jurors").set_value("pocket-1m")
    click(app, "Make this jury")
    assert "at least two jurors, got 1" in page_text(app)
    assert launched == []


def test_one_at_work_is_watched_and_cancelled(open_page: Open) -> None:
    spec = JurySpec(base="pocket-1m", jurors=("pocket-1m",) * 2, samples=60)
    jury_spec.create(spec)
    damaged = jury_spec.folder_of(jury_spec.create(replace(spec, seed=1))) / "path.json"
    damaged.write_bytes(b"")  # it hides no other
    run = jury_run.spec_of(spec)
    folder = store.create(store.RunRecord(spec=run, state="running", created=1.0, started=2.0))
    store.write_progress(folder, store.Progress(7, 100, "tuning pocket-1m-2", None, None, "here"))
    lock = take(liveness.run_lock(folder))
    assert lock is not None
    with lock:
        app = unfolded(open_page("jury"), "make_jury_open")
        bars = [str(bar.proto.text).replace("\\", "") for bar in app.get("progress")]
        assert any("tuning pocket-1m-2 · 7 of 100" in bar for bar in bars)
        assert any(button.label == "Cancel" for button in app.button)
        assert any("path.json is damaged" in error.value.replace("\\", "") for error in app.error)
    store.update_record(run.run_id, state="failed", message=engine.states.LOST, ended=3.0)
    app = unfolded(open_page("jury"), "make_jury_open")
    assert "its process ended before the run did" in page_text(app).lower()
    assert "Resume" in [button.label for button in app.button]


def test_a_run_that_made_a_jury_is_on_no_page_of_answers_or_of_perplexity(open_page: Open) -> None:
    """Every page that lists runs opens with one of a jury among them; the others take it for none of theirs."""
    spec = JurySpec(base="pocket-1m", jurors=("pocket-1m",) * 2, samples=60)
    jury_spec.create(spec)
    run = jury_run.spec_of(spec)
    record = store.RunRecord(spec=run, state="done", created=1.0, started=2.0, ended=3.0)
    store.write_record(store.create(record), replace(record, provenance={"jury": "some-jury"}))
    for page in ("jury", "compare", "perplexity"):
        app = open_page(page)
        assert not app.exception, page
        assert run.run_id not in page_text(app), page
    app = unfolded(open_page("jury"), "make_jury_open")
    assert "Show this jury" in [link.proto.label for link in app.get("page_link")]
    text = page_text(app)  # with the words that every page has for a state and a precision
    assert "finished" in text
    assert "32-bit" in text
    assert not re.search(r"\b(done|queued|float32)\b", text)
