"""Real runs that are cancelled and killed, with the fake model; and each way in which that can go wrong."""

import json

import pytest

from core.checks.outcome import Place
from core.checks.rows import stopping
from core.checks.rows.stopping import judged
from tests.core.checks.planted import assert_fails
from tests.parameters import rest_nightly

WELL = {"ended": True, "took": 0.1, "held": 0.5, "left": 0.0, "finished": "", "state": "done", "wanted": "done"}


@pytest.mark.parametrize("how", rest_nightly(["cancel", "kill"], now=["kill"]))
def test_a_run_is_stopped_and_continued(fake_home, monkeypatch, how):
    monkeypatch.setenv("HEDGE_FAKE_ENGINE", json.dumps({"ms": 4}))
    monkeypatch.setattr(stopping, "RUN", ("run", "--model", "fake", "--task", "qa", "--samples", "200"))
    outcome = getattr(stopping, how)(Place("cpu"))
    assert outcome.passed, outcome.says
    assert "finished what was missing" in outcome.says
    assert float(outcome.figures["memory of the host that it held, GiB"]) > 0.01


def test_a_run_that_does_not_begin_says_why(fake_home, monkeypatch):
    monkeypatch.setattr(stopping, "RUN", ("run", "--model", "fake", "--task", "none-such"))
    outcome = stopping.cancel(Place("cpu"))
    assert_fails(outcome, "did not begin to score and ended: hedge: ")
    assert_fails(outcome, "none-such")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"ended": False}, "still there after 20 s"),
        ({"left": 3.0}, "3.0 GiB of the GPU were not free again"),
        ({"state": "failed"}, "state is failed and not done"),
        ({"finished": "The same command failed: no room"}, "The same command failed: no room"),
    ],
)
def test_each_fault_fails_the_row(change, says):
    assert judged(**WELL).passed
    assert_fails(judged(**WELL | change), says)
