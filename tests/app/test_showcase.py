"""The runs that pages open with, of a file that is damaged."""

from pathlib import Path

import pytest

from app import showcase
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
