"""Streams, and what Python makes of them: the golden values of the Stream lab's scripts."""

import gzip
import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np

from core.records import FloatArray
from core.reports.stream_lab import StreamPool, StreamQuestions, stream_pool
from tests.app.golden import CASES
from tests.reference.adaptive import promised_band
from tests.reference.exchangeability import online_p_values, simple_jumper
from tests.reference.streams import question_stream, stream_figures, window_coverage

WINDOW = 40
SETTINGS = ((1, 0), (100, 5), (100, 200), (500, 37), (937, 1), (999, 200))
"""alpha and gamma in thousandths; some of them drive the level out of 0 to 1."""


def pools() -> dict[str, StreamPool]:
    """Real runs with ties, with unlike numbers of options and without a change, and scores with and without ties."""
    tied, ragged = CASES["ties"].write("stream ties"), CASES["unlike numbers of options"].write("stream ragged")
    rng = np.random.default_rng(11)

    def drawn(count: int, k: int, shift: float) -> StreamQuestions:
        options = rng.random((count, k)) ** shift
        return StreamQuestions(options, options[np.arange(count), rng.integers(0, k, count)])

    return {
        "ties": stream_pool(tied, tied, "aps"),
        "unlike numbers of options": stream_pool(ragged, None, "lac"),
        "a score with random numbers": stream_pool(tied, tied, "aps-randomised"),
        "a change": StreamPool(37, drawn(200, 4, 1.0), drawn(150, 4, 0.3)),
        "one calibration question": StreamPool(1, drawn(40, 2, 1.0), drawn(3, 2, 2.0)),
        "no change": StreamPool(60, drawn(300, 3, 1.0), None),
    }


def orders(pool: StreamPool) -> list[tuple[int, int, int]]:
    """Changes, orders and lengths: each question once, and drawn again."""
    left = len(pool.first.true) - pool.n
    once = [(change, order, 0) for change, order in zip((0, left // 3, left), (0, 1, 999_999), strict=True)]
    return [*once, (0, 0, 100), (70, 3, 130)]


class _Numbers:
    """Float64 arrays in one file."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []
        self.length = 0

    def put(self, values: FloatArray) -> list[int]:
        flat = np.ascontiguousarray(values, dtype="<f8").ravel()
        place = [self.length, len(flat)]
        self.parts.append(flat.tobytes())
        self.length += len(flat)
        return place


def write(folder: Path) -> Path:
    """Write the golden values into a folder; returns the file."""
    numbers = _Numbers()
    golden: dict[str, Any] = {"numbers": "streams.gz", "window": WINDOW, "pools": [], "capitals": [], "bands": []}
    for name, pool in pools().items():
        sides = [pool.first, *([] if pool.second is None else [pool.second])]
        golden["pools"].append(
            {
                "name": name,
                "n": pool.n,
                "k": pool.first.options.shape[1],
                "options": numbers.put(np.concatenate([side.options for side in sides])),
                "truth": numbers.put(np.concatenate([side.true for side in sides])),
                "firstCount": len(pool.first.true),
                "streams": [_stream(pool, *order, numbers) for order in orders(pool)],
            }
        )
    rng = np.random.default_rng(12)
    for p in (rng.random(3000) ** 5, 1 - rng.random(3000) ** 5, rng.random(3000), np.tile([0.0, 1.0], 1500)):
        capital = simple_jumper(p)
        golden["capitals"].append([numbers.put(array) for array in (p, capital.mantissas, capital.exponents)])
    for alpha, gamma, questions in itertools.product((1, 100, 777), (0, 5, 200), (0, 1, 2779, 10_000)):
        golden["bands"].append([questions, alpha, gamma, promised_band(questions, alpha=alpha, gamma=gamma)])
    (folder / "streams.gz").write_bytes(gzip.compress(b"".join(numbers.parts), 1))
    path = folder / "streams.json"
    path.write_text(json.dumps(golden), encoding="utf-8")
    return path


def _stream(pool: StreamPool, change: int, order: int, length: int, numbers: _Numbers) -> dict[str, Any]:
    stream = question_stream(pool, change=change, order=order, length=length)
    p = online_p_values(stream.calibration, stream.questions.true, stream.u)
    figures = []
    for alpha, gamma in SETTINGS:
        online = stream_figures(stream, alpha=alpha, gamma=gamma)
        arrays = (
            *(online.missed, online.sizes, online.adaptive.levels, online.adaptive.thresholds, online.adaptive.missed),
            *(online.adaptive_sizes, window_coverage(online.missed, WINDOW)),
        )
        threshold = numbers.put(np.array([online.threshold]))
        figures.append({"alpha": alpha, "gamma": gamma, "threshold": threshold, "arrays": [*map(numbers.put, arrays)]})
    capital = simple_jumper(p)
    alarm = capital.alarm()
    return {
        **{"change": change, "order": order, "length": length, "made": stream.change},
        "alarm": -1 if alarm is None else alarm,
        "arrays": [*map(numbers.put, (stream.questions.true, p, capital.mantissas, capital.exponents))],
        "calibration": numbers.put(np.sort(stream.calibration)),
        "figures": figures,
    }
