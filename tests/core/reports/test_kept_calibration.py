"""The kept calibration of a run: the same to the last bit, and computed again where anything has changed."""

import shutil
from dataclasses import fields
from pathlib import Path

import pytest

from core.records import OptionLogits
from core.reports import evaluation, kept, kept_calibration
from core.reports.caveats import of_run
from core.reports.one_question import CalibratedRun, bench
from core.runs import store
from tests.conftest import classifier_run, synthetic_run

pytestmark = pytest.mark.quick


def check(own: CalibratedRun, run_id: str) -> None:
    """Each field is that of the run, to the last bit."""
    expected = bench(evaluation.load(run_id))
    for each in fields(CalibratedRun):
        value = getattr(own, each.name)
        if each.name == "letters":
            assert list(value) == list(expected.letters)
        elif each.name == "scores":
            assert list(value) == list(expected.scores)
            for name, calibrated in expected.scores.items():
                assert value[name].scores.tolist() == calibrated.scores.tolist()
                assert not value[name].scores.flags.writeable
                for of in ("name", "parameters", "note", "tuned"):
                    assert getattr(value[name], of) == getattr(calibrated, of)
        else:
            assert value == getattr(expected, each.name)


@pytest.mark.parametrize("make", [lambda: synthetic_run(60), lambda: classifier_run(["ash", "oak", "elm"], 60)])
def test_what_is_kept_equals_what_is_computed(home: Path, monkeypatch: pytest.MonkeyPatch, make):
    run_id = make()
    check(kept_calibration.calibrated_run(run_id), run_id)
    caveats = kept_calibration.caveats(run_id)
    assert caveats == of_run(evaluation.load(run_id))
    check(kept_calibration.calibrated_run(run_id), run_id)
    monkeypatch.setattr(evaluation, "load", lambda *_, **__: pytest.fail("the run was read"))
    kept_calibration.calibrated_run(run_id)
    assert kept_calibration.caveats(run_id) == caveats


def test_new_answers_other_code_and_damage_make_it_again(home: Path, monkeypatch: pytest.MonkeyPatch):
    run_id = synthetic_run(60)
    kept_calibration.calibrated_run(run_id)
    scored = store.read_logits(run_id)
    turned = OptionLogits(scored.ids, scored.logits[::-1].copy(), scored.letter_mass)
    store.write_logits(home / "runs" / run_id, turned)
    check(kept_calibration.calibrated_run(run_id), run_id)
    path = kept.path_of(kept_calibration.KIND, run_id)
    path.write_bytes(path.read_bytes()[:-1])
    check(kept_calibration.calibrated_run(run_id), run_id)
    stamp = path.stat().st_mtime_ns
    monkeypatch.setattr(kept, "code", lambda: "other code")
    kept_calibration.calibrated_run(run_id)
    assert path.stat().st_mtime_ns > stamp


def test_a_module_that_only_words_a_caveat_counts_as_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    shutil.copytree(kept.ROOT / "core", tmp_path / "core", ignore=lambda _, names: {"__pycache__"} & {*names})
    monkeypatch.setattr(kept, "ROOT", tmp_path)
    before = kept.code.__wrapped__()
    engine = tmp_path / "core" / "models" / "engine.py"
    engine.write_text(engine.read_text(encoding="utf-8").replace("and lost", "and has lost"), encoding="utf-8")
    assert kept.code.__wrapped__() != before
