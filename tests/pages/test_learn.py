"""Learn: the lesson's component gets the run's data, the link's step and alpha, and links that lead on."""

import shutil
from pathlib import Path

import pytest

from app.components import learn
from app.showcase import showcase
from core.jury.pipeline import jury_store
from core.reports import lesson
from core.reports.lesson import LESSONS
from core.settings import ASSETS
from tests.conftest import synthetic_run
from tests.pages.conftest import Open, pick, sent

STEPS = lesson.load().steps


@pytest.mark.parametrize(("step", "alpha"), [("1", "100"), ("5", "255"), ("9", "1")])
def test_the_link_names_step_and_alpha(open_page: Open, step: str, alpha: str):
    run_id = synthetic_run()
    app = open_page("learn", run=run_id, step=step, alpha=alpha)
    given = sent(app, "steps")
    assert given["start"] == {
        "step": int(step),
        "alpha": int(alpha),
        "guesses": {},
        "answered": dict.fromkeys(LESSONS, 0),
        "sheet": False,
        "present": "0",
        "shown": "page",
    }
    assert [step["name"] for step in given["steps"]] == [step.name for step in STEPS]
    assert (app.query_params["run"], app.query_params["alpha"]) == (run_id, alpha)


def test_the_end_leads_on_with_the_run_and_alpha(open_page: Open):
    run_id = synthetic_run()
    given = sent(open_page("learn", run=run_id, alpha="255"), "steps")
    links = {link["name"]: link["href"] for link in given["links"]}
    assert links["alpha_lab"] == f"alpha_lab?run={run_id}&alpha=255"
    assert links["one_question"] == f"one_question?run={run_id}&alpha=255&ask=own"
    assert links["new_run"] == "new_run"


def test_guesses_are_kept_for_the_session_and_for_their_run(open_page: Open):
    first, second = synthetic_run(model="first"), synthetic_run(model="second")
    app = open_page("learn", run=first)
    guesses = {"certainty": {"value": 0.5, "truth": 0.6, "alpha": 100, "k": 6}}
    app.session_state[learn.GUESSES_KEY] = {first: guesses}
    app.run()
    assert sent(app, "steps")["start"]["guesses"] == guesses
    pick(app, second)
    assert sent(app, "steps")["start"]["guesses"] == {}


def test_a_damaged_jury_that_ships_is_named_with_the_way_out(
    open_page: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    jury = f"juries/{showcase().jury}"
    damaged = shutil.copytree(ASSETS / jury, tmp_path / jury)
    content = bytearray((damaged / "judgements.parquet").read_bytes())
    content[100] ^= 1
    (damaged / "judgements.parquet").write_bytes(content)
    monkeypatch.setattr(jury_store, "ASSETS", tmp_path)
    app = open_page("learn", lesson="juries")
    (error,) = app.error
    assert damaged.name in error.value.replace("\\", "")
    assert "install Hedge again" in error.value
