"""A link to Compare is read ahead: what the server does when a browser asks for the page, and what is left for it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import pytest
import streamlit as st
from streamlit.web.server.starlette import starlette_app

from app import link_ahead, reading_thread
from app.caches import compare_cache
from app.link_ahead import LinkAhead
from core.reports import evaluation
from core.reports.compare import kept_rows
from core.reports.compare.benchmark import SetRule
from core.settings import ROOT
from tests.conftest import synthetic_run

WITHIN_S = 60


@pytest.fixture
def runs(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, ...]]:
    """Two runs that share their questions; no other run exists, and nothing has been read."""
    monkeypatch.setattr("core.runs.store.ASSETS", home.parent / "assets")
    reading_thread.without_warnings()
    reading_thread.imported.set()
    st.cache_resource.clear()
    yield tuple(synthetic_run(60, model=f"model-{i}", seed=7) for i in range(2))
    st.cache_resource.clear()


def read(path: str, **address: str) -> None:
    thread = link_ahead.begin(path, urlencode(address))
    assert thread is not None
    thread.join(WITHIN_S)
    assert not thread.is_alive()


@pytest.mark.filterwarnings("ignore")  # outside a server every call to a cached function warns
def test_what_a_link_to_compare_shows_is_computed_before_its_page_asks(
    runs: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
):
    read("/base/compare", runs=",".join(runs), alpha="200", score="aps")
    monkeypatch.setattr("core.reports.evaluation.load", lambda _: pytest.fail("a run was read again"))
    monkeypatch.setattr("core.reports.compare.benchmark.reports", lambda *_: pytest.fail("reported again"))
    rows = compare_cache.compared(runs, SetRule(200, ("aps", "lac")))
    assert set(rows["run"]) == set(runs)
    assert set(rows["alpha"]) == {0.2}
    assert not compare_cache.inspector_tables(runs, 200, "aps", "allow").ended, "it comes after the dot plots"


@pytest.mark.filterwarnings("ignore")
def test_the_dot_plots_of_runs_whose_figures_are_kept_wait_for_no_run(
    runs: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
):
    rule = SetRule(100, ("lac", "aps"))
    kept_rows.compared_rows(runs, rule, evaluation.load)
    with monkeypatch.context() as patch:
        patch.setattr("core.reports.evaluation.load", lambda _: pytest.fail("a run was read"))
        assert set(compare_cache.compared(runs, rule)["run"]) == set(runs)
        matrix = compare_cache.matrix(runs, 100, "lac", "allow")
    matrix.run()
    assert matrix.value().runs == runs


@pytest.mark.filterwarnings("ignore")
def test_a_link_without_runs_reads_those_that_the_page_opens_with(
    runs: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
):
    read("/compare")
    monkeypatch.setattr("core.reports.evaluation.load", lambda _: pytest.fail("a run was read again"))
    assert len(compare_cache.compared(runs[::-1], SetRule(100))) == 2 * len(runs)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("address", [{"runs": "none"}, {"runs": "unknown", "alpha": "x"}, {"score": "no-score"}])
def test_a_link_that_is_wrong_ends_quietly_and_the_next_one_is_read(runs: tuple[str, ...], address: dict[str, str]):
    read("/compare", **address)
    read("/compare", runs=",".join(runs))


@pytest.mark.filterwarnings("ignore")
def test_a_broken_run_is_left_to_the_page(runs: tuple[str, ...], home: Path):
    (home / "runs" / runs[0] / "logits.parquet").write_bytes(b"broken")
    read("/compare", runs=",".join(runs))


@pytest.mark.filterwarnings("ignore")
def test_a_link_waits_until_the_libraries_are_there(runs: tuple[str, ...]):
    reading_thread.imported.clear()
    thread = link_ahead.begin("/compare", urlencode({"runs": ",".join(runs)}))
    assert thread is not None
    assert thread.is_alive()
    assert link_ahead.begin("/compare", "") is None  # the first one has not ended
    reading_thread.imported.set()
    thread.join(WITHIN_S)
    assert not thread.is_alive()


def test_other_requests_start_nothing_and_only_one_link_is_read_at_a_time():
    for path in ("/", "/learn", "/static/js/index.js", "/compare/extra"):
        assert link_ahead.begin(path, "") is None
    with link_ahead._reading:
        assert link_ahead.begin("/compare", "") is None


def test_the_server_passes_every_request_on(monkeypatch: pytest.MonkeyPatch):
    begun: list[tuple[str, str]] = []
    monkeypatch.setattr(link_ahead, "begin", lambda path, query: begun.append((path, query)))
    monkeypatch.setattr(starlette_app, "create_streamlit_middleware", starlette_app.create_streamlit_middleware)
    link_ahead.install()
    assert starlette_app.create_streamlit_middleware()[-1].cls is LinkAhead
    passed = []

    async def app(scope, receive, send) -> None:
        passed.append(scope)

    scopes = [
        {"type": "http", "method": "GET", "path": "/compare", "query_string": b"runs=a%2Cb"},
        {"type": "http", "method": "POST", "path": "/compare", "query_string": b""},
        {"type": "websocket", "path": "/_stcore/stream", "query_string": b""},
    ]
    for scope in scopes:
        with pytest.raises(StopIteration):  # it waits for nothing
            LinkAhead(app)(scope, None, None).send(None)
    assert passed == scopes
    assert begun == [("/compare", "runs=a%2Cb")]


def test_turns_are_short_until_the_last_thread_has_read():
    usual = sys.getswitchinterval()
    with reading_thread.short_turns():
        with reading_thread.short_turns():
            assert sys.getswitchinterval() == pytest.approx(reading_thread.TURN_S)
        assert sys.getswitchinterval() == pytest.approx(reading_thread.TURN_S)
    assert sys.getswitchinterval() == pytest.approx(usual)


def test_the_first_paint_of_compare_waits_for_no_charts_and_no_tests(runs: tuple[str, ...]):
    """The whole page in a process that has imported nothing else, before anything is computed in the background."""
    code = (
        "import sys\n"
        "from streamlit.testing.v1 import AppTest\n"
        "from app import background\n"
        "background.start = lambda awaited: None\n"
        "before = set(sys.modules)\n"
        f"page = AppTest.from_file({str(ROOT / 'app' / 'main.py')!r}, default_timeout=100)\n"
        "page.switch_page('../pages/compare.py')\n"
        f"page.query_params['runs'] = {','.join(runs)!r}\n"
        "page.run()\n"
        "assert not page.exception, page.exception\n"
        "parts = [one.key for one in page.main if 'bidi' in str(one.type) and one.key != 'shortcuts']\n"
        "assert len(parts) == 2, parts\n"
        "heavy = {'altair', 'plotly', 'scipy.stats', 'scipy.optimize'} & (set(sys.modules) - before)\n"
        "assert not heavy, heavy\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120, cwd=ROOT)
