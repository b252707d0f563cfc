"""The figures of compared runs, kept on disk, so that a run is read once and not at each start of the server.

A file for each run is in ``cache/run_rows`` of the home, which holds as those of :mod:`core.reports.kept` do.
"""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from core.reports import kept
from core.reports.compare.benchmark import SetRule, reports, rows_of, with_weights
from core.reports.compare.common_options import wider, without_extra
from core.reports.evaluation import Evaluation
from core.runs import store
from core.settings import settings
from core.storage.sealed import read_json, write_json

MOST_RULES = 64
"""Rows that are kept of one run: 64 kB. There is one for each score and each alpha at which it has been compared."""


def compared_rows(run_ids: Sequence[str], rule: SetRule, load: Callable[[str], Evaluation]) -> pd.DataFrame:
    """One row per run and score, as :func:`core.reports.compare.benchmark.run_rows`, on the options that runs with the
    same questions have in common (:mod:`core.reports.compare.common_options`).

    ``load`` reads a run with missing figures; these are kept.
    """
    rows_by_run = {run_id: _rows(run_id, rule, load) for run_id in run_ids}
    options = [(run_id, rows[0]["k"]) for run_id, rows in rows_by_run.items()]
    if len({k for _, k in options}) > 1:
        rows_by_run |= {run_id: _rows(run_id, rule, load, narrow=True) for run_id in wider(options)}
    rows = [row for run_id in run_ids for row in rows_by_run[run_id]]
    return pd.DataFrame(with_weights(rows, {run_id: store.read_record(run_id).spec for run_id in run_ids}))


def _rows(
    run_id: str, rule: SetRule, load: Callable[[str], Evaluation], *, narrow: bool = False
) -> list[dict[str, Any]]:
    holds_for = kept.state_of(run_id)
    stored = _read(run_id, holds_for)
    names = [_name(rule, score) + " narrow" * narrow for score in rule.scores]
    if any(name not in stored for name in names):
        run = without_extra(load(run_id)) if narrow else load(run_id)
        computed = rows_of(run, reports([run], rule)[0])
        stored |= dict(zip(names, computed, strict=True))
        last = {
            name: stored[name] for name in [name for name in stored if name not in names][: MOST_RULES - len(names)]
        }
        if kept.state_of(run_id) == holds_for:
            _write(run_id, holds_for, last | {name: stored[name] for name in names})
    return [stored[name] for name in names]


def _name(rule: SetRule, score: str) -> str:
    return f"{score} {rule.alpha} {rule.method} {rule.empty}"


def _file(run_id: str) -> Path:
    return settings().home / "cache" / "run_rows" / f"{run_id}.json"


def _read(run_id: str, holds_for: str) -> dict[str, dict[str, Any]]:
    """The rows that are stored for the present state of the run, by score and rule."""
    try:
        content = read_json(_file(run_id))
        return dict(content["rows"]) if content["holds_for"] == holds_for else {}
    except (OSError, ValueError, KeyError, TypeError):
        return {}


def _write(run_id: str, holds_for: str, rows: dict[str, dict[str, Any]]) -> None:
    """Store these rows. If that fails, for example on a full disk, the figures are still shown."""
    path = _file(run_id)
    plain = json.loads(json.dumps(rows, default=lambda value: value.item()))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_json(path, {"holds_for": holds_for, "rows": plain}, lasting=False)
    except OSError:
        pass
