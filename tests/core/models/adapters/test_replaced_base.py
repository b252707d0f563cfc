"""Adapters whose base model was given other weights, and evaluations of a folder before and after."""

import json
from pathlib import Path

import pytest

from core.errors import InputError, RunCancelled
from core.models import model_loading as loading
from core.models.adapters.juror import fine_tune
from core.models.adapters.train import AdapterRecipe, AdapterTrainer
from core.models.model_fingerprint import fingerprint, folder_fingerprint, short
from core.models.replaced_weights import other_base
from core.models.verdicts import judge
from core.reports import tokens
from core.runs import caveats, store
from core.runs.execution.execute import execute
from core.runs.prompts import Combination
from hedge import cli
from tests.core.models.adapters.conftest import tiny
from tests.core.models.adapters.test_juror import EXAMPLES, TUNING
from tests.core.models.adapters.test_stored import TEXTS
from tests.replaced import own_model, replace_weights


def told(capsys: pytest.CaptureFixture[str], *words: str) -> dict:
    assert cli.main([*words, "--json"]) == 0
    values = json.loads(capsys.readouterr().out)
    assert isinstance(values, dict)
    return values


@pytest.mark.parametrize("kind", ["ard-lora", "lora"])
def test_an_adapter_names_the_weights_under_it_and_says_so_on_others(home, tmp_path: Path, capsys, kind: str):
    base, adapter = own_model(tmp_path / "base"), tmp_path / "mine"
    trained = fingerprint(str(base))
    words = ["--model", str(base), "--out", str(adapter), "--epochs", "1", "--samples", "16", "--rank", "2"]
    told(capsys, "train-adapter", *words, "--kind", kind)
    assert json.loads((adapter / "adapter.json").read_text())["base_weights"] == trained
    evaluate = ("tokens", "evaluate", "--model_path", str(adapter), "--config", "trivia", "--num_samples", "20")
    before = told(capsys, *evaluate)
    assert sum(before["texts"]["tokens"]) == before["n_samples"] == 20
    assert sum(before["texts"]["loss"]) / 20 == pytest.approx(before["nll"], abs=1e-5)
    assert (before["notes"], before["weights"]) == ([], folder_fingerprint(adapter))
    replace_weights(base)
    after = told(capsys, *evaluate)
    clause = (
        f"The weights of base ({short(fingerprint(str(base)))}) are not those on which adapter mine was trained "
        f"({short(trained)})."
    )
    assert after["notes"] == [clause]
    assert after["nll"] != before["nll"]
    assert told(capsys, "tokens", "view", "--model", str(adapter), "--text", "Rome is old.")["notes"] == [clause]
    # Both evaluations are kept, under names that differ.
    results, problems = tokens.results()
    names = [each.name for each in results if each.values["model"] == "mine"]
    assert not problems
    assert len(set(names)) == len(names) == 2
    assert {short(each["weights"]) for each in (before, after)} == {name.rpartition("weights ")[2] for name in names}
    # The message is the same for another named base.
    assert told(capsys, *evaluate, "--base_model", "pocket-1m")["notes"] == []
    assert cli.main([*evaluate, "--base_model", str(base)]) == 0
    assert clause in capsys.readouterr().out


def test_a_juror_on_other_weights_is_refused_and_a_run_of_it_carries_a_caveat(home, tmp_path: Path):
    base, juror = own_model(tmp_path / "base"), tmp_path / "juror"
    trained = fingerprint(str(base))
    fine_tune(str(base), EXAMPLES, juror, TUNING)
    assert json.loads((juror / "training.json").read_text())["base_weights"] == trained
    assert other_base(juror, str(base)) == ""
    replace_weights(base)
    now = f"the weights of base ({short(fingerprint(str(base)))}) are not those on which adapter juror was trained"
    with pytest.raises(InputError) as error:
        judge(str(juror), [("0", "What is the capital of Peru?", "Lima")], dtype="float32")
    assert str(error.value) == f"{now} ({short(trained)}); put those weights back, or tune the juror again"
    (spec,) = Combination(models=(str(juror),), tasks=("qa",), samples=20).specs()
    record = store.read_record(execute(spec))
    (caveat,) = [each for each in caveats.of_run_record(record) if each.kind == "base"]
    assert caveat.text.startswith("T" + now[1:])


def test_a_juror_on_other_weights_is_named_wherever_it_is_used(home, tmp_path: Path, capsys):
    base, juror, answers = own_model(tmp_path / "base"), tmp_path / "juror", tmp_path / "answers.jsonl"
    fine_tune(str(base), EXAMPLES, juror, TUNING)
    view = ("tokens", "view", "--model", str(juror), "--text", "Rome is old.")
    assert told(capsys, *view)["notes"] == []
    replace_weights(base)
    (note,) = told(capsys, *view)["notes"]
    assert note.startswith(f"The weights of base ({short(fingerprint(str(base)))}) are not those on which adapter")
    assert cli.main(["jury", "answer", "--model", str(juror), "--samples", "8", "--out", str(answers)]) == 2
    assert f"{note[1:-1]}; put those weights back, or train the adapter again" in capsys.readouterr().err
    assert not answers.exists()
    assert cli.main(["train-adapter", "--model", str(juror), "--out", str(tmp_path / "second")]) == 2
    assert "juror is an adapter already; give the model that it belongs to" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["answer", "judge"])
def test_weights_that_are_replaced_during_a_command_give_no_result(home, tmp_path: Path, capsys, monkeypatch, command):
    model, answers, out = own_model(tmp_path / "model"), tmp_path / "answers.jsonl", tmp_path / "out.jsonl"
    row = {"id": "0", "question": "What is the capital of Peru?", "answer": "Lima", "label": True}
    answers.write_text(json.dumps(row))
    judging = ["--juror", str(model), "pocket-1m", "--answers", str(answers)]
    words = ["--model", str(model), "--samples", "8", "--out", str(out)] if command == "answer" else judging
    began = short(fingerprint(str(model)))
    read = loading.load_tokenizer

    def replaced_before(*arguments):
        if short(fingerprint(str(model))) == began:
            replace_weights(model)
        return read(*arguments)

    monkeypatch.setattr(loading, "load_tokenizer", replaced_before)
    assert cli.main(["jury", command, *words]) == 2
    errors = capsys.readouterr().err
    assert f"are not those with which this command began ({began})" in errors
    assert not out.exists()


def test_a_training_does_not_continue_on_other_weights(home, tmp_path: Path):
    base, juror, steps = own_model(tmp_path / "base"), tmp_path / "juror", []

    def tune(*, stop: int = 99) -> list[float]:
        steps.clear()
        return fine_tune(
            str(base), EXAMPLES, juror, TUNING,
            on_step=lambda done, total, loss: steps.append(done), cancelled=lambda: len(steps) == stop,
        )  # fmt: skip

    with pytest.raises(RunCancelled):
        tune(stop=3)
    replace_weights(base)
    losses = tune()
    assert steps == list(range(1, 13))
    assert losses == fine_tune(str(base), EXAMPLES, tmp_path / "alone", TUNING)
    recipe = AdapterRecipe(rank=2, epochs=2)
    options = {"folder": tmp_path / "adapter", "base": "base"}
    trainer = AdapterTrainer(tiny(), TEXTS, recipe, base_weights="a", **options)
    trainer._epoch(0, lambda done, total, loss: None, lambda: False)
    trainer._save()
    assert len(AdapterTrainer(tiny(), TEXTS, recipe, base_weights="a", **options).progress.rows) == 1
    with pytest.raises(InputError, match="holds a training on other weights of base; put them back and finish that"):
        AdapterTrainer(tiny(), TEXTS, recipe, base_weights="b", **options)
