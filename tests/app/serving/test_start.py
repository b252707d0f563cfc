"""`python -m app`: where it can't start, an agent that does not come to life, and the work around the first paint."""

import gc
import logging
import sys
import threading
from pathlib import Path

import pytest
import streamlit as st

from app import first_paint, lifespan
from app.__main__ import KEPT_ON, _served, main
from app.lifespan import wake_agent
from app.serving import login
from core import access
from core.access import quotas
from core.access.quotas import Quotas
from core.errors import RunError
from core.settings import settings
from tests import openid

pytestmark = pytest.mark.quick


def test_a_home_that_can_not_be_made_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("HEDGE_HOME", str(tmp_path / "file" / "home"))
    with pytest.raises(SystemExit, match="set it to a folder that you may write to"):
        main([])


def test_a_server_lives_on_without_an_agent(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture):
    def refuse() -> None:
        raise RunError("no agent could be started on this host")

    monkeypatch.setattr("core.runs.engine.ensure_agent_if_needed", refuse)
    with caplog.at_level(logging.WARNING):
        wake_agent()
    assert "no agent could be started" in caplog.text


def test_a_server_starts_an_agent_only_if_it_has_something_to_do(home: Path, monkeypatch: pytest.MonkeyPatch):
    starts: list[str] = []
    monkeypatch.setattr("core.runs.engine.start_agent", lambda up: starts.append("agent"))
    wake_agent()
    assert starts == []
    (home / "bin" / "run@1000").mkdir(parents=True)  # the agent empties the bin
    wake_agent()
    assert starts == ["agent"]


def test_no_script_is_followed_by_a_full_collection_and_no_page_has_a_watcher_of_its_own():
    """With 50 open pages, these two took nine tenths of the server's time."""
    assert st.get_option("runner.postScriptGC") is False
    assert st.get_option("server.fileWatcherType") == "none"


def test_what_was_imported_before_the_first_paint_is_not_looked_at_after_a_script(monkeypatch: pytest.MonkeyPatch):
    """Python frees nothing from the start of the server until the first page is painted, and then as usual."""
    steps: list[str] = []
    shown = threading.Event()
    monkeypatch.setattr(first_paint, "shown", shown)
    monkeypatch.setattr(first_paint, "import_first_page", lambda: steps.append(f"first, {gc.isenabled()}"))
    monkeypatch.setattr(first_paint, "import_components", lambda: steps.append(f"imported, {gc.isenabled()}"))
    monkeypatch.setattr(first_paint, "PAINTED_AFTER_S", 0)
    monkeypatch.setattr(gc, "freeze", lambda: steps.append("frozen"))
    gc.disable()
    try:
        thread = threading.Thread(target=first_paint._prepare)
        thread.start()
        shown.set()
        thread.join(20)
        assert steps == ["first, False", "frozen", "imported, False", "frozen"]
        assert gc.isenabled()
    finally:
        gc.enable()


def test_nobody_comes_and_python_frees_objects_as_usual(monkeypatch: pytest.MonkeyPatch):
    shown, enabled = threading.Event(), threading.Event()
    monkeypatch.setattr(first_paint, "shown", shown)
    monkeypatch.setattr(first_paint, "import_first_page", lambda: None)
    monkeypatch.setattr(first_paint, "import_components", lambda: None)
    monkeypatch.setattr(first_paint, "NOBODY_CAME_S", 0)
    monkeypatch.setattr(first_paint, "PAINTED_AFTER_S", 0)
    monkeypatch.setattr(gc, "freeze", lambda: None)
    monkeypatch.setattr(gc, "enable", enabled.set)
    thread = threading.Thread(target=first_paint._prepare)
    thread.start()
    assert enabled.wait(20)
    assert thread.is_alive()
    shown.set()
    thread.join(20)
    assert not thread.is_alive()


def test_turns_are_short_while_the_thread_imports():
    usual = sys.getswitchinterval()
    with first_paint.short_turns():
        assert sys.getswitchinterval() == pytest.approx(first_paint.TURN_S)
    assert sys.getswitchinterval() == pytest.approx(usual)


@pytest.mark.parametrize(
    ("arguments", "environment"),
    [
        (["--server.address", "0.0.0.0"], ""),
        (["--server.port", "8600", "--server.address=192.168.1.5"], ""),
        (["--server.address="], ""),
        ([], "::"),
    ],
)
def test_a_server_for_others_does_not_start_until_it_is_said_what_they_may_do(
    home: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], environment: str
):
    if environment:
        monkeypatch.setenv("STREAMLIT_SERVER_ADDRESS", environment)
    with pytest.raises(SystemExit, match="others can reach it and do everything that you can"):
        main(arguments)


@pytest.mark.parametrize("arguments", [["--server.port", "8600"], ["--server.address", "localhost"]])
def test_a_server_for_this_machine_is_local(monkeypatch: pytest.MonkeyPatch, arguments: list[str]):
    monkeypatch.delenv("STREAMLIT_SERVER_ADDRESS", raising=False)
    assert _served(arguments) == arguments
    assert access.mode() == "local"


@pytest.fixture
def local_again():
    """Undo after each test what a server changes in its process."""
    yield
    access.serve("local")
    login.install(None)
    quotas.hold(Quotas())


@pytest.mark.usefixtures("local_again")
def test_a_public_server_keeps_streamlits_protections_on():
    options = ["--public", "--server.address", "0.0.0.0", "--server.enableXsrfProtection", "false"]
    assert _served(options) == [*options[1:], *KEPT_ON]
    assert access.mode() == "public"
    assert KEPT_ON[:2] == ("--server.enableXsrfProtection", "true")


@pytest.mark.usefixtures("local_again")
def test_a_public_server_prints_a_link_for_its_lecturer(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(lifespan, "prints_lecturer_link", threading.Event())
    assert "--lecturer" not in _served(["--public", "--lecturer", "--server.address", "10.0.0.5"])
    assert lifespan.prints_lecturer_link.is_set()
    options = {"server.address": "10.0.0.5", "server.port": 8600, "server.baseUrlPath": "/hedge/"}
    monkeypatch.setattr(st, "get_option", options.get)
    lifespan.print_lecturer_link()
    assert "http://10.0.0.5:8600/hedge/classroom?lecturer=" in capsys.readouterr().out
    with pytest.raises(SystemExit, match="--lecturer belongs to --public"):
        _served(["--lecturer"])


@pytest.mark.usefixtures("local_again")
def test_a_public_server_takes_limits_folders_and_frames_from_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HEDGE_ROOTS", "")
    monkeypatch.setenv("HEDGE_FRAME_ANCESTORS", "")
    file = tmp_path / "server.toml"
    file.write_text(
        f'[limits]\nquestions_a_minute = 3\n[files]\nroots = ["{tmp_path}"]\n[hosts]\nframe_ancestors = ["https://a.org"]'
    )
    assert _served(["--public", str(file)]) == [*KEPT_ON]
    assert quotas.held().questions_a_minute == 3
    assert settings().roots == (tmp_path,)
    assert settings().frame_ancestors == ("https://a.org",)


@pytest.mark.usefixtures("local_again")
def test_a_server_with_logins_gives_streamlit_the_providers_secrets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HEDGE_ROOTS", "")
    file = tmp_path / "server.toml"
    file.write_text(openid.server_file(openid.Provider()))
    file.chmod(0o600)
    options = ["--server.port", "8600", "--login", str(file)]
    assert _served(options) == ["--server.port", "8600", "--secrets.files", str(file), *KEPT_ON]
    assert access.mode() == "login"
    assert access.actor() == access.OUTSIDER


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--login"], "needs the server's TOML file"),
        (["--login", "--server.port", "8600"], "needs the server's TOML file"),
        (["--login", "x.toml", "--public"], "not both"),
    ],
)
def test_a_login_needs_its_file(arguments: list[str], sentence: str):
    with pytest.raises(SystemExit, match=sentence):
        _served(arguments)
    assert access.mode() == "local"
