"""Processor time of the first page's script with the runs that ship: `python -m tests.benchmarks.first_page`.

For each view, in one process: a fresh session, eight reruns (median), and a released alpha.
"""

from __future__ import annotations

import statistics
import tempfile
import time

import pytest
from streamlit.testing.v1 import AppTest

from core.settings import ROOT

ALL = {"strategy": "all", "form": "all", "precision": "all"}
VIEWS: tuple[dict[str, str], ...] = ({}, {"figure": "scatter"}, {"figure": "runs"}, ALL)
AGAIN = 8


def _seconds(app: AppTest) -> float:
    start = time.process_time()
    app.run()
    assert not app.exception
    return time.process_time() - start


def main() -> None:
    """Print a line per view."""
    print("first    again    alpha   (processor seconds)")
    with tempfile.TemporaryDirectory() as home, pytest.MonkeyPatch.context() as patch:
        patch.setenv("HEDGE_HOME", home)
        patch.setattr("core.runs.engine.agent_alive", lambda: True)
        patch.setattr("core.runs.engine.statuses", lambda: [])
        for view in VIEWS:
            app = AppTest.from_file(str(ROOT / "app" / "main.py"), default_timeout=120)
            for name, value in view.items():
                app.query_params[name] = value
            first, again = _seconds(app), statistics.median(_seconds(app) for _ in range(AGAIN))
            app.slider(key="alpha_slider").set_value(0.2)
            print(f"{first:5.2f}    {again:5.2f}    {_seconds(app):5.2f}   {view or 'set sizes'}", flush=True)


if __name__ == "__main__":
    main()
