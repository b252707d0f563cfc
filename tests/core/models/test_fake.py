"""The fake engine's own switches."""

import json

import pytest

from core.models.fake import FakeEngine
from core.records import Prompt

pytestmark = pytest.mark.quick


def test_a_pace_that_is_just_being_written_is_the_one_before(tmp_path, monkeypatch):
    pace = tmp_path / "pace"
    monkeypatch.setenv("HEDGE_FAKE_ENGINE", json.dumps({"pace": str(pace)}))
    engine, prompt = FakeEngine(), Prompt("q", "text", 2)
    for written in ("2", "", "0.5"):
        pace.write_text(written)
        assert [batch.ids for batch in engine.score([prompt])] == [("q",)]
        assert engine.ms == float(written or 2)
