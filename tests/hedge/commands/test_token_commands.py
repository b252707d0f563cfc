"""Calibration, adapters and tokens from the shell, with the shipped pocket model."""

import json

import pytest

from core.calibration.metrics import expected_calibration_error
from core.reports.evaluation import load
from hedge import cli
from tests.conftest import synthetic_run


def spoken(capsys, *words: str) -> dict | list:
    assert cli.main([*words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_calibration_of_a_run(home, capsys):
    run_id = synthetic_run(400, signal=2.0)
    (printed,) = spoken(capsys, "calibration", run_id, "--bins", "10", "--recalibrate", "temperature")
    run = load(run_id)
    expected = expected_calibration_error(run.probabilities[run.test], run.labels[run.test], bins=10)
    assert printed["strata"][0]["figures"]["ece"]["value"] == pytest.approx(expected)
    assert [method["method"] for method in printed["recalibrated"]] == ["none", "temperature"]
    assert cli.main(["calibration", run_id, "--recalibrate"]) == 0
    output = capsys.readouterr().out
    assert "isotonic" in output
    assert "NLL ∞ (" in output
    (printed,) = spoken(capsys, "calibration", run_id, "--recalibrate", "isotonic")
    recalibrated = printed["recalibrated"][1]
    assert (recalibrated["nll"], recalibrated["nll_change"]) == (None, [None] * 3)
    assert recalibrated["nll_infinite"] > 0
    assert printed["strata"][0]["figures"]["nll"]["infinite"] == 0
    assert "chance alone" in output


@pytest.fixture(scope="module")
def adapter(tmp_path_factory):
    folder = tmp_path_factory.mktemp("adapters") / "mine"
    words = ["train-adapter", "--model", "pocket-1m", "--out", str(folder), "--epochs", "1", "--samples", "48"]
    assert cli.main([*words, "--rank", "2", "--seed", "3"]) == 0
    return folder


def test_an_adapter_is_trained_evaluated_and_looked_at(home, adapter, capsys):
    words = ["tokens", "evaluate", "--model_path", str(adapter), "--config", "trivia", "--num_samples", "60"]
    printed = spoken(capsys, *words, "--n_bins", "5", "--batch_size", "8", "--seed", "3")
    assert (printed["kind"], printed["n_samples"], printed["vocabulary"], printed["ranks"]) == (
        "ard-lora",
        60,
        2048,
        24,
    )
    beside = json.loads((adapter / "evaluation_results.json").read_text())
    assert beside["nll_infinite"] == 0
    assert beside == {key: value for key, value in printed.items() if key != "files"}
    assert len(beside["reliability"]) == 5
    assert sum(bin_row["n"] for bin_row in beside["reliability"]) == 60
    assert list((home / "tokens").glob("mine-*.json"))
    drawn = spoken(capsys, *words, "--passes", "2")
    assert drawn["uncertainty"]["epistemic"] > 0
    view = spoken(capsys, "tokens", "view", "--model", str(adapter), "--text", "Paris is the capital of France.")
    assert "".join(row["text"] for row in view["tokens"]) == "Paris is the capital of France."
    assert all(len(row["alternatives"]) == 5 for row in view["tokens"][1:])


def test_the_documents_layout(home, adapter, capsys):
    assert cli.main(["tokens", "evaluate", "--model", str(adapter), "--num-samples", "20"]) == 0
    output = capsys.readouterr().out
    for line in (
        "UNCERTAINTY EVALUATION RESULTS",
        "Accuracy (ACC):",
        "Evaluated samples: 20",
        "Vocabulary size: 2,048",
    ):
        assert line in output


def test_letters_of_a_task(home, capsys):
    printed = spoken(
        capsys, "tokens", "evaluate", "--model", "pocket-1m", "--data", "qa", "--letters", "--num-samples", "80"
    )
    assert printed["classes"] == 6
    assert printed["n_samples"] == 80
    assert 0.2 < printed["accuracy"] < 0.7
    assert "brier" in printed


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["tokens", "evaluate", "--model", "pocket-1m", "--data", "magic"], "unknown texts 'magic'"),
        (["train-adapter", "--model", "pocket-1m", "--out", "OUT", "--targets", "qkv"], "choose targets among"),
    ],
)
def test_bad_input_is_a_sentence(home, tmp_path, capsys, words, says):
    words = [str(tmp_path / "out") if word == "OUT" else word for word in words]
    assert cli.main(words) == 2
    errors = capsys.readouterr().err
    assert says in errors
    assert "Traceback" not in errors


def test_the_command_names_a_temperature_at_its_limit(home, capsys):
    run_id = synthetic_run(200, signal=60.0)
    assert cli.main(["calibration", run_id, "--recalibrate", "temperature"]) == 0
    output = capsys.readouterr().out
    assert "\n    The temperature is at its limit of 0.01: " in output
    (printed,) = spoken(capsys, "calibration", run_id, "--recalibrate", "temperature")
    assert "at its limit" in printed["recalibrated"][1]["notes"][0]
