"""Checks of every page: it never imports torch, and users never see a traceback or an id."""

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from app.navigation import MENU, PAGES
from core.settings import ROOT
from tests.conftest import synthetic_run
from tests.pages.conftest import Open, components, page_text

PREPARED = """
from functools import partial
from app import background
from app.components.doctor import doctor_cache
from core.runs.answering import client
from core.jury import experiment
from core.runs import engine
# A page is looked at as it opens: what is computed beside it would arrive later.
background.start = lambda awaited: None
# Nor does it wait for a model to be loaded or for the machine to be examined.
client.warm = lambda model, dtype: None
doctor_cache._look = lambda made: None
# The page process of a test must start no agent; an agent lives where its lock is held.
engine.agent_alive = lambda: True
# Four groups in place of twenty are left out for the intervals of the jury that ships, which nobody looks at here.
experiment.random_groups = partial(experiment.random_groups, groups=4)
"""

EVERY_PAGE = """
import json, sys
from streamlit.testing.v1 import AppTest
from tests.pages.page_words import bare_ids, page_words
app = AppTest.from_file({main!r}, default_timeout=120).run()
heavy = ("torch", "transformers", "scipy.stats", "matplotlib", "sklearn")
seen = {{}}
# These come last: they show tests of what ships, for which they load scipy.stats.
for page in sorted({pages!r}, key=lambda name: name in {testing!r}):
    app.switch_page(f"../pages/{{page}}.py").run()
    assert not app.exception and not app.error, (page, app.exception, app.error)
    assert app.title, page
    seen[page] = {{
        "heavy": [name for name in heavy if name in sys.modules],
        "texts": len(list(page_words(app.main))),
        "ids": sorted(set(bare_ids(app))),
    }}
print(json.dumps(seen))
"""
TESTING = ("prompting", "compare")
FEWEST_TEXTS = 2


@pytest.fixture(scope="module")
def every_page(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """What is seen of each page as it opens with the runs that ship and one of a person's own."""
    home = tmp_path_factory.mktemp("every_page")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HEDGE_HOME", str(home))
        synthetic_run(n=60)
    code = EVERY_PAGE.format(main=str(ROOT / "app" / "main.py"), pages=[entry.name for entry in PAGES], testing=TESTING)
    done = subprocess.run(
        [sys.executable, "-c", PREPARED + code],
        cwd=ROOT,
        env={**os.environ, "HEDGE_HOME": str(home)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    seen: dict[str, dict[str, Any]] = json.loads(done.stdout)
    return seen


def test_no_page_loads_what_is_heavy(every_page: dict[str, dict[str, Any]]):
    assert set(every_page) == {entry.name for entry in PAGES}
    for page, seen in every_page.items():
        assert set(seen["heavy"]) <= ({"scipy.stats"} if page in TESTING else set()), page


@pytest.mark.parametrize("page", [entry.name for entry in PAGES])
def test_no_page_shows_an_id_where_there_is_a_title(page: str, every_page: dict[str, dict[str, Any]]):
    assert every_page[page]["texts"] >= FEWEST_TEXTS
    assert every_page[page]["ids"] == []


def test_every_page_has_a_script_and_a_sentence():
    for entry in PAGES:
        assert entry.script.is_file()
        assert entry.help.endswith(".")
    assert len({entry.name for entry in PAGES}) == len(PAGES)


def test_an_unforeseen_error_is_a_sentence_and_a_log(
    open_page: Open, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    def broken() -> None:
        raise ZeroDivisionError("secret of the house")

    monkeypatch.setattr("app.caches.run_cache.runs", broken)
    app = open_page("overview")
    assert len(app.error) == 1
    assert "ZeroDivisionError" in page_text(app)
    assert "secret" not in page_text(app)
    assert "secret of the house" in caplog.text


EMPTY = {
    "alpha_lab": "once a run has ended",
    "one_question": "once a run has ended",
    "learn": "once a run has ended",
    "compare": "Runs side by side will be here",
    "calibration": "Reliability diagrams will be here",
    "stream_lab": "A stream of questions whose kind changes will be here",
}


@pytest.mark.parametrize("page", EMPTY)
def test_a_home_without_runs_says_what_would_be_here_and_offers_the_first_one(page: str, open_page: Open):
    app = open_page(page)
    assert EMPTY[page] in page_text(app)
    assert "Launch the first run" in [button.label for button in app.button]
    assert not components(app)


def test_the_menu_has_four_groups():
    assert list(MENU) == ["Start", "Explore", "Studies", "Run"]
    assert [entry for group in MENU.values() for entry in group] == list(PAGES)
