"""The OOM score goes up once, never above its limit, and back."""

from pathlib import Path

import pytest

from core.processes import oom_score


@pytest.mark.parametrize(("before", "raised"), [("0", "500"), ("-900", "-400"), ("700", "1000")])
def test_the_score_is_raised_and_restored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: str, raised: str):
    monkeypatch.setattr(oom_score, "SCORE", tmp_path / "score")
    oom_score.SCORE.write_text(f"{before}\n")
    restore = oom_score.raise_oom_score()
    assert oom_score.SCORE.read_text() == raised
    restore()
    assert oom_score.SCORE.read_text().strip() == before


def test_nothing_happens_where_there_is_no_score(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(oom_score, "SCORE", tmp_path / "none")
    oom_score.raise_oom_score()()
    assert not oom_score.SCORE.exists()
