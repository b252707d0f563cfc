"""Caches: the right figures, read-only arrays, and nothing stale once a run was repeated."""

import ast
import itertools
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd
import pytest
import streamlit as st

from app.caches import alpha_lab_cache, overview_cache, prompting_cache, question_cache, run_cache
from app.caches.per_run import PerRun, RunKey
from app.caches.question_cache import QuestionInRuns
from app.components.one_question.question import MOST_RUNS
from app.components.perplexity import perplexity_library
from app.state.alpha_lab import AlphaLabView
from core.conformal.scores import SCORE_NAMES
from core.errors import InputError
from core.models.perplexity import conversations as talks
from core.models.perplexity.prompts import SHIPPED
from core.models.perplexity.request import Request
from core.reports import evaluation, frames, one_question, question_marks
from core.reports.alpha_lab import view as views
from core.reports.alpha_lab.view import SplitView
from core.reports.overview import kept_summaries
from core.reports.prompting import experiments
from core.reports.report import DEFAULT_SCORES, Report, report
from core.runs import store
from core.runs.execution import perplexity_run
from core.runs.spec import MAX_SHOTS, RunSpec
from core.settings import ASSETS, ROOT
from core.storage import disk
from tests.conftest import synthetic_run

# Outside a server every call to a cached function warns that there is no session.
pytestmark = pytest.mark.filterwarnings("ignore")

MOST_SHARED = RunSpec(model="pocket-8m", task="qa").run_id
"""A run that ships, whose questions were asked in the most other runs."""


@pytest.fixture(autouse=True)
def alone(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No cache of an earlier test and no runs that ship."""
    monkeypatch.setattr("core.runs.store.ASSETS", home.parent / "assets")
    st.cache_resource.clear()
    yield
    st.cache_resource.clear()


def test_the_overview_equals_the_reports(home: Path):
    ids = [synthetic_run(seed=i, model=f"model-{i}", n=240) for i in range(2)]
    for alpha, score in zip(itertools.cycle((1, 100, 333, 999)), SCORE_NAMES, strict=False):
        table, problems = overview_cache.overview(run_cache.runs().finished, alpha, score)
        assert problems == ()
        shown = dict.fromkeys((*DEFAULT_SCORES, score))
        expected = [
            {"run": run_id, **overview_figures(report(evaluation.load(run_id), alpha, scores=tuple(shown)))}
            for run_id in sorted(ids)
        ]
        rows = table.sort_values("run", ignore_index=True)[list(expected[0])]
        pd.testing.assert_frame_equal(rows, pd.DataFrame(expected), check_exact=True)


def overview_figures(report: Report) -> dict[str, float]:
    """The columns of Overview with the figures of scores, from a report."""
    columns = {}
    for name, figures in report.scores.items():
        columns[f"{name}_empty_rate"] = figures.empty_rate
        columns[f"{name}_coverage"], columns[f"{name}_coverage_p"] = figures.coverage, figures.p_value
        columns[f"{name}_set_size"], columns[f"{name}_uacc"] = figures.mean_set_size, figures.uacc
        for figure, ends in (
            ("coverage", figures.coverage_band),
            ("set_size", figures.mean_set_size_interval),
            ("uacc", figures.uacc_interval),
        ):
            columns[f"{name}_{figure}_low"], columns[f"{name}_{figure}_high"] = ends
    return columns


def test_cached_arrays_can_not_be_written(home: Path):
    run = run_cache.evaluation(synthetic_run())
    with pytest.raises(ValueError, match="read-only"):
        run.probabilities[0, 0] = 1
    assert run_cache.evaluation(run.run_id) is run


def _accuracy(run_id: str) -> float:
    return alpha_lab_cache.lab_report(run_id, alpha_lab_cache.sets_of(run_id, AlphaLabView())).accuracy


def test_a_repeated_run_is_read_anew(home: Path):
    run_id = synthetic_run(signal=0.1)
    before, version = _accuracy(run_id), run_cache.version(run_id)
    path = store.folder_of(run_id) / "run.json"
    old = path.stat().st_mtime_ns
    assert synthetic_run(signal=4.0) == run_id
    os.utime(path, ns=(old + 10**9, old + 10**9))
    assert _accuracy(run_id) > before
    assert run_cache.version(run_id) != version


def test_the_report_is_cores(home: Path):
    run_id = synthetic_run()
    view = AlphaLabView(alpha=123, empty="top1", left="margin", right="lac", by="group", n=50, split="4", extra="drop")
    split = SplitView(drop_extra=True, n_calibration=50, split_seed=4)
    expected = report(
        views.look(evaluation.load(run_id), split), 123, scores=("margin", "lac"), empty="top1", by="group"
    )
    assert alpha_lab_cache.lab_report(run_id, alpha_lab_cache.sets_of(run_id, view)).to_json() == expected.to_json()


@pytest.mark.parametrize(
    ("view", "expected"),
    [
        ({"n": 5000}, SplitView()),
        ({"n": 5000, "split": "3"}, SplitView(split_seed=3)),
        ({"n": 60, "extra": "drop"}, SplitView(drop_extra=True, n_calibration=60)),
    ],
)
def test_what_a_run_has_not_got_is_given_up(home: Path, view: dict[str, Any], expected: SplitView):
    run_id = synthetic_run()
    assert alpha_lab_cache.sets_of(run_id, AlphaLabView(**view)).split == expected


def test_a_broken_run_leaves_the_others_be(home: Path):
    good, bad = synthetic_run(model="good"), synthetic_run(model="bad")
    (store.folder_of(bad) / "logits.parquet").unlink()
    unreadable = synthetic_run(model="unreadable")
    (store.folder_of(unreadable) / "run.json").write_text("{")
    listed = run_cache.runs()
    table, problems = overview_cache.overview(listed.finished, 100)
    assert table["run"].tolist() == [good]
    assert not problems
    assert {each.run_id for each in listed.problems} == {bad, unreadable}


def test_a_run_that_has_not_ended_has_no_figures(home: Path):
    run_id = synthetic_run()
    store.update_record(run_id, state="running", ended=None)
    assert run_cache.runs().finished == ()
    assert [record.run_id for record in run_cache.runs().unfinished] == [run_id]
    with pytest.raises(InputError, match="running"):
        run_cache.evaluation(run_id)


def test_the_list_of_runs_is_kept_until_a_run_comes_changes_or_goes(home: Path):
    run_id = synthetic_run(20)
    first = run_cache.runs()
    assert run_cache.runs() is first
    other = synthetic_run(20, model="other")
    assert {record.run_id for record in run_cache.runs().records} >= {run_id, other}
    store.update_record(other, state="failed", message="no")
    assert other in [record.run_id for record in run_cache.runs().unfinished]
    shutil.rmtree(store.folder_of(other))
    assert other not in [record.run_id for record in run_cache.runs().records]
    (home / "runs" / run_id).rename(home / "renamed")
    assert run_id not in [record.run_id for record in run_cache.runs().records]
    (home / "renamed").rename(home / "runs" / run_id)
    assert run_cache.runs().records == first.records


def test_a_run_that_could_not_be_read_is_tried_again():
    run_id = synthetic_run(20)
    path = store.folder_of(run_id) / "run.json"
    stamp = path.stat().st_mtime_ns
    content = path.read_bytes()
    path.write_bytes(b"{")
    os.utime(path, ns=(stamp + 1, stamp + 1))
    assert len(run_cache.runs().problems) == 1
    path.write_bytes(content)
    os.utime(path, ns=(stamp + 1, stamp + 1))
    assert run_cache.runs().problems == ()


def test_question_lists_hold_the_test_questions(home: Path):
    run_id = synthetic_run(n=50)
    run, questions = run_cache.evaluation(run_id), question_cache.question_list(run_id)
    np.testing.assert_array_equal(questions["row"], run.test)
    shown = question_cache.shown_question(run_id, str(questions["id"].iloc[3]))
    assert shown.question.id == questions["id"].iloc[3]
    assert [standing.name for standing in shown.standings] == list(SCORE_NAMES)
    assert shown.probabilities.tolist() == run.probabilities[questions["row"].iloc[3]].tolist()


def test_a_question_is_found_in_the_other_runs_that_tested_it(home: Path):
    first, second = synthetic_run(40, model="a"), synthetic_run(40, model="b", seed=0, signal=3)
    synthetic_run(40, model="other options", k=4)
    calibrates = synthetic_run(60, model="c")  # its first thirty calibrate, q25 among them
    question, next_question = (store.read_question(first, name) for name in ("q25", "q35"))
    asked = question_cache.runs_of_question(first, question)
    others = question_cache.in_runs(asked.tested, question, 10)
    assert [record.run_id for record, _ in others.tested] == [first, second]
    assert (asked.untested, others.left_out) == (1, 0)
    run = evaluation.load(second)
    row = run.ids.tolist().index("q25")
    expected = one_question.standings(one_question.bench(run), run.probabilities[row], place=row)
    assert [standing.counts.tolist() for standing in others.tested[1][1]] == [
        standing.counts.tolist() for standing in expected
    ]
    assert question_cache.in_runs(asked.tested, question, 1).left_out == 1
    assert {record.run_id for record in question_cache.runs_of_question(first, next_question).tested} == {
        first,
        second,
        calibrates,
    }


@dataclass
class Calls:
    """Counts the calls of a function."""

    count: int = 0

    def counting(self, called: Callable[..., Any]) -> Callable[..., Any]:
        def wrapped(*args: Any, **named: Any) -> Any:
            self.count += 1
            return called(*args, **named)

        return wrapped


def in_other_runs(run_id: str, question_id: str) -> QuestionInRuns:
    """What the page shows of a question in other runs once they are unfolded."""
    question = store.read_question(run_id, question_id)
    return question_cache.in_runs(question_cache.runs_of_question(run_id, question).tested, question, MOST_RUNS)


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> Calls:
    """How often a run's files were read for its figures, or its questions were hashed."""
    calls = Calls()
    for module, name in ((evaluation, "load"), (question_marks, "marks")):
        monkeypatch.setattr(module, name, calls.counting(getattr(module, name)))
    return calls


def test_the_next_question_reads_no_run_that_ships_again(home: Path, monkeypatch: pytest.MonkeyPatch, reads: Calls):
    monkeypatch.setattr("core.runs.store.ASSETS", ASSETS)
    ids = question_cache.question_list(MOST_SHARED)["id"]
    question_cache.shown_question(MOST_SHARED, ids[0])
    first = in_other_runs(MOST_SHARED, ids[0])
    assert len(first.tested) == 11
    reads.count = 0
    question_cache.shown_question(MOST_SHARED, ids[1])
    second = in_other_runs(MOST_SHARED, ids[1])
    assert [record.run_id for record, _ in second.tested] == [record.run_id for record, _ in first.tested]
    assert reads.count == 0


def test_the_next_question_reads_none_of_as_many_runs_as_are_shown_again(home: Path, reads: Calls):
    run_ids = [synthetic_run(20, model=f"model-{i}") for i in range(MOST_RUNS + 1)]
    assert len(in_other_runs(run_ids[0], "q15").tested) == MOST_RUNS
    reads.count = 0
    assert in_other_runs(run_ids[0], "q16").left_out == 1
    assert reads.count == 0


@pytest.mark.parametrize(
    ("cache", "cached", "module", "computes"),
    [
        (run_cache, "_record", store, "read_record"),
        (run_cache, "_disk_use", disk, "disk_use"),
        (question_cache, "_marks", question_marks, "marks"),
        (overview_cache, "_summary", kept_summaries, "summary"),
        (perplexity_library, "_request", perplexity_run, "read_request"),
    ],
)
def test_what_is_read_of_every_run_has_room_for_them_all(
    home: Path, monkeypatch: pytest.MonkeyPatch, cache: ModuleType, cached: str, module: Any, computes: str
):
    """The 45 runs that ship and 1,000 more, each gone through twice, as every view of a page does."""
    key, calls = run_cache.run_key(synthetic_run(20)), Calls()
    run = evaluation.load(key.run_id)
    arguments = {"disk_use": store.folder_of(key.run_id)}
    if computes == "read_request":  # a run of questions has none
        request = Request(tuple(SHIPPED.values()), talks.bundled())
    else:
        request = getattr(module, computes)(arguments.get(computes, key.run_id))
    folder = store.folder_of(key.run_id)
    if isinstance(getattr(cache, cached), PerRun):  # which holds one version of a run
        monkeypatch.setattr(store, "folder_of", lambda _: folder)
        keys = [RunKey(f"{key.run_id}-{i}", key.stamp) for i in range(45 + 1_000)]
    else:
        keys = [replace(key, stamp=stamp) for stamp in range(45 + 1_000)]
    monkeypatch.setattr(evaluation, "load", lambda _: run)
    monkeypatch.setattr(module, computes, calls.counting(lambda _: request))
    for _ in range(2):
        for entry in keys:
            getattr(cache, cached)(entry)
        assert calls.count == 45 + 1_000


def test_an_overview_that_was_shown_is_not_computed_again(home: Path, monkeypatch: pytest.MonkeyPatch):
    ids, calls = [synthetic_run(seed=i) for i in range(3)], Calls()
    monkeypatch.setattr(frames, "overview_at", calls.counting(frames.overview_at))
    shown = [overview_cache.overview(run_cache.runs().finished, alpha)[0] for alpha in (100, 200, 100, 200)]
    assert calls.count == 2
    assert shown[0] is shown[2]
    assert sorted(shown[0]["run"]) == sorted(ids)
    store.update_record(ids[0], ended=1.0)  # a repeated run
    overview_cache.overview(run_cache.runs().finished, 100)
    assert calls.count == 3


def test_runs_of_the_same_questions_share_their_marks(home: Path):
    first, same = (run_cache.run_key(synthetic_run(20, model=model)) for model in ("a", "b"))
    others = [synthetic_run(20, model="c", k=4), synthetic_run(20, model="d", task="rc"), synthetic_run(30, model="e")]
    assert question_cache._marks(first) is question_cache._marks(same)
    for run_id in others:
        assert question_cache._marks(run_cache.run_key(run_id)) is not question_cache._marks(first)


def test_a_run_that_lacks_its_questions_is_left_out(home: Path):
    run_id, other = synthetic_run(40, model="a"), synthetic_run(40, model="b")
    (store.folder_of(other) / "questions.parquet").unlink()
    assert [
        record.run_id for record in question_cache.runs_of_question(run_id, store.read_question(run_id, "q25")).tested
    ] == [run_id]


def test_the_kind_of_a_runs_questions_is_kept_until_they_change(home: Path):
    run_id = synthetic_run(20)
    kind = question_cache.question_kind(run_id)
    assert (kind.options, kind.closing, kind.has_context) == (6, 2, False)
    assert question_cache.question_kind(run_id) is kind
    synthetic_run(20, k=8)
    assert question_cache.question_kind(run_id).options == 8


def test_the_largest_experiment_fits(home: Path, monkeypatch: pytest.MonkeyPatch):
    """Every way of asking with every number of shots, gone through twice, as every view of the Prompting page does."""
    key, calls = run_cache.run_key(synthetic_run(20)), Calls()
    run = evaluation.load(key.run_id)
    monkeypatch.setattr(experiments, "evaluate", calls.counting(lambda *_: run))
    every = [
        experiments.PromptingMethod(key.run_id, method, shots)
        for method in experiments.METHODS
        for shots in range(MAX_SHOTS + 1)
    ]
    for _ in range(2):
        for method in every:
            prompting_cache.evaluation(method)
        assert calls.count == len(every)


def test_every_cache_lies_among_the_caches_or_in_its_page_s_folder_and_is_bounded():
    """A cache has a bound, or no arguments and so a single entry."""
    folders = ROOT / "app" / "caches", ROOT / "app" / "components"
    count = 0
    for path in sorted((ROOT / "app").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            for decorator in getattr(node, "decorator_list", []):
                words = ast.unparse(decorator)
                if not any(name in words for name in ("st.cache_", "lru_cache", "by_version")):
                    continue
                count += 1
                assert any(path.is_relative_to(folder) for folder in folders), f"{path} has a cache of its own"
                assert "max_entries=" in words or "maxsize=" in words or not node.args.args, (
                    f"{path}: {node.name} grows without a bound"
                )
    assert count >= 40
