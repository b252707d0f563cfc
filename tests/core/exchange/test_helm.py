"""HELM: scenario states as its three multiple-choice adapters write them, made here in their shape."""

import json
import math

import numpy as np
import pytest

from core.errors import InputError
from core.exchange import helm

pytestmark = pytest.mark.quick


def instance(i: int, right: int) -> dict:
    options = [f"{word} {i}" for word in ("red", "green", "blue")]
    return {
        "input": {"text": f"What colour is number {i}?"},
        "references": [
            {"output": {"text": text}, "tags": ["correct"] if place == right else []}
            for place, text in enumerate(options)
        ],
        "split": "test",
        "id": f"id{i}",
    }


def state(instance: dict, tokens: list[dict], **more) -> dict:
    completion = {"text": "".join(token["text"] for token in tokens), "logprob": -1.0, "tokens": tokens}
    return {
        "instance": instance,
        "train_trial_index": 0,
        "result": {"success": True, "completions": [completion]},
    } | more


def write(tmp_path, states, method="multiple_choice_joint", **adapter):
    folder = tmp_path / "mmlu:subject=anatomy,model=openai_small"
    folder.mkdir(exist_ok=True)
    path = folder / "scenario_state.json"
    about = {"method": method, "model": "openai/small", "max_train_instances": 5} | adapter
    path.write_text(json.dumps({"adapter_spec": about, "request_states": states}))
    return path


def joint(i: int, shares: tuple[float, ...], right: int = 0) -> dict:
    listed = {f" {letter}": math.log(share) for letter, share in zip("ABC", shares, strict=False)}
    helm_instance = instance(i, right)
    letters = dict(zip("ABC", [reference["output"]["text"] for reference in helm_instance["references"]], strict=True))
    return state(
        helm_instance,
        [{"text": " A", "logprob": listed[" A"], "top_logprobs": listed}],
        output_mapping=letters,
        reference_index=None,
    )


def test_letters_are_read_from_the_first_token(tmp_path):
    path = write(tmp_path, [joint(i, (0.6, 0.3, 0.1), i % 3) for i in range(6)])
    run = helm.read(path)
    assert (run.spec.model, run.spec.task, run.spec.shots) == ("openai/small", "mmlu-anatomy", 5)
    assert run.spec.form == "letters"
    assert run.scored.logits[0].tolist() == pytest.approx(np.log([0.6, 0.3, 0.1]).tolist(), abs=1e-6)
    assert [question.label for question in run.questions] == [0, 1, 2, 0, 1, 2]
    assert run.scored.letter_mass.tolist() == pytest.approx([1.0] * 6)
    assert run.questions[0].options == ("red 0", "green 0", "blue 0")
    assert run.provenance["lacks"] == []


def test_a_letter_that_is_not_listed_gets_its_upper_bound(tmp_path):
    run = helm.read(write(tmp_path, [joint(i, (0.6, 0.3)) for i in range(4)]))
    # What A and B leave over is 0.1, less than B's 0.3.
    assert math.exp(run.scored.logits[0][2]) == pytest.approx(0.1, abs=1e-6)
    assert run.provenance["bounded_questions"] == 4


def separate(i: int, scores: tuple[float, ...], mode="original") -> list[dict]:
    helm_instance = instance(i, 0)
    return [
        state(
            helm_instance,
            [
                {"text": "Q", "logprob": -9.0},
                {"text": f" {text.split()[0]}", "logprob": score - 1.0},
                {"text": f" {i}", "logprob": 0.0},
                {"text": "", "logprob": 0.0},
            ],
            reference_index=place,
            request_mode=mode,
        )
        for place, (text, score) in enumerate(
            zip([reference["output"]["text"] for reference in helm_instance["references"]], scores, strict=True)
        )
    ]


def test_options_that_are_scored_apart_sum_the_tokens_that_spell_them(tmp_path):
    states = [state for i in range(4) for state in separate(i, (-1.0, -2.0, -3.0))]
    run = helm.read(write(tmp_path, states, method="multiple_choice_separate_original"))
    assert run.scored.logits[0].tolist() == [-2.0, -3.0, -4.0]
    assert run.spec.form == "cloze"


def test_what_an_option_scores_without_the_question_is_taken_off(tmp_path):
    states = [state for i in range(4) for state in separate(i, (-1.0, -2.0, -3.0))]
    states += [state for i in range(4) for state in separate(i, (-3.0, -2.0, -1.0), "calibration")]
    run = helm.read(write(tmp_path, states, method="multiple_choice_separate_calibrated"))
    assert run.scored.logits[0].tolist() == [2.0, 0.0, -2.0]


def test_perturbed_and_repeated_questions_and_failures_are_left_out(tmp_path):
    states = [joint(i, (0.6, 0.3, 0.1)) for i in range(4)]
    again = joint(1, (0.1, 0.2, 0.7)) | {"train_trial_index": 1}
    perturbed = joint(2, (0.1, 0.2, 0.7))
    perturbed["instance"]["perturbation"] = {"name": "typos"}
    failed = joint(9, (0.6, 0.3, 0.1)) | {"result": {"success": False, "completions": []}}
    run = helm.read(write(tmp_path, [*states, again, perturbed, failed]))
    assert [question.id for question in run.questions] == [f"id{i}" for i in range(4)]
    assert run.provenance["counts"] == {"asked again": 2, "failed": 1, "questions with a letter that is not listed": 0}


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (
            lambda state: state["result"]["completions"][0]["tokens"][0].pop("top_logprobs"),
            "found only the model's picks",
        ),
        (lambda state: state["instance"].update(references=[]), "request 1: expected options in 'references'"),
        (
            lambda state: state["instance"]["references"][0].update(tags=[]),
            "one reference with the tag 'correct', found 0",
        ),
        (lambda state: state.update(output_mapping={"A": "x", "B": "y"}), "expected a letter for each of the options"),
        (lambda state: state.pop("instance"), "request 1: expected a request with its 'instance'"),
    ],
)
def test_what_is_wrong_is_named(tmp_path, change, says):
    states = [joint(i, (0.6, 0.3, 0.1)) for i in range(4)]
    for state in states:
        change(state)
    with pytest.raises(InputError, match=says):
        helm.read(write(tmp_path, states))


def test_a_generation_scenario_is_refused(tmp_path):
    with pytest.raises(InputError, match="found the method 'generation'"):
        helm.read(write(tmp_path, [joint(0, (0.6, 0.3, 0.1))], method="generation"))
