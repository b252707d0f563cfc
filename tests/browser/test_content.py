"""What comes from data is text on every page: no script runs, no request leaves, nothing of it becomes markup."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext

from app.navigation import PAGES, PageEntry
from charts.static_report import report_html
from core.jury_pipeline import jury_store
from core.reports.compare.benchmark import SetRule
from core.reports.evaluation import load
from core.runs import store
from tests.browser.conftest import Visit, eventually, server, settled
from tests.conftest import synthetic_questions, synthetic_run
from tests.core.jury.verdicts import seeded_jury

HOSTILE = (
    "<img class=planted src=http://e.vil/a.png onerror=\"document.title='caught'\">"
    "<script class=planted>document.title='caught'</script><a class=planted href='javascript:alert(1)'>a</a>"
    "![b](http://e.vil/b.png) [c](http://e.vil/c) http://e.vil/d :red[e] $f$ `g` =1+1 </script></style>"
)
MODEL = "m<img class=planted src=//e.vil/m.png onerror=document.title='caught'>$x$ :red[y] [z](http:e.vil)"
PLANTED = """() => [
  ...document.querySelectorAll(".planted, .katex, [href*='e.vil'], [src*='e.vil'], [href^='javascript:']"),
  ...[...document.querySelectorAll('iframe')]
    .flatMap(one => [...(one.contentDocument?.querySelectorAll('.planted') ?? [])]),
].map(one => one.outerHTML.slice(0, 200))"""
"""Elements that a text has become."""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Two runs and a jury with hostile texts everywhere."""
    folder = tmp_path_factory.mktemp("content") / "home"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HEDGE_HOME", str(folder))
        for seed in (0, 1):
            name = synthetic_run(60, model=MODEL, seed=seed)
            questions = [
                replace(q, question=f"{i} {HOSTILE}", context=HOSTILE, group=HOSTILE, options=(HOSTILE, *q.options[1:]))
                for i, q in enumerate(synthetic_questions(60, seed=seed))
            ]
            store.write_questions(store.folder_of(name), questions, ["calibration"] * 30 + ["test"] * 30)
        judged = seeded_jury(80)
        hostile = replace(judged, questions=(HOSTILE,) * 80, answers=(HOSTILE,) * 80, jurors=(HOSTILE, "b", "c"))
        jury_store.save(hostile, name=HOSTILE, origin=HOSTILE)
        yield folder


@pytest.fixture(scope="module")
def walk(browser: BrowserContext, home: Path) -> Iterator[Visit]:
    with server(home, agent=False) as url:
        window = Visit(browser.new_page(), url)
        window.listen()
        yield window
        window.page.close()


def hostile_run() -> str:
    return next(name for name in store.run_ids() if (store.folder_of(name) / "run.json").read_text().count("planted"))


@pytest.mark.parametrize("entry", PAGES, ids=lambda entry: entry.name)
def test_hostile_texts_stay_texts(walk: Visit, home: Path, entry: PageEntry):
    page = settled(walk.open(f"/{entry.name}?run={hostile_run()}"))
    eventually(page, lambda: page.evaluate(PLANTED))
    assert page.title() != "caught"
    foreign = walk.foreign.copy()
    walk.foreign.clear()
    assert foreign == []


def test_the_static_report_has_no_markup_of_data(walk: Visit, home: Path, tmp_path: Path):
    report = tmp_path / "report.html"
    report.write_bytes(report_html([load(hostile_run())], SetRule()))
    walk.page.goto(report.as_uri())
    eventually(walk.page, lambda: walk.page.evaluate(PLANTED))
    assert walk.page.title() != "caught"
    foreign = [url for url in walk.foreign if not url.startswith("file:")]
    walk.foreign.clear()
    assert foreign == []
    assert not re.search(r"<(img|script|a)[^>]*planted", report.read_text(encoding="utf-8"))
