"""The runs that pages open with, of a file that is damaged."""

from pathlib import Path

import pytest

from app import showcase
from core.calibration.bins import top_label
from core.calibration.errors import top_errors
from core.reports import evaluation
from core.reports.compare.run_matrix import run_matrix
from core.reports.report import report
from core.reports.stream_lab import stream_pool
from core.runs import store
from tests.reference.streams import question_stream, stream_figures


@pytest.mark.parametrize(
    "content",
    [b"run = 'a", b"\xff", b"", b"run = 'a'\nsisters = 3\nprompting = ''\nstream = ''\ncalibration = ''\njury = ''"],
)
def test_a_damaged_showcase_takes_no_page_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes):
    monkeypatch.setattr(showcase, "FILE", tmp_path / "showcase.toml")
    (tmp_path / "showcase.toml").write_bytes(content)
    showcase.showcase.cache_clear()
    try:
        records = list(store.readable())
        assert store.is_bundled(showcase.default_run(records).run_id)
        assert showcase.default_comparison(store.run_ids(), most=2)
    finally:
        showcase.showcase.cache_clear()


def test_compare_opens_with_two_models_that_were_asked_alike_and_that_the_tests_tell_apart():
    pair = showcase.default_comparison(store.run_ids(), most=2)
    specs = [store.read_record(name).spec for name in pair]
    assert len({spec.model for spec in specs}) == 2
    assert len({(spec.task, spec.strategy, spec.shots, spec.form, spec.dtype, spec.seed) for spec in specs}) == 1
    matrix = run_matrix([evaluation.load(name) for name in pair], 100)
    assert [matrix.pairs[figure][0].corrected < 0.01 for figure in ("accuracy", "set_size")] == [True, True]


def test_a_fixed_threshold_fails_in_the_stream_that_the_lab_opens_with():
    """The Stream lab tells this story: coverage falls far below its promise, adaptive sets keep it, and the change is
    noticed."""
    pool = stream_pool(*map(evaluation.load, (showcase.showcase().stream, showcase.showcase().run)), "lac")
    stream = question_stream(pool)
    figures = stream_figures(stream, alpha=100, gamma=5)
    before, after = figures.missed[: stream.change], figures.missed[stream.change :]
    assert after.mean() > 0.25 > 0.12 > before.mean()
    assert figures.adaptive.missed[stream.change :].mean() < 0.12
    assert stream.change < (figures.capital.alarm() or 0) < stream.change + 100


def test_the_run_that_pages_open_with_has_graded_probabilities():
    """That of the lesson on calibration is the same model, as often right and overconfident."""
    graded, overconfident = (
        evaluation.load(run_id) for run_id in (showcase.showcase().run, showcase.showcase().calibration)
    )
    tops = [run.probabilities.max(1) for run in (graded, overconfident)]
    assert (tops[0] > 0.999).mean() < 0.15 < 0.5 < (tops[1] > 0.999).mean()
    figures, sure = report(graded, 100), report(overconfident, 100)
    assert figures.scores["aps"].threshold < 0.995
    assert max(figures.ece, top_errors(top_label(graded.probabilities, graded.labels)).ece) < 0.03 < sure.ece
    assert figures.accuracy == pytest.approx(sure.accuracy, abs=0.02)
