"""`python -m app`: where it can't start, an agent that does not come to life, and the work around the first paint."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest
import streamlit as st
from streamlit.components.v2 import manifest_scanner
from streamlit.components.v2.component_manager import BidiComponentManager

from app import first_paint
from app.__main__ import main, wake_agent
from app.caches import overview_cache
from core.errors import RunError
from tests.conftest import synthetic_run


def test_a_home_that_can_not_be_made_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("HEDGE_HOME", str(tmp_path / "file" / "home"))
    with pytest.raises(SystemExit, match="set it to a folder that you may write to"):
        main([])


def test_a_server_lives_on_without_an_agent(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture):
    def refuse() -> None:
        raise RunError("no agent could be started on this host")

    monkeypatch.setattr("core.runs.engine.ensure_agent", refuse)
    with caplog.at_level(logging.WARNING):
        wake_agent()
    assert "no agent could be started" in caplog.text


def test_no_installed_package_brings_a_component_and_streamlit_would_ask_where_the_app_answers(
    monkeypatch: pytest.MonkeyPatch,
):
    assert manifest_scanner.scan_component_manifests() == first_paint.no_components()
    asked = []
    monkeypatch.setattr(manifest_scanner, "scan_component_manifests", lambda: asked.append(True) or [])
    BidiComponentManager().discover_and_register_components(start_file_watching=False)
    assert asked == [True]


@pytest.mark.filterwarnings("ignore")  # outside a server every call to a cached function warns
def test_the_first_page_reads_no_run_that_was_read_ahead(home: Path, monkeypatch: pytest.MonkeyPatch):
    run_id = synthetic_run(60)
    monkeypatch.setattr("core.runs.store.ASSETS", home.parent / "assets")
    st.cache_resource.clear()
    first_paint.read_first_page()
    monkeypatch.setattr("core.reports.evaluation.load", lambda _: pytest.fail("a run was read again"))
    assert overview_cache.summary(run_id).report.run == run_id
    st.cache_resource.clear()
