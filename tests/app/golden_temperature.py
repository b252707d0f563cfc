"""Runs at temperatures, and what Python makes of them: the golden values of ``tempering.js``."""

import itertools
import json
import math
from dataclasses import asdict
from pathlib import Path
from typing import Any

from core.reports.calibration.temperature import dial_rows
from tests.app.golden import CASES
from tests.reference.calibration import at_temperature

CASE_NAMES = (
    "ties", "ones and zeros", "two options", "twenty-six options", "unlike numbers of options", "two to five options",
)  # fmt: skip
TEMPERATURES = (20, 63, 100, 131, 500)
BINS = ((15, "width"), (10, "mass"), (1, "width"), (40, "mass"))
ALPHA = 120


def written(name: str) -> dict[str, Any]:
    """One run as the component gets it, and its figures at every temperature by every kind of bins."""
    run = CASES[name].write(f"tempered {name}")
    rows = dial_rows(run)
    return {
        "name": name,
        "k": run.k,
        "logs": [
            [None if math.isnan(value) else str(value) if math.isinf(value) else value for value in row]
            for row in zip(*(rows[f"l{j}"].to_pylist() for j in range(run.k)), strict=True)
        ],
        "labels": rows["y"].to_pylist(),
        "own": rows["own"].to_pylist(),
        "found": [
            {"bins": bins, "by": by, **_plain(asdict(at_temperature(run, t, ALPHA, bins=bins, by=by)))}
            for t, (bins, by) in itertools.product(TEMPERATURES, BINS)
        ],
    }


def _plain(values: dict[str, Any]) -> dict[str, Any]:
    """JSON values: empty bins are null, an endless threshold or NLL is the word."""
    plain = {name: value.tolist() if hasattr(value, "tolist") else value for name, value in values.items()}
    plain["nll"] = "Infinity" if math.isinf(plain["nll"]) else plain["nll"]
    for name in ("confidence", "accuracies"):
        plain[name] = [None if math.isnan(value) else value for value in plain[name]]
    for sets in plain["sets"].values():
        sets["threshold"] = "Infinity" if math.isinf(sets["threshold"]) else sets["threshold"]
    return plain


def write(folder: Path) -> Path:
    """Write the golden values into a folder; returns the file."""
    path = folder / "temperature.json"
    path.write_text(json.dumps({"alpha": ALPHA, "runs": [written(name) for name in CASE_NAMES]}))
    return path
