"""The runs that pages open with, of a file that is damaged."""

from pathlib import Path

import pytest

from app import showcase
from core.reports import evaluation
from core.reports.compare.run_matrix import run_matrix
from core.runs import store


@pytest.mark.parametrize("content", [b"run = 'a", b"\xff", b"", b"run = 'a'\nsisters = 3\nprompting = ''\njury = ''"])
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
