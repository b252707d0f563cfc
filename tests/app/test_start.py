"""`python -m app` where it can't start, and the agent that does not come to life."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from app.__main__ import main, wake_agent
from core.errors import RunError


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
