"""Which runs a page opens with: those that are pinned, whatever a person has launched since."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from app.components.one_question.own_examples import RUN
from app.components.shared.runs import title
from app.showcase import showcase
from core.reports.prompting.experiments import PromptingExperiment
from core.runs import store
from core.runs.spec import RunSpec
from core.settings import ASSETS
from tests.conftest import synthetic_run
from tests.pages.conftest import Open, listed, opened_picker, page_text, pick, picked, sent

PAGES = ("alpha_lab", "learn", "one_question")
SHOWCASE = showcase().run


def shipped(run_id: str) -> str:
    """Move a run from the person's own to those that ship."""
    (store.ASSETS / "runs").mkdir(parents=True, exist_ok=True)
    shutil.move(store.folder_of(run_id), store.ASSETS / "runs" / run_id)
    assert store.is_bundled(run_id)
    return run_id


def pinned(run_id: str = SHOWCASE) -> str:
    """One of the pinned runs, among those that ship."""
    shutil.copytree(ASSETS / "runs" / run_id, store.ASSETS / "runs" / run_id)
    assert store.is_bundled(run_id)
    return run_id


def test_the_run_of_prompting_ships_and_was_asked_by_letter_too(home: Path):
    record = store.read_record(showcase().prompting)
    assert store.is_bundled(record.run_id)
    assert store.is_bundled(replace(record.spec, form="letters").run_id)
    assert record.spec.form == "cloze"


def test_the_pinned_runs_ship_and_differ_in_their_model_alone(home: Path):
    records = [store.read_record(run_id) for run_id in showcase().compared]
    assert [record.state for record in records] == ["done"] * 4
    assert all(store.is_bundled(record.run_id) for record in records)
    assert [record.spec.model for record in records] == ["pocket-8m-humble", "pocket-3m", "pocket-8m", "pocket-1m"]
    assert len({replace(record.spec, model="any") for record in records}) == 1


@pytest.mark.parametrize("page", PAGES)
def test_a_launched_run_does_not_become_the_default(open_page: Open, page: str):
    pinned()
    shipped(synthetic_run(model="pocket-1m"))
    own = synthetic_run(model="launched")
    app = open_page(page)
    assert app.query_params["run"] == SHOWCASE
    linked = open_page(page, run=own)
    assert linked.query_params["run"] == own
    pick(app, own)
    assert app.query_params["run"] == own


@pytest.mark.parametrize("page", PAGES)
def test_without_the_pinned_run_another_that_ships_is_the_default(open_page: Open, page: str):
    shipped(synthetic_run(model="pocket-1m"))
    latest = shipped(synthetic_run(model="pocket-3m"))
    synthetic_run(model="launched")
    assert open_page(page).query_params["run"] == latest


@pytest.mark.parametrize("page", PAGES)
def test_where_no_run_ships_the_latest_is_the_default(open_page: Open, page: str):
    synthetic_run(model="first")
    latest = synthetic_run(model="second")
    assert open_page(page).query_params["run"] == latest


def test_a_link_to_no_run_names_the_default(open_page: Open):
    pinned()
    synthetic_run(model="launched")
    app = open_page("alpha_lab", run="gone-run")
    assert app.query_params["run"] == SHOWCASE
    assert "There is no run gone-run here (it may have been deleted). The run pocket-8m" in page_text(app)


def test_an_own_question_is_calibrated_by_a_shipped_run_of_the_same_kind(open_page: Open, fake_home: Path):
    pinned(replace(RUN, task="rc").run_id)  # whose questions are about a text
    fits = pinned(RUN.run_id)
    own, another = synthetic_run(model=RUN.model, task="ds"), synthetic_run(model="launched")
    app = open_page("one_question", ask="own")
    assert app.selectbox(key="own_model").value == RUN.model
    assert calibrated_by(app) == fits
    app.selectbox(key="own_model").set_value("launched").run()
    assert calibrated_by(app) == another
    app.selectbox(key="own_model").set_value(RUN.model).run()
    assert calibrated_by(app) == fits
    assert calibrated_by(open_page("one_question", ask="own", run=own)) == own


def calibrated_by(app: AppTest) -> str:
    """The run that the automatic choice of a calibration names."""
    assert "chosen automatically" in page_text(app)
    named = app.button(key="calibrated_by_choose").label.replace("\\", "").removeprefix("Calibrated by ")
    (run_id,) = [name for name in store.run_ids() if title(store.read_record(name)) == named]
    return run_id


def own_and_pinned() -> tuple[str, tuple[str, ...]]:
    """A person's own run, and the pinned ones."""
    compared = tuple(map(pinned, showcase().compared))
    return synthetic_run(model="launched"), compared


@pytest.mark.parametrize(("page", "number"), [("compare", 2), ("calibration", 3)])
def test_pages_of_several_runs_open_with_the_pinned_run_and_its_sisters(open_page: Open, page: str, number: int):
    _, compared = own_and_pinned()
    app = open_page(page)
    assert tuple(picked(app)) == compared[:number]
    assert "runs" not in app.query_params


def test_without_the_pinned_runs_others_that_ship_are_compared(open_page: Open):
    ship = [shipped(synthetic_run(60, model=name, seed=7)) for name in ("first", "second")]
    synthetic_run(60, model="launched")
    assert sorted(picked(open_page("compare"))) == sorted(ship)


def test_prompting_opens_with_the_experiment_of_the_pinned_run(open_page: Open):
    for model in ("pocket-1m", "pocket-8m"):
        pinned(RunSpec(model=model, task="qa", form="cloze").run_id)
    own_and_pinned()
    app = open_page("prompting")
    assert app.query_params["experiment"] == PromptingExperiment.of(store.read_record(showcase().prompting).spec).key
    assert "pocket-8m · Question answering · 2 runs" in app.button(key="prompting_choose").label.replace("\\", "")
    opened_picker(app)
    # The group of the chosen one comes first, and then a person's own.
    assert listed(app)[:4] == [
        "pocket-1m :gray[2 runs]",
        "pocket-3m :gray[1 run]",
        "pocket-8m :gray[2 runs]",
        "pocket-8m-humble :gray[1 run]",
    ]


def test_exports_begin_with_the_pinned_run(open_page: Open):
    own_and_pinned()
    assert picked(open_page("data")) == [SHOWCASE]


def test_a_run_chosen_elsewhere_does_not_become_that_of_the_lesson(open_page: Open):
    pinned()
    own = synthetic_run(model="launched")
    app = open_page("alpha_lab", run=own)
    for page, run in (("learn", SHOWCASE), ("one_question", own), ("alpha_lab", own)):
        app.query_params.clear()
        app.switch_page(f"../pages/{page}.py").run()
        assert app.query_params["run"] == run
    app.query_params.clear()
    app.switch_page("../pages/learn.py").run()
    pick(app, own)
    assert app.query_params["run"] == own
    app.query_params.clear()
    app.switch_page("../pages/alpha_lab.py").run()
    pick(app, SHOWCASE)
    app.query_params.clear()
    app.switch_page("../pages/learn.py").run()
    assert app.query_params["run"] == own  # what was chosen for the lesson stays there


def kinds_of(app: AppTest) -> list[str]:
    """The kinds of question before and after the change of the Stream lab."""
    return list(sent(app, "names")["names"])


def test_the_stream_lab_opens_where_a_fixed_threshold_fails_and_links_open_as_before(open_page: Open):
    pinned()
    pinned(showcase().stream)
    kinds = ["Reading comprehension", "Question answering"]
    assert kinds_of(open_page("stream_lab")) == kinds
    assert kinds_of(open_page("stream_lab", run=SHOWCASE)) == kinds[::-1]
    assert kinds_of(open_page("stream_lab", gamma="10")) == kinds[::-1]
    assert kinds_of(open_page("stream_lab", alpha="200")) == kinds  # names nothing of a stream


def test_the_stream_lab_opens_with_the_run_chosen_on_another_page_and_keeps_its_own(open_page: Open):
    pinned()
    pinned(showcase().stream)
    own = synthetic_run(model="launched")

    def on(page: str) -> AppTest:
        app.query_params.clear()
        return app.switch_page(f"../pages/{page}.py").run()

    app = open_page("alpha_lab")
    assert kinds_of(on("stream_lab")) == ["Reading comprehension", "Question answering"]  # nobody has chosen a run
    assert on("alpha_lab").query_params["run"] == SHOWCASE
    pick(app, own)
    assert kinds_of(on("stream_lab")) == ["Question answering"]
    assert app.query_params["run"] == own
    pick(app, showcase().stream)
    assert on("alpha_lab").query_params["run"] == own
