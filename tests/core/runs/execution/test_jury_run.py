"""The whole path on the shipped model: answers, jurors, verdicts, a jury; stopped and resumed; bad requests."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from core.errors import InputError, RunBusyError, RunCancelled
from core.jury.pipeline import jury_spec, jury_stages, jury_store
from core.jury.pipeline.jury_spec import JurySpec
from core.models.generation import Generator
from core.models.model_fingerprint import fingerprint, short
from core.reports import evaluation, perplexity_results
from core.runs import engine, jury_job, store
from core.runs.agent import liveness
from core.runs.execution import jury_run
from core.runs.execution.execute import execute, memory_gib
from core.runs.spec import RunSpec
from core.storage.file_lock import take
from core.storage.sealed import json_line
from hedge.cli import main
from tests.conftest import without_digests
from tests.core.runs.conftest import until
from tests.damage.damages import flipped
from tests.processes import living
from tests.replaced import own_model, replace_weights

SPEC = JurySpec(base="pocket-1m", jurors=("pocket-1m",) * 3, samples=60, steps=4, rows=8, rank=2)
"""Of 60 questions about a quarter is answered rightly; four steps teach little, but go the whole way."""


def prepared(spec: JurySpec) -> RunSpec:
    """Write a pipeline's folder; returns the spec of its run."""
    return jury_run.spec_of(jury_spec.read_spec(jury_spec.create(spec)))


def made_jury(spec: JurySpec, **options) -> str:
    """Make a jury in this process and return its id."""
    run_id = execute(prepared(spec), **options)
    return store.read_record(run_id).provenance["jury"]


def tuning(path_id: str) -> None:
    """Wait until a juror is being tuned."""

    def begun() -> bool:
        now = jury_job.read_state(path_id)
        assert now.state in ("queued", "running"), now.message
        return now.stage.startswith("tuning")

    until(begun, "the tuning")


def test_what_is_damaged_between_two_tries_is_made_again(home) -> None:
    path_id = jury_spec.create(SPEC)
    folder, seen = jury_spec.folder_of(path_id), []
    undisturbed = made_jury(SPEC)
    answers = (folder / "answers.jsonl").read_bytes()
    before = jury_store.read(undisturbed)

    def line(name: str, number: int) -> None:
        """Damage one line of a file."""
        lines = (folder / name).read_bytes().splitlines(keepends=True)
        lines[number] = flipped(lines[number], 8 * 20)
        (folder / name).write_bytes(b"".join(lines))

    line("answers.jsonl", 7)
    line("judged-pocket-1m-1.jsonl", 3)
    weights = folder / "jurors" / "pocket-1m-2" / "adapter_model.safetensors"
    weights.write_bytes(flipped(weights.read_bytes(), 8 * (weights.stat().st_size - 9)))
    (folder / "losses.json").write_bytes(b"")
    assert jury_job.read_state(path_id).losses == ()
    run_id = jury_run.spec_of(SPEC).run_id
    store.update_record(run_id, state="cancelled")
    jury_store.delete(undisturbed)
    again = made_jury(SPEC, on_progress=lambda now: seen.append(now.stage))
    after = jury_store.read(again)
    assert (after.ids, after.answers, after.labels.tolist()) == (before.ids, before.answers, before.labels.tolist())
    assert after.p_true == pytest.approx(before.p_true, abs=1e-5)  # one is judged in another batch than before
    assert (after.p_true != before.p_true).sum() <= 1
    assert {"answers of pocket-1m", "tuning pocket-1m-2", "verdicts of pocket-1m-1"} <= {*seen}
    assert not {"tuning pocket-1m-1", "verdicts of pocket-1m-3"} & {*seen}
    assert any("juror pocket-1m-2 is tuned again, because adapter" in line for line in store.read_log(run_id))
    assert sorted((folder / "answers.jsonl").read_bytes().splitlines()) == sorted(answers.splitlines())


def test_verdicts_on_another_answer_and_those_of_an_older_version(tmp_path: Path) -> None:
    judged = jury_spec.drawn(SPEC)[:3]
    answers = {question.id: f"answer {i}" for i, question in enumerate(judged)}
    path = tmp_path / "judged-juror.jsonl"
    rows = [{"id": name, "answer": text, "verdict": [0.75, 0.25], "mass": 0.9} for name, text in answers.items()]
    path.write_text("".join(map(json_line, rows)))
    assert list(jury_stages._kept_verdicts(path, judged, answers)) == list(answers)
    changed = answers | {judged[1].id: "another answer"}
    assert list(jury_stages._kept_verdicts(path, judged, changed)) == [judged[0].id, judged[2].id]
    path.write_text("".join(json.dumps({"id": row["id"], "verdict": row["verdict"]}) + "\n" for row in rows))
    assert list(jury_stages._kept_verdicts(path, judged, answers)) == list(answers)
    path.with_suffix(".json").write_text(json.dumps([[0.5, 0.5], None, [0.25, 0.75]]))
    older = jury_stages._kept_verdicts(path, judged, answers)
    assert [row["verdict"] for row in older.values()] == [[0.5, 0.5], None, [0.25, 0.75]]


def test_the_path_from_answers_to_a_jury_resumed_after_each_stop(home) -> None:
    path_id = jury_spec.create(SPEC)
    seen = []
    with pytest.raises(RunCancelled):
        made_jury(SPEC, on_progress=lambda now: seen.append(now.stage), cancelled=lambda: "tuning pocket-1m-2" in seen)
    assert jury_job.read_state(path_id).state == "cancelled"
    assert len(jury_job.read_state(path_id).losses) >= 2
    folder = jury_spec.folder_of(path_id)
    first = (folder / "answers.jsonl").read_text()
    assert len(first.splitlines()) == 60
    judged_once = (folder / "judged-pocket-1m-1.jsonl").read_text()
    seen.clear()
    jury_id = made_jury(SPEC, on_progress=lambda now: seen.append(now.stage))
    assert (folder / "answers.jsonl").read_text() == first
    assert (folder / "judged-pocket-1m-1.jsonl").read_text() == judged_once
    assert not {"answers of pocket-1m", "tuning pocket-1m-1", "verdicts of pocket-1m-1"} & {*seen}
    assert {"loading pocket-1m-2", "tuning pocket-1m-3", "verdicts of pocket-1m-3"} <= {*seen}
    judged = jury_store.read(jury_id)
    assert judged.jurors == ("pocket-1m-1", "pocket-1m-2", "pocket-1m-3")
    assert set(judged.parts) == {"calibration", "test"}
    assert len(judged) + sum(1 for _ in jury_spec.split(jury_spec.drawn(SPEC), SPEC)[0]) == 60
    assert len({tuple(column) for column in judged.p_true.T}) == 3
    state = jury_job.read_state(path_id)
    assert (state.state, state.jury) == ("done", jury_id)
    assert made_jury(SPEC) == jury_id
    # It is no run of answers nor of perplexity, and says so if it is used as one.
    run_id = jury_run.spec_of(SPEC).run_id
    with pytest.raises(InputError, match="made a jury and has no answers of its own; see the Jury page"):
        evaluation.load(run_id)
    with pytest.raises(InputError, match="made a jury; it holds no losses of words"):
        perplexity_results.read(run_id)


@pytest.mark.parametrize(
    ("jurors", "says"),
    [
        (("juror-3m", "pocket-1m"), "other answers tuned the jurors; juror-3m judged as it was."),
        (("juror-3m", "juror-3m-instruct"), "The jurors judged as they were; 28 other answers"),
    ],
)
def test_a_jury_says_which_jurors_its_answers_tuned(home, jurors, says) -> None:
    path_id = jury_spec.create(replace(SPEC, jurors=jurors, steps=1))
    record = jury_store.read_record(made_jury(replace(SPEC, jurors=jurors, steps=1)))
    assert record.name == "Answers of pocket-1m to trivia"
    assert record.origin == "made with Hedge"
    assert record.notes[0].startswith("All answers are by pocket-1m.")
    assert says in record.notes[0]
    doubts = [note for note in record.notes if "its verdicts are no answers" in note]
    assert [doubt.split()[0] for doubt in doubts] == [name for name in jurors if name == "pocket-1m"]  # after one step
    tuned = [path.name for path in (jury_spec.folder_of(path_id) / "jurors").glob("*")]
    assert tuned == [name for name in jurors if not name.startswith("juror-")]


def test_answers_do_not_depend_on_the_batch() -> None:
    prompts = [jury_spec.answer_prompt(q.question) for q in jury_spec.drawn(replace(SPEC, samples=12))]
    loaded = Generator.load("pocket-1m", dtype="float32", longest=6)
    together = dict(loaded.answers(prompts))
    alone = dict(Generator(loaded.model, loaded.tokenizer, longest=6, rows=1).answers(prompts))
    assert together == alone
    assert all("\n" not in text for text in together.values())


def test_two_processes_are_not_at_one_path(home) -> None:
    spec = prepared(SPEC)
    folder = store.create(store.RunRecord(spec=spec, state="queued", created=1.0))
    lock = take(liveness.run_lock(folder))
    assert lock is not None
    with lock, pytest.raises(RunBusyError, match="another process"):
        execute(spec)


def test_answers_that_teach_nothing_fail_in_one_sentence(home, tmp_path) -> None:
    path = tmp_path / "hard.jsonl"
    path.write_text("".join(json.dumps({"question": f"What is {i}?", "answer": f"zz{i}"}) + "\n" for i in range(12)))
    path_id = jury_spec.create(replace(SPEC, questions=str(path)))
    with pytest.raises(InputError, match="0 of 4 are right"):
        made_jury(replace(SPEC, questions=str(path)))
    state = jury_job.read_state(path_id)
    assert (state.state, "0 of 4 are right" in state.message) == ("failed", True)


@pytest.mark.nightly
def test_a_path_waits_in_the_queue_and_a_killed_worker_goes_on_from_its_stage(engine_home: Path) -> None:
    """It waits behind a run, is killed while it tunes, and is gone on with by the next worker."""
    before = engine.submit(RunSpec(model="fake", task="qa", samples=100))
    spec = replace(SPEC, jurors=("pocket-1m",) * 2, samples=40, steps=20)
    path_id = jury_job.launch(spec)
    run_id = jury_run.spec_of(jury_spec.read_spec(path_id)).run_id
    assert jury_job.read_state(path_id).state in ("queued", "running")
    assert run_id in [now.run_id for now in engine.statuses()]
    tuning(path_id)
    assert engine.status(before).state == "done"
    (worker,) = living(engine_home, "core.runs.agent.worker")
    worker.kill()
    until(lambda: engine.status(run_id).tries == 2, "another worker")
    now = until(
        lambda: (state := jury_job.read_state(path_id)).state in ("done", "failed") and state, "the jury", within_s=240
    )
    assert now.state == "done", now.message
    assert now.jury in jury_store.jury_ids()
    log = (store.folder_of(run_id) / "log.txt").read_text()
    assert log.count("answers are right") == 2
    assert log.count("juror pocket-1m-1: 20 steps") == 1
    assert jury_spec.path_ids() == [path_id]
    jury_job.resume(path_id)  # done: nothing is started
    assert jury_job.read_state(path_id).jury == now.jury


@pytest.mark.nightly
def test_one_that_waits_or_tunes_is_cancelled_and_gone_on_with(engine_home: Path) -> None:
    path_id = jury_job.launch(replace(SPEC, samples=40, steps=5000))
    tuning(path_id)
    jury_job.cancel(path_id)
    now = until(lambda: (state := jury_job.read_state(path_id)).state == "cancelled" and state, "its end")
    assert "resume it to continue" in now.message
    jury_job.resume(path_id)
    until(lambda: jury_job.read_state(path_id).state in ("queued", "running"), "the queue")
    jury_job.cancel(path_id)
    until(lambda: jury_job.read_state(path_id).state == "cancelled", "its end again")


def test_a_path_needs_the_memory_of_its_largest_model(home) -> None:
    spec = prepared(replace(SPEC, jurors=("pocket-1m", "pocket-8m")))
    assert memory_gib(spec) == memory_gib(RunSpec(model="pocket-8m", task="qa"))


def test_paths_of_an_older_version_are_read(home) -> None:
    path_id = jury_spec.create(SPEC)
    folder = jury_spec.folder_of(path_id)
    assert jury_job.read_state(path_id).message == jury_job.STOPPED
    before = {"stage": "done", "state": "done", "done": 1, "total": 1, "what": "", "message": "", "losses": [0.7],
              "jury": "answers-of-pocket-1m", "updated": 1.0}  # fmt: skip
    for state, jury in (("done", "answers-of-pocket-1m"), ("failed", ""), ("running", "")):
        (folder / "state.json").write_text(json.dumps(before | {"state": state, "jury": jury}))
        now = jury_job.read_state(path_id)
        assert (now.state, now.jury) == ("failed" if state == "running" else state, jury)


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


def test_a_jury_does_not_mix_weights_and_made_again_begins_anew(home, tmp_path) -> None:
    base = own_model(tmp_path / "base")
    changed_record = replace(SPEC, base=str(base), jurors=(str(base), "pocket-1m"), samples=40, steps=2)
    path_id, seen = jury_spec.create(changed_record), []
    with pytest.raises(RunCancelled):
        execute(
            jury_run.spec_of(jury_spec.read_spec(path_id)),
            on_progress=lambda now: seen.append(now.stage),
            cancelled=lambda: "tuning base" in seen,
        )
    answers = (jury_spec.folder_of(path_id) / "answers.jsonl").read_text()
    replace_weights(base, share=0.1)  # so that some answers are still right
    with pytest.raises(InputError, match="base has changed since this run was asked for"):
        execute(jury_run.spec_of(jury_spec.read_spec(path_id)))
    assert jury_job.read_state(path_id).state == "failed"
    assert (jury_spec.folder_of(path_id) / "answers.jsonl").read_text() == answers
    again = jury_spec.create(changed_record)
    assert again != path_id
    record = jury_store.read_record(made_jury(changed_record))
    assert (jury_spec.folder_of(again) / "answers.jsonl").read_text() != answers
    now = fingerprint(str(base))
    assert record.weights == {"base (answers)": now, "base": now, "pocket-1m": fingerprint("pocket-1m")}
    assert record.weights_note.startswith(f"Weights: base (answers) {short(now)}, base {short(now)}, pocket-1m ")
    assert replace(record, weights={}).weights_note == "Weights not recorded."
    others = [jury_store.read_record(name) for name in jury_store.jury_ids() if name != record.jury_id]
    assert {other.weights_note for other in others} == {""}  # they ship
    trained = json.loads((jury_spec.folder_of(again) / "jurors" / "base" / "training.json").read_text())
    assert trained["base_weights"] == now


def test_juries_of_models_that_ship_keep_their_identity_and_older_ones_are_read(home) -> None:
    assert jury_spec.checked(SPEC) == SPEC
    assert SPEC.path_id == "pocket-1m-trivia-3-jurors-5eb219bb"
    path = jury_spec.folder_of(jury_spec.create(SPEC)) / "path.json"
    values = without_digests(path)
    del values["weights"]
    path.write_text(json.dumps(values))
    assert jury_spec.read_spec(SPEC.path_id) == SPEC
