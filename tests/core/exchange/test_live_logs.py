"""lm-evaluation-harness and Inspect still write what is recorded, and what the readers expect; both run here."""

import json
from pathlib import Path

import numpy as np
import pytest

from core.exchange import inspect_log
from core.reports.imported_figures import figures
from core.runs import store
from core.shelf.bring import bring
from core.shelf.leaderboard import of_model
from core.shelf.recompute import summary
from tests.core.exchange.drops import Drop
from tests.core.recorded_logs import read_samples, run_harness, run_inspect, unpack
from tests.core.shelf.conftest import mirror  # noqa: F401  a fixture

pytestmark = pytest.mark.nightly


@pytest.fixture(scope="module")
def harness(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The logs of our two tasks."""
    return run_harness(tmp_path_factory.mktemp("harness"))


@pytest.fixture(scope="module")
def leaderboard(harness: Path) -> Path:
    """The logs of the harness's own tasks of the Open LLM Leaderboard."""
    (folder,) = (path for path in (harness.parents[1] / "leaderboard").iterdir() if path.is_dir())
    return folder


def test_the_harness_writes_what_is_recorded(harness: Path, tmp_path: Path):
    recorded = unpack("lm_eval", tmp_path)
    for pattern in ("samples_bank_letters_*", "samples_bank_cloze_*", "results_*"):
        (ours,), (theirs,) = recorded.glob(pattern), harness.glob(pattern)
        first = [json.loads(path.read_text(encoding="utf-8").splitlines()[0]) for path in (ours, theirs)]
        assert first[0].keys() == first[1].keys()
    for ours, theirs in zip(read_samples(recorded), read_samples(harness), strict=True):
        assert ours.questions == theirs.questions
        assert ours.scored.logits == pytest.approx(theirs.scored.logits, abs=1e-4, nan_ok=True)


def test_inspect_writes_what_is_recorded(tmp_path: Path):
    recorded, written = unpack("inspect", tmp_path / "recorded"), run_inspect(tmp_path / "written")
    assert (recorded / "truth.json").read_text() == (written / "truth.json").read_text()
    for folder in ("plain", "shuffled"):
        logs = zip(*(sorted((root / folder).iterdir()) for root in (recorded, written)), strict=True)
        for ours, theirs in (map(inspect_log.read, pair) for pair in logs):
            assert ours.questions == theirs.questions
            assert np.array_equal(ours.scored.logits, theirs.scored.logits, equal_nan=True)


def test_tasks_of_the_leaderboard_are_read_in_the_columns_of_their_data_sets(leaderboard):
    runs = {run.spec.task: run for run in read_samples(leaderboard)}
    mmlu_pro, gpqa = runs["leaderboard_mmlu_pro"], runs["leaderboard_gpqa_diamond"]
    bbh, musr = runs["leaderboard_bbh_date_understanding"], runs["leaderboard_musr_murder_mysteries"]
    assert (mmlu_pro.spec.shots, bbh.spec.shots, gpqa.spec.shots, musr.spec.shots) == (5, 3, 0, 0)
    assert {len(question.options) for question in mmlu_pro.questions} == {3, 4}
    for run in (mmlu_pro, gpqa, bbh):
        assert run.spec.form == "letters"
        assert not set(run.questions[0].options[:3]) & {"A", "B", "C", "(A)", "(B)", "(C)"}
    gpqa_texts, bbh_texts = ([q.options[q.label] for q in run.questions] for run in (gpqa, bbh))
    assert gpqa_texts == bbh_texts
    assert bbh.questions[0].options[4:] == ("(E)", "(F)")  # scored, although the question does not list them
    assert musr.spec.form == "cloze"
    assert len({question.context for question in musr.questions}) == len(
        musr.questions
    )  # every question is worded alike
    assert 0 < musr.roles.count("test") < len(musr.questions)
    assert all(run.provenance["stated"] == run.provenance["claims"] for run in runs.values())


def test_a_model_of_the_leaderboard_equals_the_direct_import(mirror, monkeypatch, leaderboard, tmp_path):  # noqa: F811
    monkeypatch.setenv("HF_ENDPOINT", mirror.url)
    for path in leaderboard.iterdir():
        mirror.add_to_hub(
            "open-llm-leaderboard/hedge__pocket-1m-details", f"hedge__pocket-1m/{path.name}", path.read_bytes()
        )
    entry = of_model("hedge/pocket-1m")
    assert entry.values_of("task") == ("gpqa", "musr", "bbh", "mmlu_pro")
    done = bring(entry)
    assert summary(done.figures) == "4 of 4 published figures recomputed"
    direct = Drop([leaderboard], scratch=tmp_path).read().runs
    assert {imported_run.run.spec.run_id for imported_run in direct} == set(done.runs)
    for imported_run in direct:
        assert np.array_equal(store.read_logits(imported_run.run.spec.run_id).logits, imported_run.run.scored.logits)


def test_the_published_data_in_one_go(home, tmp_path, real_data):
    """Each file in its place, and figures recomputed: the accuracies of BLUQ are those that it published."""
    (tmp_path / "scratch").mkdir()
    reading = Drop([real_data], scratch=tmp_path / "scratch", name=lambda path: "").read()
    origins = [found_run.run.spec.origin for found_run in reading.runs]
    assert {origin: origins.count(origin) for origin in set(origins)} == {
        "llm-uncertainty-bench": 27,
        "bluq": 10,
        "vlm-uncertainty-bench": 4,
        "table": 16,
    }
    assert sorted(len(found_jury.jury.judgements) for found_jury in reading.juries) == [500, 2000]
    kinds = [file.kind for file in reading.elsewhere]
    assert {kind: kinds.count(kind) for kind in ("conversation", "choices", "questions", "claims")} == {
        "conversation": 5,
        "choices": 1,
        "questions": 4,
        "claims": 3,
    }
    assert [refusal.name for refusal in reading.refused] == ["/juries/base_model_test_data_correctness.csv"]
    assert reading.unmapped == ()
    published_rows = [
        row
        for path in (real_data / "bluq").glob("results_*.json")
        for row in json.loads(path.read_text())
        if row["conformal_method"] == "lac"
    ]
    computed = {
        (found_run.run.spec.model, found_run.run.spec.task): figures(found_run.run).accuracy[0]
        for found_run in reading.runs
        if found_run.run.spec.origin == "bluq"
    }
    assert len(published_rows) == 10
    for row in published_rows:  # of tied options, the later one counts here and the first one there
        assert computed[row["model"], row["task"]] == pytest.approx(row["accuracy"], abs=1e-3)
