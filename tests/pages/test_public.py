"""Pages of a public server: everything can be looked at, and nothing can be launched or changed."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from app import navigation
from core import access
from core.runs import store
from tests.conftest import synthetic_run
from tests.pages.conftest import Open


@pytest.fixture
def public(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A process that serves everyone. No jury ships, because its intervals take long."""
    monkeypatch.setattr("core.jury.pipeline.jury_store.ASSETS", home.parent / "assets")
    access.serve("public")
    yield home
    access.serve("local")


@pytest.mark.parametrize("name", ["one_question", "prompting", "perplexity", "jury", "data", "tokens"])
def test_a_page_shows_its_figures_and_launches_nothing(public: Path, open_page: Open, name: str):
    run_id = synthetic_run(60)
    page = open_page(name)
    assert not [error.value for error in page.error]
    assert not {"Launch", "Launch the first run", "Delete", "Import"} & {button.label for button in page.button}
    assert store.run_ids() == [run_id]


def test_what_launches_and_what_checks_the_machine_is_not_in_the_menu(public: Path, open_page: Open):
    assert [entry.title for entry in navigation.PAGES if not navigation.is_open(entry)] == ["New run", "Doctor"]
    page = open_page("new_run")
    assert any("but not launch runs or check the machine" in info.value for info in page.info)
    page = open_page("overview")
    assert any("There is no finished run yet" in info.value for info in page.info)
    assert not [button.label for button in page.button if "run" in button.label.lower()]


def test_data_says_what_can_not_be_done_and_still_exports(public: Path, open_page: Open):
    synthetic_run(60)
    page = open_page("data")
    assert any("you can look at everything but not import results" in info.value for info in page.info)
    assert not page.get("file_uploader")


def test_what_would_launch_is_a_sentence_and_no_button(public: Path, open_page: Open):
    page = open_page("perplexity")
    assert not [button.label for button in page.button if "easure" in button.label]
    assert any("but not measure what has not been measured" in info.value for info in page.info)
    assert not page.get("file_uploader")
    assert any("but not upload conversations" in caption.value for caption in page.caption)
