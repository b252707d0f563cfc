"""The kept figures of compared runs: the same to the last bit, and computed again where anything has changed."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from core.records import OptionLogits
from core.reports import evaluation, kept
from core.reports.compare import benchmark, kept_rows
from core.reports.compare.benchmark import SetRule
from core.reports.evaluation import Evaluation
from core.runs import store
from tests.conftest import synthetic_run

pytestmark = pytest.mark.quick

RULE = SetRule(100, ("lac", "aps"))


def unread(run_id: str) -> Evaluation:
    pytest.fail(f"{run_id} was read")


def are_kept(run_id: str, rule: SetRule) -> bool:
    """Whether the run's figures are stored, so that the run need not be read."""

    def load(run_id: str) -> Evaluation:
        raise LookupError(run_id)

    try:
        return len(kept_rows.compared_rows([run_id], rule, load)) == len(rule.scores)
    except LookupError:
        return False


def computed(run_ids: list[str], rule: SetRule = RULE) -> pd.DataFrame:
    runs = [evaluation.load(name) for name in run_ids]
    return benchmark.run_rows(runs, benchmark.reports(runs, rule))


def file_of(home: Path, run_id: str) -> Path:
    return home / "cache" / "run_rows" / f"{run_id}.json"


@pytest.fixture
def runs(home: Path) -> list[str]:
    return [synthetic_run(60, model=f"model-{i}", seed=i) for i in range(2)]


def test_kept_rows_equal_the_computed_ones_to_the_last_bit(runs: list[str]):
    rule = SetRule(100, ("raps", "lac", "aps"), empty="top1")
    first = kept_rows.compared_rows(runs, rule, evaluation.load)
    again = kept_rows.compared_rows(runs, rule, unread)
    assert list(again["score"]) == ["raps", "lac", "aps"] * 2
    for frame in (first, again):
        pd.testing.assert_frame_equal(frame, computed(runs, rule), check_exact=True)


def test_what_is_infinite_or_undefined_is_kept_as_such(home: Path):
    run_id = synthetic_run(60)
    scored = store.read_logits(run_id)
    logits = scored.logits.copy()
    logits[30:, 0] = -np.inf  # the truth of some test questions
    store.write_logits(home / "runs" / run_id, OptionLogits(scored.ids, logits, scored.letter_mass))
    few = SetRule(1, ("lac",))  # so few calibration questions that the threshold is infinite
    kept_rows.compared_rows([run_id], few, evaluation.load)
    again = kept_rows.compared_rows([run_id], few, unread)
    assert np.isinf(again.loc[0, ["nll", "threshold"]].astype(float)).all()
    pd.testing.assert_frame_equal(again, computed([run_id], few), check_exact=True)


def test_a_score_that_was_kept_serves_a_rule_that_names_it_among_others(runs: list[str]):
    kept_rows.compared_rows(runs, RULE, evaluation.load)
    assert are_kept(runs[0], SetRule(100, ("aps",)))
    for other in (SetRule(101, ("lac",)), SetRule(100, ("lac",), empty="top1"), SetRule(100, ("lac",), "paper")):
        assert not are_kept(runs[0], other)


def test_new_answers_are_figured_anew(runs: list[str], home: Path):
    before = kept_rows.compared_rows(runs, RULE, evaluation.load)
    scored = store.read_logits(runs[0])
    turned = OptionLogits(scored.ids, scored.logits[::-1].copy(), scored.letter_mass)
    store.write_logits(home / "runs" / runs[0], turned)
    assert not are_kept(runs[0], RULE)
    assert are_kept(runs[1], RULE)
    after = kept_rows.compared_rows(runs, RULE, evaluation.load)
    pd.testing.assert_frame_equal(after, computed(runs), check_exact=True)
    assert after["accuracy"].tolist() != before["accuracy"].tolist()


def test_figures_of_a_run_that_changes_meanwhile_are_not_kept_for_its_earlier_answers(runs: list[str], home: Path):
    scored = store.read_logits(runs[0])
    turned = OptionLogits(scored.ids, scored.logits[::-1].copy(), scored.letter_mass)

    def repeated_meanwhile(run_id: str) -> Evaluation:
        store.write_logits(home / "runs" / runs[0], turned)
        return evaluation.load(run_id)

    kept_rows.compared_rows(runs, RULE, repeated_meanwhile)
    store.write_logits(home / "runs" / runs[0], scored)  # as a backup has them
    assert not are_kept(runs[0], RULE)
    assert are_kept(runs[1], RULE)


def test_other_code_and_other_versions_figure_anew(runs: list[str], monkeypatch: pytest.MonkeyPatch):
    kept_rows.compared_rows(runs, RULE, evaluation.load)
    monkeypatch.setattr(kept, "code", lambda: "other code")
    assert not are_kept(runs[0], RULE)


@pytest.mark.parametrize("content", ["", "[]", '{"holds_for": 1}', '{"rows": [], "holds_for": "%s"}'])
def test_a_file_that_is_damaged_is_written_anew(runs: list[str], home: Path, content: str):
    kept_rows.compared_rows(runs, RULE, evaluation.load)
    path = file_of(home, runs[0])
    path.write_text(content % json.loads(path.read_bytes())["holds_for"] if "%s" in content else content)
    pd.testing.assert_frame_equal(
        kept_rows.compared_rows(runs, RULE, evaluation.load), computed(runs), check_exact=True
    )
    assert are_kept(runs[0], RULE)


def test_a_home_that_can_not_be_written_changes_no_figure(runs: list[str], home: Path):
    (home / "cache").mkdir(exist_ok=True)
    (home / "cache" / "run_rows").write_text("in the way")
    pd.testing.assert_frame_equal(
        kept_rows.compared_rows(runs, RULE, evaluation.load), computed(runs), check_exact=True
    )


def test_the_latest_rules_of_a_run_are_kept(runs: list[str], home: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(kept_rows, "MOST_RULES", 3)
    for alpha in (100, 150, 200):
        kept_rows.compared_rows(runs[:1], SetRule(alpha, ("lac", "aps")), evaluation.load)
    assert are_kept(runs[0], SetRule(200, ("lac", "aps")))
    assert len(json.loads(file_of(home, runs[0]).read_bytes())["rows"]) == 3
