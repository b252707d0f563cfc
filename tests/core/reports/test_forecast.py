"""Forecasts of runs before they are launched, against figures by hand."""

import os
import platform
from dataclasses import replace
from typing import Any

import pytest

from core.models import counting
from core.models.devices.slots import Slot
from core.reports import forecast as forecasts
from core.reports.forecast import Forecast, Rate, Work
from core.runs import store
from core.runs.prompts import draw_questions, prompts
from core.runs.spec import RunSpec
from core.runs.store import RunRecord
from tests.light_environment import needs_models

pytestmark = pytest.mark.quick

SPEC = RunSpec(model="pocket-1m", task="qa", samples=100)
SMALL = Slot("gpu0", "0", memory_gib=16.0, label="small card")


def measured(spec: RunSpec, *, begins: float, scoring: float, host: str = "") -> RunRecord:
    """A run that took this many seconds before its first question, and this many for all of them."""
    provenance = {"scoring_seconds": scoring, "host": host or platform.node()}
    record = RunRecord(spec, "done", created=0.0, started=100.0, ended=100.0 + begins + scoring, provenance=provenance)
    store.create(record)
    return record


def worked(spec: RunSpec) -> Work:
    """A hundred characters a question, twice as many with demonstrations."""
    questions = spec.samples or 1000
    return Work(questions, questions * (200 if spec.shots else 100), ("a prompt",))


def test_work_is_counted_on_the_prompts_themselves():
    result = forecasts.work_of(SPEC)
    assert result is not None
    requests = prompts(SPEC, draw_questions(SPEC))
    assert (result.questions, result.characters) == (100, sum(len(prompt.text) for prompt in requests))
    assert set(result.sample) <= {prompt.text for prompt in requests}


def test_what_is_still_on_the_hub_is_not_asked_for(home):
    assert forecasts.work_of(RunSpec(model="pocket-1m", task="qa@hub")) is None


def test_time_is_the_beginning_and_the_characters_at_the_measured_rate(home):
    # 100 questions of 100 characters in 20 s: 500 characters a second, after 3 s of loading.
    earlier = [measured(SPEC, begins=3.0, scoring=20.0)]
    spec = replace(SPEC, samples=400, shots=2, seed=1)  # 400 × 200 characters: 160 s
    result = forecasts.forecast(spec, earlier=earlier, devices=[SMALL], worked=worked)
    assert result.seconds == pytest.approx(163.0)
    assert result.rate == Rate(SPEC.run_id, 3.0, 500.0, shots=0, here=True)
    assert result.is_rough
    assert not result.counted
    assert result.tokens == 20_000  # four characters each


@pytest.mark.parametrize("other", [{"model": "other"}, {"dtype": "bfloat16"}, {"form": "cloze"}])
def test_another_kind_of_run_measures_nothing(home, other: dict[str, Any]):
    earlier = [measured(SPEC, begins=3.0, scoring=20.0)]
    assert forecasts.rate(replace(SPEC, **other), earlier, worked=worked) is None


def test_a_rate_of_this_machine_comes_before_one_of_another(home):
    there = measured(SPEC, begins=0.0, scoring=1.0, host="elsewhere")
    here = measured(replace(SPEC, seed=1), begins=0.0, scoring=10.0)
    rate = forecasts.rate(replace(SPEC, seed=2), [there, here], worked=worked)
    assert rate is not None
    assert (rate.run_id, rate.here) == (here.run_id, True)
    rate = forecasts.rate(SPEC, [there], worked=worked)
    assert rate is not None
    assert not rate.here


def test_a_rate_is_that_of_a_run_with_as_many_shots(home):
    """Prompts of 100 characters at 500 a second, and of 200 with shots at 2,000 a second."""
    without = measured(SPEC, begins=0.0, scoring=20.0)
    spec = replace(SPEC, shots=2)
    shot = measured(spec, begins=0.0, scoring=10.0)
    for wanted, run in ((replace(spec, seed=1), shot), (replace(SPEC, seed=1), without)):
        result = forecasts.forecast(wanted, earlier=[without, shot], devices=[SMALL], worked=worked)
        assert result.rate is not None
        assert (result.rate.run_id, result.is_rough) == (run.run_id, False)


def test_a_run_that_was_gone_on_with_measures_nothing(home):
    record = measured(SPEC, begins=3.0, scoring=20.0)
    store.log(store.folder_of(record.run_id), "goes on after 50 questions that an earlier try finished")
    assert forecasts.rate(SPEC, [record], worked=worked) is None


def test_runs_are_spread_over_the_devices_in_their_order(home):
    def taking(seconds: float) -> Forecast:
        result = forecasts.forecast(SPEC, earlier=[], devices=[], worked=worked)
        return replace(result, rate=Rate("", seconds, 1e12, shots=0, here=True))

    runs = [taking(5), taking(3), taking(4)]  # one device: 12; two: 5 beside 3 + 4
    assert forecasts.whole_time(runs, lanes=1) == pytest.approx(12.0)
    assert forecasts.whole_time(runs, lanes=2) == pytest.approx(7.0)
    assert forecasts.whole_time([*runs, replace(runs[0], rate=None)], lanes=2) is None


def test_a_model_that_no_device_holds_is_said(home):
    large = RunSpec(model="mistralai/Mistral-7B-v0.1", task="qa", samples=100)
    result = forecasts.forecast(large, earlier=[], devices=[SMALL], worked=worked)
    assert (
        "it needs about 32.9 GiB, and the largest device, small card, has 16.0; choose int8, which takes 9.4"
        in result.too_large
    )
    half = forecasts.forecast(replace(large, dtype="int4"), earlier=[], devices=[SMALL], worked=worked)
    assert half.too_large == ""
    assert half.download == 2 * 7_242_000_000  # its files on the hub are of 16 bits


def test_disk_goes_by_an_earlier_run_of_the_task(home):
    record = measured(SPEC, begins=1.0, scoring=1.0)
    folder = store.folder_of(record.run_id)
    (folder / "logits.parquet").write_bytes(b"0" * (50_000 - (folder / "run.json").stat().st_size))
    estimate = forecasts.forecast(replace(SPEC, samples=300), earlier=[record], devices=[SMALL], worked=worked)
    assert estimate.disk == 150_000
    estimate = forecasts.forecast(SPEC, earlier=[], devices=[SMALL], worked=worked)
    assert estimate.disk == 100 * forecasts.USUAL_DISK


@needs_models
def test_tokens_are_counted_by_the_models_own_tokenizer(tmp_path):
    result = forecasts.work_of(SPEC)
    assert result is not None
    held = counting.characters_per_token("pocket-1m", result.sample)
    assert held is not None
    assert 2 < held < 6  # English words in pieces
    assert counting.is_here("pocket-1m")
    assert counting.characters_per_token(str(tmp_path), ("text",)) is None
    (tmp_path / "tokenizer.json").write_text("{}")
    assert counting.characters_per_token(str(tmp_path), ("text",)) is None
    assert not counting.is_here("nobody/has-this")


def test_a_continued_run_tells_the_rate_of_its_last_part(home):
    record = measured(SPEC, begins=2.0, scoring=5.0)
    store.log(store.folder_of(record.run_id), "goes on after 50 questions that an earlier try finished")
    assert forecasts.rate(SPEC, [record], worked=worked) is None  # an older run does not say how large that part was
    for scored, expected in ((50, 1000.0), (forecasts.FEWEST_MEASURED - 1, None)):
        part = {"scored": {"questions": scored, "characters": 100 * scored}}
        record = store.update_record(record.run_id, provenance=record.provenance | part)
        rate = forecasts.rate(SPEC, [record], worked=worked)
        assert (rate and rate.characters_s) == expected


def test_the_offered_budget_holds_the_rest_of_the_run():
    def sent(spec: RunSpec) -> Work:
        return Work(100, 10_000, ("a prompt",), (4_568, 100))

    spec = RunSpec("m", "qa", dtype="served", samples=100, servers=("http://a:1/v1",), budget=0.002)
    reached = {"budget_reached": 0.002, "spent": [1_800, 60]}
    record = RunRecord(spec, "paused", 1.0, provenance=reached)
    # 1,860 tokens are spent, and all questions once more take 4,668: more than twice the budget of 2,000.
    assert forecasts.larger_budget(record, worked=sent) == 0.0066
    assert forecasts.larger_budget(replace(record, spec=replace(spec, budget=0.01)), worked=sent) == 0.02
    assert forecasts.larger_budget(record, worked=lambda spec: None) == 0.004


def caveats(spec: RunSpec, work: Work | None, **more: Any) -> dict[str, str]:
    """The text of each caveat by its kind, at four characters a token unless ``more`` says otherwise."""
    assert work is not None
    result = forecasts.expected_caveats(spec, work, **{"earlier": (), "text_of_token": 4.0} | more)
    return {caveat.kind: caveat.text for caveat in result}


LENGTHS = (2800, 2400, 2000, 1600)
"""At four characters a token 700, 600, 500 and 400 tokens; pocket-1m reads 512."""


def test_prompts_that_will_not_fit_are_counted_before_the_launch():
    work = Work(100, 220_000, ("a prompt",), lengths=LENGTHS)
    result = caveats(replace(SPEC, shots=16), work)
    assert result == {
        "cut": "About 50 of 100 prompts are longer than the 512 tokens that pocket-1m reads, so demonstrations will be "
        "dropped. Take fewer shots, or a model that reads more."
    }
    assert "lose the beginning of their contexts. Take shorter questions" in caveats(SPEC, work)["cut"]
    assert "About 75 of 100" in caveats(SPEC, work, text_of_token=3.5)["cut"]
    assert caveats(SPEC, Work(100, 220_000, (), lengths=(2048, 10))) == {}  # 512 tokens fit


def test_an_unknown_context_is_that_of_an_earlier_run(home):
    spec = replace(SPEC, model="somewhere/on-the-hub")
    work = Work(100, 220_000, (), lengths=LENGTHS)
    assert caveats(spec, work, text_of_token=None) == {}
    earlier = measured(replace(spec, seed=1), begins=1.0, scoring=1.0)
    earlier = replace(earlier, provenance=earlier.provenance | {"engine": {"context": 650}})
    assert (
        "About 25 of 100 prompts are longer than the 650 tokens"
        in caveats(spec, work, earlier=[earlier], text_of_token=None)["cut"]
    )
    assert caveats(replace(spec, model="another/model"), work, earlier=[earlier]) == {}


def test_few_questions_are_told_before_the_launch_at_the_alpha_of_its_report():
    result = forecasts.work_of(SPEC)
    assert result is not None
    assert result.sides == (50, 50)
    assert "Only 50 calibration and 50 test questions" in caveats(SPEC, result)["few"]
    enough = Work(300, 1, (), sides=(150, 150))
    assert caveats(SPEC, enough) == {}
    assert "below alpha 0.007" in caveats(SPEC, enough, alpha=5)["few"]


def test_other_options_than_in_every_finished_run_of_the_task_are_told(home):
    texts = replace(SPEC, form="cloze")
    work = forecasts.work_of(replace(texts, samples=400))
    assert work is not None
    assert (work.options, work.other_options) == (4, 6)
    letters = measured(SPEC, begins=1.0, scoring=1.0)
    sentence = caveats(texts, work, earlier=[letters])["options"]
    assert "does not offer “I don't know” and “None of the above”" in sentence
    assert "up to 4 options, and those of the finished runs of this task 6" in sentence
    same = measured(replace(texts, seed=1), begins=1.0, scoring=1.0)
    assert "options" not in caveats(texts, work, earlier=[letters, same])
    assert "options" not in caveats(replace(texts, task="rc"), work, earlier=[letters])
    assert "also offers" in caveats(SPEC, forecasts.work_of(replace(SPEC, samples=400)), earlier=[same])["options"]


def test_the_context_of_a_model_is_the_least_that_its_files_state(tmp_path):
    assert counting.context("pocket-1m") == 512
    folder = tmp_path / "model"
    folder.mkdir()
    assert counting.context(str(folder)) == 0
    (folder / "config.json").write_text('{"text_config": {"max_position_embeddings": 4096}}')
    (folder / "tokenizer_config.json").write_text('{"model_max_length": 1000000000000000019884624838656}')
    assert counting.context(str(folder)) == 4096
    (folder / "tokenizer_config.json").write_text('{"model_max_length": 2048}')
    os.utime(folder / "tokenizer_config.json", ns=(1, 1))
    assert counting.context(str(folder)) == 2048
    (folder / "config.json").write_text("no JSON")
    os.utime(folder / "config.json", ns=(1, 1))
    assert counting.context(str(folder)) == 2048
