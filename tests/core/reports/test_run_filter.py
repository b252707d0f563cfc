"""Which runs a list shows, how they are grouped, and which share their questions."""

from dataclasses import fields, replace

import pytest

from core.reports.run_filter import (
    PROPERTIES,
    RunFilter,
    matching,
    name_order,
    offered,
    resolved,
    source,
    task_order,
    with_filtered_at_defaults,
)
from core.runs.spec import RunSpec
from core.runs.store import RunRecord

pytestmark = pytest.mark.quick


def record(state: str = "done", **spec: object) -> RunRecord:
    return RunRecord(RunSpec(**{"model": "m", "task": "qa", **spec}), state, 0.0)  # type: ignore[arg-type]


RECORDS = [
    record(),
    record(strategy="task"),
    record(dtype="bfloat16", task="rc"),
    record(model="folder/n", form="cloze", origin="table"),
    record(task="qa@hub", state="failed"),
]


@pytest.fixture(autouse=True)
def one_ships(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.runs.store.is_bundled", lambda run_id: run_id == RECORDS[0].run_id)


@pytest.mark.parametrize(
    ("active", "places"),
    [
        (RunFilter(), [0, 1, 2, 3, 4]),
        (RunFilter(strategy=("base",)), [0, 2, 3, 4]),
        (RunFilter(strategy=("base", "task"), form=("letters",)), [0, 1, 2, 4]),
        (RunFilter(dtype=("bfloat16",)), [2]),
        (RunFilter(models=("n", "x")), [3]),
        (RunFilter(tasks=("rc", "qa@MMLU")), [2, 4]),
        (RunFilter(sources=("shipped",)), [0]),
        (RunFilter(sources=("launched",)), [1, 2, 4]),
        (RunFilter(sources=("imported", "shipped")), [0, 3]),
        (RunFilter(states=("failed",)), [4]),
        (RunFilter(sources=("launched",), form=("cloze",), models=("m",)), []),
    ],
)
def test_a_filter_keeps_what_it_names(active: RunFilter, places: list[int]):
    assert [i for i, run_record in enumerate(RECORDS) if active.keeps(run_record)] == places


def test_every_field_of_a_filter_has_its_property():
    assert list(PROPERTIES) == [field.name for field in fields(RunFilter)]
    assert [source(run_record) for run_record in RECORDS] == ["shipped", "launched", "launched", "imported", "launched"]


OPEN = ("strategy", "form", "dtype")


def test_a_setting_that_is_left_open_has_its_default():
    assert resolved(RunFilter(), OPEN, RECORDS) == RunFilter(strategy=("base",), form=("letters",), dtype=("float32",))
    chosen = RunFilter(strategy=("task",), sources=("launched",))
    assert resolved(chosen, OPEN[1:], RECORDS) == replace(chosen, form=("letters",), dtype=("float32",))


def test_runs_with_shots_are_shown_when_they_are_asked_for():
    with_two = replace(RECORDS[0], spec=replace(RECORDS[0].spec, shots=2))
    every = [*RECORDS, with_two]
    assert not resolved(RunFilter(), ("shots",), every).keeps(with_two)
    assert resolved(RunFilter(), ("shots",), [with_two]).keeps(with_two)
    assert [run_record for run_record in every if RunFilter(shots=("2",)).keeps(run_record)] == [with_two]
    assert offered(every)["shots"] == {"0": "0 shots", "2": "2 shots"}


def test_where_no_run_has_the_defaults_every_setting_is_shown():
    assert resolved(RunFilter(), OPEN, RECORDS[1:4]) == RunFilter()
    chosen = RunFilter(tasks=("rc",), form=("letters",))
    assert resolved(chosen, ("strategy", "dtype"), RECORDS) == chosen


def test_what_is_offered_is_what_the_runs_have():
    result = offered(RECORDS)
    assert list(result) == list(PROPERTIES)
    assert list(result["models"]) == ["m", "n"]
    assert list(result["tasks"].items())[:2] == [("qa", "Question answering"), ("rc", "Reading comprehension")]
    assert "qa@MMLU" in result["tasks"]
    assert (list(result["strategy"]), list(result["form"])) == (["base", "task"], ["letters", "cloze"])
    assert result["dtype"] == {"float32": "32-bit", "bfloat16": "16-bit (bf16)"}
    assert result["sources"] == {"shipped": "Shipped with Hedge", "launched": "Yours", "imported": "Imported"}
    assert result["states"] == {"done": "finished", "failed": "failed"}


@pytest.mark.parametrize(
    ("words", "places"),
    [
        ("", [0, 1, 2, 3, 4]),
        ("  QUESTION answering ", [0, 1, 3, 4]),
        ("task instruction", [1]),
        ("reading bf16", [2]),
        ("imported", [3]),
        ("mmlu failed", [4]),
        (RECORDS[2].run_id, [2]),
        ("reading cloze", []),
    ],
)
def test_a_search_finds_runs_that_have_every_word(words: str, places: list[int]):
    assert matching(RECORDS, words) == [RECORDS[i] for i in places]


def test_what_a_filter_fixes_is_left_unsaid():
    spec = RunSpec(model="m", task="qa", strategy="task", dtype="float16", samples=100)
    active = RunFilter(strategy=("task",), form=("letters",), dtype=("float16", "float32"))
    assert with_filtered_at_defaults(spec, active) == replace(spec, strategy="base")


def test_orders():
    assert sorted(["m-13b", "m-3b", "M-2b-chat", "m-2b"], key=name_order) == ["m-2b", "M-2b-chat", "m-3b", "m-13b"]
    assert sorted(["zz", "rc@X", "ds", "aa", "qa@Y", "qa"], key=task_order) == ["qa", "ds", "qa@Y", "rc@X", "aa", "zz"]
