"""How long one tick of the New run page takes while many runs wait: ``python -m tests.benchmarks.queue_tick``.

The runs wait in a real database in a home of its own, without an agent, so that none of them begins. What is timed is
the whole fragment as the server executes it, its question to the database included.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from pathlib import Path

from app.caches import live_runs
from core.settings import ROOT


def main() -> None:
    """Print milliseconds: a whole run of the page, and its fragment alone."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--ticks", type=int, default=30)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        os.environ.update(HEDGE_HOME=str(Path(home) / "home"), HEDGE_FAKE_ENGINE="{}")
        os.environ.pop("HEDGE_DATABASE_URL", None)
        _measure(asked.runs, asked.ticks)


def _measure(runs: int, ticks: int) -> None:
    from streamlit.testing.v1 import AppTest

    from app.components.new_run import run_list
    from core.runs import actions, engine
    from core.runs.prompts import Combination

    engine.ensure_agent = lambda: None
    engine.agent_alive = lambda: True
    begin = time.perf_counter()
    specs = [
        spec
        for seed in range(runs // 2)
        for spec in Combination(("fake",), ("qa",), ("base", "task"), samples=100, seed=seed).specs()
    ]
    group, _ = actions.launch(specs, name="many")
    assert group is not None
    print(f"{len(group.run_ids)} runs asked for in {time.perf_counter() - begin:.1f} s")
    live_runs.FRESH_S = 0.0  # every tick asks the database itself
    took: list[float] = []
    draw = run_list._live

    def timed(busy: bool) -> None:
        started = time.perf_counter()
        draw(busy)
        took.append(1000 * (time.perf_counter() - started))

    run_list._live = timed
    app = AppTest.from_file(str(ROOT / "app" / "main.py"), default_timeout=120)
    app.switch_page("../pages/new_run.py").run()
    whole = []
    took.clear()
    for _ in range(ticks):
        started = time.perf_counter()
        app.run()
        whole.append(1000 * (time.perf_counter() - started))
    assert not app.exception
    assert any(f"{runs} runs waiting" in text.value for text in app.markdown)
    for name, values in (("tick", took), ("whole page", whole)):
        print(f"{name}: median {statistics.median(values):.0f} ms, worst of {len(values)} {max(values):.0f} ms")


if __name__ == "__main__":
    main()
