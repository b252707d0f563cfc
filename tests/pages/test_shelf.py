"""The shelf on the Data page: choose, import, cancel, and the message at the end."""

import threading
from urllib.parse import parse_qsl, urlsplit

import pytest

from app.components.data import shelf_jobs
from core.jury.pipeline import jury_store
from core.runs import store
from core.settings import settings
from core.shelf.entries import entry
from tests.conftest import synthetic_run
from tests.core.exchange.judged_pair_files import pandalm
from tests.core.shelf import leaderboard_files
from tests.core.shelf.conftest import made_up, mirror  # noqa: F401  fixtures
from tests.core.shelf.mirror import Mirror
from tests.core.shelf.test_own_links import CSV
from tests.pages.conftest import Open, click, page_text

WAIT_S = 30


def brought_in(app, label: str = "Download and import (") -> None:
    """Press the button, and show the page once the job has ended."""
    click(app, label)
    end(app)


def end(app) -> None:
    job = shelf_jobs.current()
    assert job is not None
    assert job.ended.wait(WAIT_S)
    app.run()


@pytest.fixture
def page(made_up: Mirror, open_page: Open, monkeypatch):  # noqa: F811
    """Opens the Data page at the made-up entry, which alone is on the shelf."""
    monkeypatch.setattr("core.shelf.entries.folders", lambda: (settings().home / "shelf" / "entries",))
    return lambda: open_page("data", shelf="made-up")


def test_one_click_brings_a_model_in(page, made_up: Mirror):  # noqa: F811
    app = page()
    assert "Two models that do not exist." in page_text(app)
    assert "The authors state no licence" in page_text(app)
    assert "Each is checked against its recorded hash." in page_text(app)
    brought_in(app)
    assert "1 run imported from Made up." in page_text(app)
    assert "No published figures are recorded for these files." in page_text(app)
    (run,) = (name for name in store.run_ids() if not store.is_bundled(name))
    assert store.read_record(run).spec.model == "small-1B"
    click(app, "Dismiss")
    assert "imported from" not in page_text(app)
    assert "It is here already, so nothing is downloaded." in page_text(app)


def test_a_fault_is_one_sentence(page, made_up: Mirror):  # noqa: F811
    made_up.fault = "tampered"
    app = page()
    brought_in(app)
    (error,) = app.error
    message = error.value.replace("\\", "")
    assert message.startswith("Made up: output/small-1B/mmbench.pkl: expected a file with the SHA-256")
    assert message.endswith("nothing of it was read.")


def test_a_download_can_be_cancelled(page, made_up: Mirror, monkeypatch):  # noqa: F811
    monkeypatch.setenv("HEDGE_SHELF_STALL_SECONDS", "600")
    monkeypatch.setattr(shelf_jobs, "DRAIN_SECONDS", 0.1)
    shown, close = threading.Event(), shelf_jobs.ShelfJob.close_stalled
    monkeypatch.setattr(shelf_jobs.ShelfJob, "close_stalled", lambda job: shown.wait(WAIT_S) and close(job))
    made_up.fault = "stall"
    app = page()
    click(app, "Download and import (")
    job = shelf_jobs.current()
    assert job is not None
    assert made_up.stalled.wait(WAIT_S)  # before that a download ends between two files, at once
    app.run()
    assert not [button for button in app.button if button.label.startswith("Download and import")]
    click(app, "Cancel")
    assert job.stop.is_set()
    assert "Cancelling …" in page_text(app)
    shown.set()
    end(app)  # although the server sends nothing, and nobody waits for ten minutes
    assert "what was downloaded is kept" in app.error[0].value
    assert [name for name in store.run_ids() if not store.is_bundled(name)] == []


def test_a_persons_own_link(page, made_up: Mirror):  # noqa: F811
    made_up.files["/scores.csv"] = CSV
    app = page()
    link = next(field for field in app.text_input if field.label == "Link")
    link.input(f"{made_up.url}/scores.csv")
    brought_in(app, "Download and import the link")
    assert "1 run imported from scores.csv." in page_text(app).replace("\\", "")
    next(field for field in app.text_input if field.label == "Link").input("not a link")
    click(app, "Download and import the link")
    assert app.error[0].value.startswith("Type an https address")
    for odd, message in {
        "https://me:secret@example.org/x.csv?token=t": "example.org/x.csv: x.csv: the address is one with a user",
        "https://[oops/x.csv": "[oops/x.csv: the address is none that can be read",
        "https://10.0.0.1/x.csv": "10.0.0.1/x.csv: x.csv: the address is 10.0.0.1, which is private",
    }.items():
        next(field for field in app.text_input if field.label == "Link").input(odd)
        brought_in(app, "Download and import the link")
        assert app.error[0].value.replace("\\", "").startswith(message)
        assert "secret" not in page_text(app)
        assert "token" not in page_text(app)


def test_a_model_of_the_leaderboard(page, made_up: Mirror, open_page: Open, monkeypatch):  # noqa: F811
    monkeypatch.setenv("HF_ENDPOINT", made_up.url)
    leaderboard_files.add(made_up)
    app = open_page("data", shelf="open-llm-leaderboard")
    assert "asks for an agreement on the hub" in page_text(app)

    def look_up(model: str) -> None:
        next(field for field in app.text_input if field.label == "Model").input(model)
        click(app, "Look up")

    look_up("org/none")
    assert app.error[0].value.replace("\\", "").startswith("The Open LLM Leaderboard has no results of org/none")
    look_up("tiny")
    assert app.error[0].value.startswith("Expected a model of the Hugging Face hub")
    assert "shelf_model" not in app.query_params
    look_up("org/tiny-1B")
    assert not app.error
    assert app.query_params["shelf_model"] == "org/tiny-1B"
    linked = open_page("data", shelf="open-llm-leaderboard", shelf_model="org/tiny-1B")
    assert next(field for field in linked.text_input if field.label == "Model").value == "org/tiny-1B"
    assert next(multiselect for multiselect in linked.multiselect if multiselect.label == "Tasks").options == [
        "GPQA",
        "MMLU-Pro",
    ]
    gone = open_page("data", shelf="open-llm-leaderboard", shelf_model="org/none")
    assert gone.error[0].value.replace("\\", "").startswith("The Open LLM Leaderboard has no results of org/none")
    request_count = len(made_up.requests)
    gone.run()
    assert len(made_up.requests) == request_count, "the hub is asked once"
    tasks = next(multiselect for multiselect in app.multiselect if multiselect.label == "Tasks")
    assert (tasks.options, tasks.value) == (["GPQA", "MMLU-Pro"], ["gpqa"])
    brought_in(app)
    message = page_text(app).replace("\\", "")
    assert "1 run imported from Open LLM Leaderboard: org/tiny-1B. 1 of 1 published figures recomputed." in message


def test_a_jury_leads_to_the_jury_page(open_page: Open, mirror: Mirror):  # noqa: F811
    for file, content in zip(
        entry("pandalm").files, pandalm([(1, 1, 2), (2, 2, 2)], ["1", "2"], [1, 1]).values(), strict=True
    ):
        mirror.files[urlsplit(file.address).path] = content
    app = open_page("data", shelf="pandalm")
    brought_in(app)
    assert "2 juries imported from PandaLM. " in page_text(app)
    views = [link.proto.query_string for link in app.get("page_link")]
    ids = [name for name in jury_store.jury_ids() if name.startswith("pandalm")]
    assert len(ids) == 2
    assert all(f"jury={name}" in views for name in ids)


def test_an_entry_that_is_not_there(page, open_page: Open):
    app = open_page("data", shelf="none")
    assert "There is no none on the shelf" in app.warning[0].value


def test_a_link_chooses_a_model_and_a_data_set(open_page: Open):
    app = open_page("data", shelf="llm-uncertainty-bench", shelf_model="Mistral-7B", shelf_data="hellaswag_10k")
    chosen = [multiselect.value for multiselect in app.multiselect if multiselect.label in ("Models", "Data sets")]
    assert chosen == [["Mistral-7B-v0.1"], ["hellaswag_10k"]]
    app = open_page("data", shelf="llm-uncertainty-bench", shelf_model="none")
    assert "The link asks for none, which is not in this result set." in page_text(app)
    assert [multiselect.value for multiselect in app.multiselect if multiselect.label == "Data sets"] == [["mmlu_10k"]]


def test_what_is_chosen_stands_in_the_link(open_page: Open):
    app = open_page("data")

    def lists(app):
        return {
            multiselect.label: multiselect
            for multiselect in app.multiselect
            if multiselect.label in ("Models", "Data sets")
        }

    models = ["Mistral-7B-v0.1", "Llama-2-7b"]
    offered = lists(app)["Models"].options
    chosen = [next(label for label in offered if label.startswith(name[:10])) for name in models]
    lists(app)["Models"].set_value(chosen).run()
    lists(app)["Data sets"].set_value([]).run()
    assert "Choose at least one of each." in page_text(app)
    link = {name: values for name, values in app.query_params.items() if name.startswith("shelf")}
    assert link["shelf"] == "llm-uncertainty-bench"
    again = open_page("data", **link)
    assert (lists(again)["Models"].value, lists(again)["Data sets"].value) == (lists(app)["Models"].value, [])
    assert len(lists(again)["Models"].value) == 2
    lists(again)["Data sets"].set_value(["hellaswag_10k"]).run()
    assert again.query_params["shelf_data"] == "hellaswag_10k"


def test_three_clicks_lead_from_overview_to_a_published_models_sets(open_page: Open):
    """The link, the download with a model and a data set chosen, and the link to the imported run."""
    synthetic_run(60, task="qa@hub")
    links = {link.proto.label: link.proto.query_string for link in open_page("overview").get("page_link")}
    app = open_page("data", **dict(parse_qsl(links["Open the shelf: published results of models up to 72 B"])))
    chosen = {choice.label: choice.value for choice in app.multiselect}
    assert chosen == {"Models": ["Mistral-7B-v0.1"], "Data sets": ["mmlu_10k"]}
    assert app.button(key="shelf_bring").label.startswith("Download and import (")


def test_figures_that_authors_printed_stand_with_their_result_set(open_page: Open):
    """Also those of runs that read the wrong token, which no other page shows unasked."""
    synthetic_run(model="mine")
    for shelf, name, rows, words in (
        ("bluq", "bluq", 30, "read the wrong token"),
        ("llm-uncertainty-bench", "ye-2024", 80, "three prompting"),
    ):
        app = open_page("data", shelf=shelf)
        assert not app.dataframe
        app.session_state[f"published_{name}"] = True
        shown = app.run().dataframe[0].value
        assert (shown["source"] != "computed here").sum() >= rows
        assert shown["model"][shown["source"] == "computed here"].tolist() == ["mine"]
        assert words in page_text(app)
