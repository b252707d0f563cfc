"""Hedge's output for users: commands, lists and pages, each as text that can be compared."""

import contextlib
import importlib.metadata
import io
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

from core.errors import HedgeError
from core.settings import ROOT, settings
from hedge.cli import main

PAGE_WITHIN_S = 60.0


class Refused(HedgeError):
    """A command or a list says in a sentence why there is nothing."""


@dataclass(frozen=True, slots=True)
class Look:
    """A look at stored data: JSON values, or a :class:`HedgeError`. ``paths`` are parts of the paths of the files
    whose damage may take it away; damage elsewhere must change nothing. Of the ``costly`` ones a try draws one, and no
    try leaves out a ``central`` one."""

    name: str
    paths: tuple[str, ...]
    get: Callable[[], Any]
    costly: bool = False
    central: bool = False


def command(*words: str) -> Callable[[], Any]:
    """A command, with the JSON that it prints."""
    return lambda: run(*words)


def run(*words: str) -> Any:
    """Run a command; :class:`Refused` with its sentence if it fails."""
    output, errors = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
        status = main([*words, "--json"])
    if "Traceback" in errors.getvalue():
        raise AssertionError(errors.getvalue())
    is_list = words[0] == "runs" or words[:2] == ("jury", "list")  # which says 1 where it shows what it can
    if status and not (status == 1 and is_list and output.getvalue()):
        sentences = [line for line in errors.getvalue().splitlines() if line.startswith("hedge: ")]
        raise Refused(sentences[-1] if sentences else f"status {status} without a sentence: {errors.getvalue()[-300:]}")
    return json.loads(output.getvalue())


def report(run_id: str) -> Look:
    """A run's figures by every score."""
    return Look(f"report {run_id}", (run_id,), command("report", run_id, "--score", "lac", "aps"))


def listed(run_id: str) -> Look:
    """A run in the list of runs."""

    def row() -> Any:
        (listed_run,) = [row for row in run("runs") if row["run"] == run_id]
        if listed_run["state"] == "unreadable":
            raise Refused(listed_run["message"])
        return listed_run

    return Look(f"runs, {run_id}", (run_id,), row)


def exported(name: str, damaged: tuple[str, ...], *words: str) -> Look:
    """The bytes of what an export writes."""

    def files() -> Any:
        out = settings().home / "exported" / name
        run(*words, "--out", str(out))
        return {path.name: path.read_bytes().hex() for path in sorted(out.rglob("*")) if path.is_file()}

    return Look(name, damaged, files, costly=True)


def pages(models: dict[str, str], **views: dict[str, str]) -> Look:
    """Which of these models, by their runs, Overview, Compare and New run show; ``views`` has their addresses."""

    def seen() -> Any:
        return {page: _models_on(page, view, models) for page, view in views.items()}

    return Look("pages", (), seen, costly=True)


def _models_on(page: str, view: dict[str, str], models: dict[str, str]) -> list[str]:
    import streamlit as st
    from streamlit.testing.v1 import AppTest

    from app.state.session import BY_ITSELF_KEY

    def at_once(awaited: Any) -> None:
        for computation in awaited:
            computation.run()
        st.session_state[BY_ITSELF_KEY] = True
        st.rerun()

    with (
        patch.object(importlib.metadata, "distributions", lambda **_: iter(())),
        patch("core.runs.store.ASSETS", settings().home / "assets"),
        patch("core.runs.engine.agent_alive", lambda: True),
        patch("app.background.start", at_once),
        patch("app.background.painted", lambda page: True),
        patch("core.runs.answering.client.warm", lambda model, dtype: None),
    ):
        app = AppTest.from_file(str(ROOT / "app" / "main.py"), default_timeout=PAGE_WITHIN_S)
        for name, value in view.items():
            app.query_params[name] = value
        if page != "overview":
            app.switch_page(str(Path("..") / "pages" / f"{page}.py"))
        app.run()
    if app.exception:
        raise AssertionError(f"{page}: {app.exception[0].value} {app.exception[0].stack_trace}")
    shown = b"".join(node.proto.SerializeToString() for node in app.main if getattr(node, "proto", None))
    return [model for model in models if model.encode() in shown]
