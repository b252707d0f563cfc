"""Subjects of one benchmark as one run."""

import json
from pathlib import Path

import numpy as np
import pytest

from core.errors import InputError
from core.exchange import lm_eval
from core.exchange.imported import save
from core.exchange.joined_subjects import benchmark_and_subject, joined_by_benchmark
from core.reports.evaluation import load
from core.reports.report import report
from tests.core.exchange.drops import Drop

SUBJECTS = {"anatomy": 12, "virology": 20, "high_school_us_history": 8}


def samples(folder: Path, task: str, n: int, *, right: int) -> Path:
    """n questions of a task; the first ``right`` are answered correctly."""
    lines = [
        {
            "doc_id": i,
            "doc": {"question": f"{task}: which is number {i}?", "choices": ["one", "two", "three"]},
            "target": 1 if i < right else 2,
            "arguments": [["Which?", f" {letter}"] for letter in "ABC"],
            "resps": [[[-2.0 - i / 100, False]], [[-0.5, True]], [[-1.5, False]]],
            "acc": float(i < right),
        }
        for i in range(n)
    ]
    path = folder / f"samples_{task}_2026-01-01T00-00-00.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_the_subjects_of_a_model_are_one_run_in_which_each_question_counts_once(home, tmp_path):
    runs = []
    for model in ("org__a", "org__b"):
        (tmp_path / model).mkdir()
        for place, (subject, n) in enumerate(SUBJECTS.items(), start=3):
            runs += lm_eval.read(samples(tmp_path / model, f"mmlu_{subject}", n, right=place))
        runs += lm_eval.read(samples(tmp_path / model, "arc_easy", 6, right=3))
    joined = joined_by_benchmark(runs)
    assert [(run.spec.model, run.spec.task, len(run.questions)) for run in joined] == [
        ("org/a", "mmlu", 40),
        ("org/a", "arc_easy", 6),
        ("org/b", "mmlu", 40),
        ("org/b", "arc_easy", 6),
    ]
    run = joined[0]
    assert {question.group for question in run.questions} == set(SUBJECTS)
    assert run.provenance["claims"]["acc"] == pytest.approx((3 + 4 + 5) / 40)  # 3 of 12, 4 of 20 and 5 of 8
    assert run.roles.count("calibration") == 20
    right = [
        logits.argmax() == question.label for question, logits in zip(run.questions, run.scored.logits, strict=True)
    ]
    assert np.mean(right) == pytest.approx(12 / 40)
    (name,) = save([run])
    report(load(name), 100)


def test_a_subject_that_stands_twice_is_refused(tmp_path):
    runs = []
    for folder in ("one", "two"):
        (tmp_path / folder / "org__a").mkdir(parents=True)
        runs += lm_eval.read(samples(tmp_path / folder / "org__a", "mmlu_anatomy", 6, right=2))
    with pytest.raises(InputError, match="org/a has two runs of anatomy in mmlu; leave out one of their files"):
        joined_by_benchmark(runs)


@pytest.mark.parametrize(
    ("task", "parts"),
    [
        ("lukaemon_mmlu_college_biology", ("lukaemon_mmlu", "college_biology")),
        ("mmlu:anatomy", ("mmlu", "anatomy")),
        ("mmlu-virology", ("mmlu", "virology")),
        ("ceval-valid_law", ("ceval-valid", "law")),
        ("leaderboard_bbh_navigate", ("leaderboard_bbh", "navigate")),
        ("hellaswag", ("", "")),
        ("mmlu", ("", "")),
    ],
)
def test_what_a_task_is_a_subject_of(task, parts):
    assert benchmark_and_subject(task) == parts


def test_results_of_qwen_s_scripts_name_the_model_and_the_subject(tmp_path):
    folder = tmp_path / "Qwen-7B" / "mmlu_eval_result"
    folder.mkdir(parents=True)
    header = "question,A,B,C,D,answer,model_output,prob_A,prob_B,prob_C,prob_D,correctness"
    rows = [
        f"Which is {i}?,w{i},x{i},y{i},None of the above,{'DA'[i % 2]},D,0.1,0.2,0.3,0.4,{1 - i % 2}" for i in range(8)
    ]
    (folder / "anatomy_result.csv").write_text("\n".join([header, *rows]) + "\n")
    (found_run,) = Drop([tmp_path], scratch=tmp_path / "scratch").read().runs
    assert (found_run.run.spec.model, found_run.run.spec.task, found_run.lacks) == ("Qwen-7B", "mmlu_anatomy", ())
    assert [question.label for question in found_run.run.questions] == [3, 0] * 4
    assert found_run.run.questions[0].options == ("w0", "x0", "y0", "None of the above")
