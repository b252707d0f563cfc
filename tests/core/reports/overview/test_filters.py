"""Which runs the Overview shows."""

from __future__ import annotations

from dataclasses import replace

import pytest

from core.reports.overview.filters import (
    ALL,
    RunFilter,
    choices,
    name_order,
    resolved,
    task_order,
    with_filtered_at_defaults,
)
from core.runs.spec import RunSpec
from core.runs.store import RunRecord


def record(**spec: object) -> RunRecord:
    return RunRecord(RunSpec(**{"model": "m", "task": "qa", **spec}), "done", 0.0)  # type: ignore[arg-type]


RECORDS = [
    record(),
    record(strategy="task"),
    record(dtype="bfloat16", task="rc"),
    record(model="folder/n", form="cloze"),
    record(task="qa@hub"),
]


@pytest.fixture(autouse=True)
def one_ships(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.runs.store.is_bundled", lambda run_id: run_id == RECORDS[0].run_id)


@pytest.mark.parametrize(
    ("asked", "kept"),
    [
        (RunFilter(), [0, 1, 2, 3, 4]),
        (RunFilter(strategy="base"), [0, 2, 3, 4]),
        (RunFilter(strategy=ALL, form="letters"), [0, 1, 2, 4]),
        (RunFilter(dtype="bfloat16"), [2]),
        (RunFilter(models=("n", "x")), [3]),
        (RunFilter(tasks=("rc", "qa@MMLU")), [2, 4]),
        (RunFilter(source="shipped"), [0]),
        (RunFilter(source="yours"), [1, 2, 3, 4]),
        (RunFilter(source="yours", form="cloze", models=("m",)), []),
    ],
)
def test_a_filter_keeps_what_it_names(asked: RunFilter, kept: list[int]):
    assert [i for i, one in enumerate(RECORDS) if asked.keeps(one)] == kept


def test_the_page_begins_with_the_default_settings():
    assert resolved(RunFilter(), RECORDS) == RunFilter(strategy="base", form="letters", dtype="float32")
    chosen = RunFilter(strategy="task", source="yours")
    assert resolved(chosen, RECORDS) == replace(chosen, form="letters", dtype="float32")


def test_where_no_run_has_the_defaults_every_setting_is_shown():
    assert resolved(RunFilter(), RECORDS[1:4]) == RunFilter(strategy=ALL, form=ALL, dtype=ALL)
    assert resolved(RunFilter(tasks=("rc",), form="letters"), RECORDS) == RunFilter(
        tasks=("rc",), strategy=ALL, form="letters", dtype=ALL
    )


def test_the_choices_are_what_the_runs_have():
    found = choices(RECORDS)
    assert found.models == ("m", "n")
    assert list(found.tasks) == ["qa", "rc", "qa@MMLU"]
    assert found.tasks["qa"] == "Question answering"
    assert (found.strategy, found.form, found.dtype) == (
        ("base", "task"),
        ("letters", "cloze"),
        ("float32", "bfloat16"),
    )
    assert found.has_own
    assert not choices(RECORDS[:1]).has_own


def test_what_a_filter_fixes_is_left_unsaid():
    spec = RunSpec(model="m", task="qa", strategy="task", dtype="float16", samples=100)
    active = RunFilter(strategy="task", form="letters", dtype=ALL)
    assert with_filtered_at_defaults(spec, active) == replace(spec, strategy="base")


def test_orders():
    assert sorted(["m-13b", "m-3b", "M-2b-chat", "m-2b"], key=name_order) == ["m-2b", "M-2b-chat", "m-3b", "m-13b"]
    assert sorted(["zz", "rc@X", "ds", "aa", "qa@Y", "qa"], key=task_order) == ["qa", "ds", "qa@Y", "rc@X", "aa", "zz"]
