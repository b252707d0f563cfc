"""How long a text waits for its tokens: `python -m tests.benchmarks.token_waits [MODEL]`.

The first text starts the answering server and its worker and loads the model. The others find it loaded. Seconds are
those from the question until the view is read; processor time is that of the server and its worker.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from core.runs.answering import client, token_text
from tests.processes import end_all, living

TEXTS = 20
SENTENCE = "Rome is the capital of Italy, and the river that flows through it is the Tiber. "


def processor_time(home: Path) -> float:
    """Seconds of processor that the home's answering processes have used."""
    spent = [process.cpu_times() for process in living(home, "core.runs.answering")]
    return sum(of.user + of.system for of in spent)


def waited(home: Path, model: str, text: str) -> tuple[float, float, int]:
    """The seconds and the processor seconds that a text takes, and its number of tokens."""
    begun, used = time.perf_counter(), processor_time(home)
    asked = token_text.token_text(model, text)
    now = client.ask(asked)
    while not now.ended:
        now = client.progress(asked.answer_id, wait_s=1)
    view = token_text.read_view(asked)
    if view is None:
        sys.exit(now.message)
    return time.perf_counter() - begun, processor_time(home) - used, len(view["tokens"])


def main() -> None:
    """Print the waits for the first text, for short texts, and for texts of 2,000 and 20,000 characters."""
    model = sys.argv[1] if len(sys.argv) > 1 else "pocket-3m"
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        os.environ["HEDGE_HOME"] = folder
        try:
            print(f"{'text':<22}{'tokens':>8}{'p50, s':>9}{'p95, s':>9}{'processor, s':>14}")
            _tell("the first", [waited(home, model, SENTENCE)])
            _tell("short", [waited(home, model, f"{i}. {SENTENCE}") for i in range(TEXTS)])
            for length in (2_000, 20_000):
                _tell(
                    f"{length:,} characters",
                    [waited(home, model, (f"{i}. " + SENTENCE * 300)[:length]) for i in range(3)],
                )
        finally:
            end_all(home)


def _tell(name: str, values: list[tuple[float, float, int]]) -> None:
    seconds, processor, tokens = np.array(values).T
    row = f"{np.percentile(seconds, 50):>9.2f}{np.percentile(seconds, 95):>9.2f}{np.median(processor):>14.2f}"
    print(f"{name:<22}{np.median(tokens):>8.0f}{row}", flush=True)


if __name__ == "__main__":
    main()
