"""Jurors: tuned, stopped and resumed to the same weights, used like any model; the model under them stays as it was."""

import json
from dataclasses import asdict, replace

import pytest
import torch
from safetensors.torch import load_file

from core.errors import InputError, RunCancelled
from core.jury.pipeline import jury_store
from core.models.adapters.juror import Example, Tuning, _drawn, fine_tune
from core.models.verdicts import doubt, judge
from hedge.cli import main
from tests.conftest import without_digests
from tests.damage.damages import flipped

EXAMPLES = [
    Example(f"What is the capital of {land}?", answer, right)
    for land, answer, right in (
        ("Peru", "Lima", True),
        ("Peru", "Oslo", False),
        ("Norway", "Oslo", True),
        ("Norway", "Lima", False),
        ("France", "Paris", True),
        ("France", "Rome", False),
    )
]
TUNING = Tuning(rank=4, steps=12, rows=6, rate=1e-2, save_every=5)


@pytest.fixture(scope="module")
def tuned(tmp_path_factory: pytest.TempPathFactory):
    folder = tmp_path_factory.mktemp("juror") / "adapter"
    return folder, fine_tune("pocket-1m", EXAMPLES, folder, TUNING)


def test_a_juror_learns_and_judges_through_the_engine(tuned) -> None:
    folder, losses = tuned
    assert len(losses) == 12
    assert losses[-1] < losses[0]
    judging = judge(str(folder), [(str(i), e.question, e.answer) for i, e in enumerate(EXAMPLES)], dtype="float32")
    assert judging.checked.passed
    verdicts = dict(judging.verdicts())
    assert all(abs(p + q - 1) < 1e-9 for p, q in verdicts.values())
    assert len(verdicts) == len(EXAMPLES)
    before = dict(judge("pocket-1m", [("0", EXAMPLES[0].question, "Lima")], dtype="float32").verdicts())
    assert verdicts["0"] != before["0"]
    assert doubt("tuned", judging.masses) == ""


def test_a_jury_says_whose_verdicts_are_no_answers(tuned, home, tmp_path, capsys) -> None:
    """A model that was never tuned to say True or False would write something else."""
    answers = tmp_path / "answers.jsonl"
    lines = [json.dumps({"id": str(i), **asdict(each)} | {"label": each.right}) for i, each in enumerate(EXAMPLES)]
    answers.write_text("\n".join(lines))
    jurors = ["--juror", str(tuned[0]), "pocket-1m"]
    assert main(["jury", "judge", "--answers", str(answers), *jurors, "--json"]) == 0
    (note,) = jury_store.read_record(json.loads(capsys.readouterr().out)["jury"]).notes
    assert note == (
        "pocket-1m gives both verdicts together less than 0.001% of the probability (median), so its verdicts are no "
        "answers; tune it first, or choose another juror."
    )


def test_the_adapter_is_safetensors_and_names_its_model(tuned) -> None:
    folder, losses = tuned
    names = {path.name for path in folder.iterdir()}
    assert {"adapter_config.json", "adapter_model.safetensors", "training.json"} <= names
    assert not [name for name in names if name.endswith((".bin", ".pt"))]
    assert json.loads((folder / "adapter_config.json").read_text())["base_model_name_or_path"] == "pocket-1m"
    assert json.loads((folder / "training.json").read_text())["losses"] == losses


def test_a_training_that_was_stopped_ends_with_the_same_weights(tuned, tmp_path) -> None:
    folder, losses = tuned
    seen: list[int] = []

    def stop_after_seven() -> bool:
        return len(seen) == 7

    with pytest.raises(RunCancelled, match="after 7 of 12 steps"):
        fine_tune(
            "pocket-1m", EXAMPLES, tmp_path, TUNING,
            on_step=lambda done, total, loss: seen.append(done), cancelled=stop_after_seven,
        )  # fmt: skip
    assert (tmp_path / "checkpoint" / "optimizer.safetensors").is_file()
    again: list[int] = []
    resumed = fine_tune("pocket-1m", EXAMPLES, tmp_path, TUNING, on_step=lambda done, total, loss: again.append(done))
    assert again == [8, 9, 10, 11, 12]
    assert resumed == pytest.approx(losses, abs=1e-6)
    whole, other = (load_file(path / "adapter_model.safetensors") for path in (folder, tmp_path))
    for name, weights in whole.items():
        torch.testing.assert_close(other[name], weights, rtol=0, atol=1e-6)
    assert not (tmp_path / "checkpoint").exists()


def test_a_training_with_a_damaged_checkpoint_begins_anew(tmp_path) -> None:
    lines: list[str] = []

    def one_step() -> int:
        """Take one step, and return its number."""
        steps: list[int] = []
        with pytest.raises(RunCancelled):
            fine_tune(
                "pocket-1m", EXAMPLES, tmp_path, TUNING, log=lines.append,
                on_step=lambda done, total, loss: steps.append(done), cancelled=lambda: bool(steps),
            )  # fmt: skip
        return steps[0]

    assert [one_step(), one_step()] == [1, 2]
    for name in ("adapter_model.safetensors", "optimizer.safetensors", "training.json"):
        path = tmp_path / "checkpoint" / name
        content = path.read_bytes()
        path.write_bytes(flipped(content, 8 * (len(content) - 9)))
        assert one_step() == 1
        assert lines.pop().startswith("the checkpoint of this training was damaged (")
    record = tmp_path / "checkpoint" / "training.json"
    record.write_text(json.dumps(without_digests(record)))  # of an older version
    assert one_step() == 2
    assert lines == []


def test_parts_of_a_step_add_up_to_the_whole(tuned, tmp_path) -> None:
    _, losses = tuned
    in_parts = fine_tune("pocket-1m", EXAMPLES, tmp_path, replace(TUNING, steps=2, at_once=4))
    # The learning rate falls with the steps in all, so only what comes before the first step is alike.
    assert in_parts[0] == pytest.approx(losses[0], abs=1e-5)


def test_every_example_comes_once_a_pass() -> None:
    steps = [_drawn(EXAMPLES, replace(TUNING, rows=4), step) for step in range(3)]
    drawn = [example for step in steps for example in step]
    assert sorted(drawn[:6], key=str) == sorted(drawn[6:], key=str) == sorted(EXAMPLES, key=str)


def test_what_makes_no_juror(tuned, tmp_path) -> None:
    with pytest.raises(InputError, match="6 of 6 are right"):
        fine_tune("pocket-1m", [replace(e, right=True) for e in EXAMPLES], tmp_path, TUNING)
    with pytest.raises(InputError, match="is an adapter already"):
        fine_tune(str(tuned[0]), EXAMPLES, tmp_path, TUNING)
    with pytest.raises(InputError, match="steps must be at least 1, got 0"):
        Tuning(steps=0)
    with pytest.raises(InputError, match=r"learning rate must lie in \(0, 1\), got 2"):
        Tuning(rate=2)
    with pytest.raises(InputError, match="int4 needs an NVIDIA GPU"):
        fine_tune("pocket-1m", EXAMPLES, tmp_path / "q", TUNING, dtype="int4")
