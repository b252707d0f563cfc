"""The one picker of runs: its line on a page, and the dialog with a search, chips and grouped runs."""

import shutil
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from app.components.shared import run_list, run_picker
from core.runs import store
from core.runs.spec import RunSpec
from core.settings import ASSETS
from tests.conftest import synthetic_run
from tests.pages.conftest import Open, groups_of_runs, listed, opened_picker, page_text, pick, picked, press


def ship(*specs: RunSpec) -> list[str]:
    """Copy runs that ship with Hedge into the home of the test. Returns their ids."""
    for spec in specs:
        shutil.copytree(ASSETS / "runs" / spec.run_id, store.ASSETS / "runs" / spec.run_id)
    return [spec.run_id for spec in specs]


def headings(app: AppTest) -> list[str]:
    """The bold lines of a page, without markdown's escapes."""
    return [markdown.value.replace("\\", "").strip("*") for markdown in app.markdown if markdown.value.startswith("**")]


def test_runs_are_grouped_by_their_questions_with_the_latest_of_ones_own_first(open_page: Open):
    ship(
        *(
            RunSpec(model=model, task=task, strategy=strategy)
            for task in ("rc", "qa")
            for model, strategy in (("pocket-8m", "task"), ("pocket-8m", "base"), ("pocket-3m-instruct", "base"))
        )
    )
    synthetic_run(model="first")
    synthetic_run(model="second", task="ds")
    third = synthetic_run(model="third")
    app = open_page("alpha_lab", run=third)
    opened_picker(app)
    assert headings(app)[-4:] == [
        "Yours · Question answering",
        "Yours · Summaries",
        "Question answering",
        "Reading comprehension",
    ]
    of_each_task = ["pocket-3m-instruct", "pocket-8m", "pocket-8m :gray[task instruction]"]
    assert listed(app) == ["third", "first", "second", *of_each_task, *of_each_task]
    app = open_page("alpha_lab", run=RunSpec(model="pocket-8m", task="rc").run_id)
    opened_picker(app)
    assert headings(app)[-4] == "Reading comprehension"  # the group of the chosen run comes first


def test_words_and_chips_narrow_the_list(open_page: Open):
    ship(RunSpec(model="pocket-8m", task="qa"), RunSpec(model="pocket-8m", task="qa", form="cloze"))
    synthetic_run(model="mine", task="ds")
    app = open_page("alpha_lab", run=RunSpec(model="pocket-8m", task="qa").run_id)
    page = opened_picker(app)
    app.text_input(key=f"{page}_search").set_value("QUESTION 8m text").run()
    assert listed(app) == ["pocket-8m :gray[by text]"]
    app.text_input(key=f"{page}_search").set_value("nothing like this").run()
    assert listed(app) == []
    assert "No run matches the search and the chips." in page_text(app)
    app.text_input(key=f"{page}_search").set_value("").run()
    app.pills(key=f"{page}_pick_sources").set_value(["launched"]).run()
    assert listed(app) == ["mine"]
    app.pills(key=f"{page}_pick_sources").set_value(["launched", "shipped"]).run()
    app.pills(key=f"{page}_pick_form").set_value(["letters"]).run()
    assert listed(app) == ["pocket-8m", "mine"]  # the group of the chosen run first
    assert not [pills for pills in app.pills if pills.key == f"{page}_pick_dtype"]  # all runs have the same precision


def test_a_run_that_has_not_finished_is_found_by_its_state_and_cannot_be_chosen(open_page: Open):
    synthetic_run(model="finished")
    failed = synthetic_run(model="broken")
    store.update_record(failed, state="failed", message="The model can't be read.")
    app = open_page("compare")
    page = opened_picker(app)
    assert app.pills(key=f"{page}_pick_states").value == ["done"]
    assert listed(app) == ["finished"]
    app.pills(key=f"{page}_pick_states").set_value(["failed"]).run()
    assert listed(app) == []
    assert "broken (failed)" in page_text(app)


def test_ticks_are_taken_together_and_in_their_order(open_page: Open):
    ids = [synthetic_run(model=f"model-{i}") for i in range(3)]
    app = open_page("compare", runs=ids[0])
    page = opened_picker(app)
    assert groups_of_runs(app)[0].value == [ids[0]]
    press(app, ids[2])
    press(app, ids[1])
    assert app.query_params["runs"] == ids[0]  # nothing is taken before the button is pressed
    app.text_input(key=f"{page}_search").set_value("model-1").run()  # as Enter does in the search
    assert app.query_params["runs"] == ids[0]
    assert app.button(key=f"{page}_take").label == "**Use 3 runs**"
    app.button(key=f"{page}_take").click().run()
    assert app.query_params["runs"] == ",".join([ids[0], ids[2], ids[1]])
    assert picked(app) == [ids[0], ids[2], ids[1]]
    assert not groups_of_runs(app)  # the dialog is closed


def test_a_choice_has_room_for_so_many_runs(open_page: Open, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(run_list, "FIRST_ROWS", 5)
    ids = [synthetic_run(20, model=f"model-{i:02}") for i in range(26)][::-1]
    app = open_page("compare", runs=ids[0])
    page = opened_picker(app)
    assert len(listed(app)) == 5
    app.button(key=f"{page}_more").click().run()
    assert len(listed(app)) == 10
    app.button(key=f"{page}_runs_own_Question answering_all").click().run()
    assert app.button(key=f"{page}_take").label == "**Use 24 runs**"
    assert not [button for button in app.button if (button.key or "").endswith("_all")]
    app.text_input(key=f"{page}_search").set_value("model-00").run()
    press(app, ids[-1])  # there is no room for it
    assert app.button(key=f"{page}_take").label == "**Use 24 runs**"
    assert groups_of_runs(app)[0].value == []


def test_the_line_names_the_first_runs_and_removes_one(open_page: Open, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(run_picker, "MOST_CHIPS", 2)
    ids = [synthetic_run(40, model=f"m{i}", task=task) for i, task in enumerate(("qa", "rc", "qa"))]
    app = open_page("calibration", runs=",".join(ids))
    assert picked(app) == [ids[0], ids[2]]
    assert "and 1 more" in page_text(app)
    assert headings(app)[0] == "Question answering"
    app.button(key=f"calibration_remove_{ids[0]}").click().run()
    assert app.query_params["runs"] == f"{ids[1]},{ids[2]}"


def test_one_click_adds_the_runs_with_the_same_questions(open_page: Open):
    first = synthetic_run(60, model="first", seed=3)
    same = synthetic_run(60, model="same", seed=3)
    synthetic_run(60, model="other", seed=4)
    app = open_page("compare", runs=first)
    app.button(key="compare_share").click().run()
    assert app.query_params["runs"] == f"{first},{same}"
    app.button(key="compare_share").click().run()
    assert [toast.value for toast in app.toast] == ["No other finished run was tested on these questions."]
    page = opened_picker(app)
    app.toggle(key=f"{page}_pick_questions").set_value(True).run()
    assert listed(app) == ["same", "first"]


def test_exports_have_a_choice_of_their_own_that_lives_in_their_link(open_page: Open, home: Path):
    first, two = synthetic_run(40, model="one"), synthetic_run(40, model="two")
    app = open_page("data", runs=first)
    pick(app, two, first)
    assert app.query_params["runs"] == f"{two},{first}"
    app.query_params.clear()
    app.switch_page("../pages/compare.py").run()
    assert "runs" not in app.query_params
    app = open_page("data", runs="none")
    assert not app.get("download_button")
    app.button(key="data_default").click().run()
    assert app.get("download_button")


def test_a_dialog_does_not_open_on_another_page(open_page: Open):
    synthetic_run(40)
    app = open_page("alpha_lab")
    opened_picker(app)
    assert app.text_input(key="alphalab_search")
    app.query_params.clear()
    app.switch_page("../pages/compare.py").run()
    assert not [field for field in app.text_input if (field.key or "").endswith("_search")]


def test_names_from_data_stay_text(open_page: Open):
    synthetic_run(40, model="nasty_*model* :red[x]")
    synthetic_run(40, model="other")
    app = open_page("compare")
    page = opened_picker(app)
    for names in (groups_of_runs(app)[0].options, app.pills(key=f"{page}_pick_models").options):
        assert r"nasty\_\*model\* \:red\[x\]" in names
