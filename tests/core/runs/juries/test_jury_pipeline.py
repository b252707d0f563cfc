"""The whole path on the shipped model: answers, jurors, verdicts, a jury; stopped and resumed; bad requests."""

from __future__ import annotations

import json
import time
from dataclasses import replace

import numpy as np
import pytest

from core.cli import main
from core.errors import InputError, RunBusyError, RunCancelled
from core.inference.generation import Generator
from core.runs.agent.file_lock import take
from core.runs.juries import jury_job, jury_pipeline, jury_stages, jury_store
from core.runs.juries.jury_pipeline import PathSpec

SPEC = PathSpec(base="pocket-1m", jurors=("pocket-1m",) * 3, samples=60, steps=4, rows=8, rank=2)
"""Of 60 questions about a quarter is answered rightly; four steps teach little, but go the whole way."""


def test_the_path_from_answers_to_a_jury_resumed_after_each_stop(home) -> None:
    path_id = jury_pipeline.create(SPEC)
    seen = []

    def stop_while_tuning(state) -> None:
        seen.append((state.stage, state.what))
        if state.stage == "tune":
            jury_pipeline.cancel(path_id)

    with pytest.raises(RunCancelled):
        jury_stages.perform(path_id, on_state=stop_while_tuning)
    assert jury_pipeline.read_state(path_id).state == "cancelled"
    answers = jury_pipeline.folder_of(path_id) / "answers.jsonl"
    first = answers.read_text()
    assert len(first.splitlines()) == 60
    jury_id = jury_stages.perform(path_id)
    assert answers.read_text() == first
    judged = jury_store.read(jury_id)
    assert judged.jurors == ("pocket-1m-1", "pocket-1m-2", "pocket-1m-3")
    assert set(judged.parts) == {"calibration", "test"}
    assert len(judged) + sum(1 for _ in jury_pipeline.split(jury_pipeline.drawn(SPEC), SPEC)[0]) == 60
    assert len({tuple(column) for column in judged.p_true.T}) == 3
    state = jury_pipeline.read_state(path_id)
    assert (state.state, state.jury) == ("done", jury_id)
    assert jury_stages.perform(path_id) == jury_id


@pytest.mark.parametrize(
    ("jurors", "says"),
    [
        (("juror-3m", "pocket-1m"), "other answers tuned the jurors; juror-3m judged as it was."),
        (("juror-3m", "juror-3m-instruct"), "The jurors were adapters already"),
    ],
)
def test_a_jury_says_which_jurors_its_answers_tuned(home, jurors, says) -> None:
    path_id = jury_pipeline.create(replace(SPEC, jurors=jurors, steps=1))
    record = jury_store.read_record(jury_stages.perform(path_id))
    assert record.name == "Answers of pocket-1m to trivia"
    assert path_id in record.origin
    assert record.notes[0].startswith("All answers are by pocket-1m.")
    assert says in record.notes[0]
    tuned = [path.name for path in (jury_pipeline.folder_of(path_id) / "jurors").glob("*")]
    assert tuned == [name for name in jurors if not name.startswith("juror-")]


def test_answers_do_not_depend_on_the_batch() -> None:
    prompts = [jury_pipeline.answer_prompt(q.question) for q in jury_pipeline.drawn(replace(SPEC, samples=12))]
    loaded = Generator.load("pocket-1m", dtype="float32", longest=6)
    together = dict(loaded.answers(prompts))
    alone = dict(Generator(loaded.model, loaded.tokenizer, longest=6, rows=1).answers(prompts))
    assert together == alone
    assert all("\n" not in text for text in together.values())


def test_a_fact_and_its_inverse_stay_on_one_side() -> None:
    spec = replace(SPEC, samples=None)
    parts = jury_pipeline.split(jury_pipeline.drawn(spec), spec)
    clusters = [{q.cluster for q in part} for part in parts]
    assert not clusters[0] & clusters[1]
    assert not (clusters[0] | clusters[1]) & clusters[2]
    sizes = np.array([len(part) for part in parts]) / sum(map(len, parts))
    np.testing.assert_allclose(sizes, [1 / 3, 1 / 3, 1 / 3], atol=0.02)
    own = [{q.id for q in jury_pipeline.own_part(parts[0], spec, place)} for place in range(3)]
    assert len(own[0] & own[1]) < len(own[0])


def test_questions_that_are_for_tuning_tune(tmp_path) -> None:
    rows = [{"question": f"What is {n}?", "answer": str(n), "tuning": n % 4 == 0} for n in range(40)]
    path = tmp_path / "questions.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    spec = PathSpec(base="pocket-1m", jurors=("pocket-1m",) * 2, questions=str(path), tune_share=0.9)
    tuning, calibration, test = jury_pipeline.split(jury_pipeline.drawn(spec), spec)
    assert {int(q.normalized_aliases[0]) for q in tuning} == set(range(0, 40, 4))
    assert len(calibration) == len(test) == 15


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"jurors": ("pocket-1m",)}, "at least two jurors, got 1"),
        ({"samples": 3}, "at least 8, got 3"),
        ({"tune_share": 1.0}, r"tune share must lie in \(0, 1\), got 1"),
        ({"dtype": "int3"}, "unknown dtype 'int3'"),
        ({"steps": 0}, "steps must be at least 1"),
        ({"rate": 3.0}, "learning rate must lie in"),
    ],
)
def test_requests_that_make_no_path(change, says) -> None:
    with pytest.raises(InputError, match=says):
        replace(SPEC, **change)


def test_models_and_questions_that_are_not_there(home, tmp_path) -> None:
    with pytest.raises(InputError, match="there is no folder"):
        jury_pipeline.create(replace(SPEC, base="./gone"))
    with pytest.raises(InputError, match="there is no file"):
        jury_pipeline.create(replace(SPEC, questions=str(tmp_path / "gone.jsonl")))
    assert jury_pipeline.path_ids() == []
    with pytest.raises(InputError, match="is no jury path"):
        jury_pipeline.folder_of("../runs")


def test_two_processes_are_not_at_one_path(home) -> None:
    path_id = jury_pipeline.create(SPEC)
    lock = take(jury_pipeline.folder_of(path_id) / "lock")
    assert lock is not None
    with lock, pytest.raises(RunBusyError, match="another process"):
        jury_stages.perform(path_id)


def test_answers_that_teach_nothing_fail_in_one_sentence(home, tmp_path) -> None:
    path = tmp_path / "hard.jsonl"
    path.write_text("".join(json.dumps({"question": f"What is {i}?", "answer": f"zz{i}"}) + "\n" for i in range(12)))
    path_id = jury_pipeline.create(replace(SPEC, questions=str(path)))
    with pytest.raises(InputError, match="0 of 4 are right"):
        jury_stages.perform(path_id)
    state = jury_pipeline.read_state(path_id)
    assert (state.state, "0 of 4 are right" in state.message) == ("failed", True)


def test_a_path_in_the_background_outlives_its_launch(home) -> None:
    path_id = jury_job.launch(replace(SPEC, samples=40, steps=1))
    end = time.monotonic() + 240
    while (state := jury_pipeline.read_state(path_id)).state not in ("done", "failed"):
        assert time.monotonic() < end, state
        time.sleep(0.5)
    assert state.state == "done", state.message
    assert state.jury in jury_store.jury_ids()
    assert jury_pipeline.path_ids() == [path_id]
    jury_job.resume(path_id)  # done: nothing is started
    assert jury_pipeline.read_state(path_id).jury == state.jury


def test_the_stages_on_the_command_line(home, tmp_path, capsys) -> None:
    answers, adapter = tmp_path / "answers.jsonl", tmp_path / "juror"
    words = ["--model", "pocket-1m", "--samples", "40", "--out", str(answers), "--json"]
    assert main(["jury", "answer", *words]) == 0
    assert json.loads(capsys.readouterr().out)["n"] == 40
    words = ["--model", "pocket-1m", "--answers", str(answers), "--out", str(adapter), "--steps", "2", "--rows", "4"]
    assert main(["jury", "finetune", *words, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["steps"] == 2
    assert main(["jury", "judge", "--juror", str(adapter), "pocket-1m", "--answers", str(answers), "--json"]) == 0
    name = json.loads(capsys.readouterr().out)["jury"]
    assert jury_store.read(name).jurors == ("juror", "pocket-1m")
    assert main(["jury", "judge", "--juror", str(adapter), "--answers", str(answers)]) == 2
    assert "at least two jurors" in capsys.readouterr().err
