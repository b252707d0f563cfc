"""Figures that are kept so that they are not computed again, and other small files that may be forgotten."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from core.runs import store
from tests.damage.kinds.common import Names, other_run
from tests.damage.kinds.runs import finished
from tests.damage.looks import Look, Refused, listed, pages, report
from tests.damage.tries import Kind


def _kept_figures() -> Names:
    names = finished()
    _rows(names)
    return names


def _rows(names: Names) -> Any:
    from core.reports.compare.benchmark import SetRule
    from core.reports.compare.kept_rows import compared_rows
    from core.reports.evaluation import load

    rule = SetRule(100, ("lac", "aps"))
    return json.loads(compared_rows([names["letters"], names["cloze"]], rule, load).to_json(double_precision=15))


def _of_kept_figures(names: Names) -> list[Look]:
    return [Look("compared rows", (), lambda: _rows(names)), report(names["brook"])]


def _small() -> Names:
    from core.exchange import column_mappings
    from core.exchange.table_columns import Columns
    from core.models import kept_checks
    from core.models.engine import SelfCheck
    from core.models.server import known_servers
    from core.runs import groups

    names = {"brook": other_run(), "reef": other_run("reef")}
    runs = list(names.values())
    names["group"] = groups.create(runs, name="both").id
    names["other group"] = groups.create(runs[:1], name="one").id
    kept_checks.keep("0" * 32, SelfCheck(8, 1e-6, 1e-4), longest=100)
    known_servers.remember(["http://127.0.0.1:8000/v1"])
    column_mappings.remember(["a", "b", "c"], Columns(label="a", options=("b", "c")))
    store.write_progress(store.folder_of(names["brook"]), store.Progress(3, 60, "scoring"))
    return names


def _of_small(names: Names) -> list[Look]:
    from core.exchange import column_mappings
    from core.models import kept_checks
    from core.models.server import known_servers
    from core.runs import groups

    def there(get: Callable[[], Any], name: str) -> Callable[[], Any]:
        """What is only remembered may be forgotten, but is never another."""

        def found() -> Any:
            if not (value := get()):
                raise Refused(f"{name} is forgotten")
            return repr(value)

        return found

    def all_groups() -> Any:
        return sorted(map(repr, [group for group in groups.known() if group.id == names["group"]]))

    def progress() -> Any:
        found = store.read_progress(names["brook"])
        return found and (found.done, found.total, found.stage)

    return [
        *map(report, (names["brook"], names["reef"])),
        *(listed(names[name]) for name in ("brook", "reef")),
        Look("group", (names["group"],), lambda: repr(groups.read(names["group"]))),
        Look("groups", (names["group"],), there(all_groups, names["group"])),
        Look("self-check", ("self_checks/",), there(lambda: kept_checks.find("0" * 32, longest=9), "0" * 32)),
        Look("servers", ("servers.json",), there(known_servers.remembered, "servers.json")),
        Look(
            "columns",
            ("table-mappings.json",),
            there(lambda: column_mappings.recall(["a", "b", "c"]), "table-mappings.json"),
        ),
        Look("progress", ("progress.json",), there(progress, "progress.json")),
        pages({"reef": names["reef"]}, overview={}, compare={"runs": names["reef"]}, new_run={}),
    ]


KINDS = {
    "kept figures": Kind(_kept_figures, _of_kept_figures, ("cache/run_rows/*",)),
    "small": Kind(_small, _of_small, ("groups/*", "cache/self_checks/*", "*.json", "runs/*/progress.json")),
}
