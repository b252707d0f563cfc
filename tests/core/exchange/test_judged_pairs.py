"""Judges of pairs as LLMBar, PandaLM and AlpacaEval publish them."""

from pathlib import Path

import pytest

from core.exchange.judged_pairs import ALPACA_TRUTH, majority
from core.exchange.juries import ReadJury
from tests.core.exchange.drops import dropped
from tests.core.exchange.judged_pair_files import LLMBAR, PANDALM, alpaca_eval, llmbar, pandalm

pytestmark = pytest.mark.quick


def juries(folder: Path, files: dict[str, bytes]) -> dict[str, ReadJury]:
    """What a drop of these files becomes, by name."""
    reading = dropped(folder, files)
    assert (reading.runs, reading.refused) == ((), ())
    return {found_jury.jury.name: found_jury.jury for found_jury in reading.juries}


def test_an_evaluator_of_llmbar_is_a_juror_in_each_order(tmp_path):
    juries_read = juries(
        tmp_path,
        {
            f"{LLMBAR}/GPT-4/Vanilla/result.json": llmbar("1212", "1222", "1211"),
            f"{LLMBAR}/Falcon/Swap_CoT/result.json": llmbar("1212", "12-2", "1111"),
        },
    )
    jury = juries_read["Natural"].judgements
    assert jury.pairwise
    assert set(jury.jurors) == {
        "GPT-4 Vanilla",
        "GPT-4 Vanilla, swapped",
        "Falcon Swap CoT",
        "Falcon Swap CoT, swapped",
    }
    assert jury.labels.tolist() == [True, False, True, False]
    by_name = dict(zip(jury.jurors, jury.p_true.T.tolist(), strict=True))
    assert by_name["GPT-4 Vanilla"] == [1, 0, 0, 0]
    assert by_name["GPT-4 Vanilla, swapped"] == [1, 0, 1, 1]
    assert by_name["Falcon Swap CoT"] == [1, 0, 0.5, 0]
    assert jury.answers[0] == "First: one 0\n\nSecond: two 0"
    (note,) = juries_read["Natural"].notes
    assert note.endswith("counts half for each answer of a pair: Falcon Swap CoT 1.")


def test_sets_of_llmbar_are_juries_of_their_own(tmp_path):
    by_name = juries(
        tmp_path,
        {
            f"{LLMBAR}/GPT-4/Vanilla/result.json": llmbar("12", "12", "12"),
            "Dataset/LLMBar/Adversarial/Manual/evaluators/GPT-4/Vanilla/result.json": llmbar("121", "121", "111"),
        },
    )
    assert {name: len(jury.judgements) for name, jury in by_name.items()} == {"Natural": 2, "Manual": 3}


def test_pandalms_judges_and_annotators_are_two_juries(tmp_path):
    votes = [(1, 1, 2), (2, 2, 2), (0, 0, 1), (1, 2, 0), (2, 1, 2)]
    by_name = juries(tmp_path, pandalm(votes, ["1", "Tie", "2", "2", "garbage"], [1, 2, 0, 1, 1]))
    judges, annotators = by_name["judges"], by_name["annotators"]
    assert judges.judgements.jurors == ("gpt-3.5-turbo", "pandalm-7b")
    assert judges.judgements.labels.tolist() == [True, False, True, False]  # the third pair is a tie
    assert judges.judgements.ids == ("0", "1", "3", "4")  # equal texts stay apart
    assert judges.judgements.p_true.T.tolist() == [[1, 0.5, 0, 0.5], [1, 0, 1, 1]]
    assert judges.judgements.questions[0] == "Do 0\n\nabout 0"
    assert judges.judgements.questions[1] == "Do 0"  # NaN stands for no input
    assert judges.notes[0] == "1 pairs are left out, because neither answer counts as better."
    assert annotators.judgements.jurors == ("annotator 1", "annotator 2", "annotator 3")
    assert annotators.notes[0].endswith("their accuracy is high by construction.")
    assert majority((1, 2, 0)) == 1


def test_weighted_preferences_are_probabilities(tmp_path):
    files = alpaca_eval(
        {
            "weighted_alpaca_eval_gpt4_turbo": [1.25, 1.75, 1.5, 1.0],
            "alpaca_eval_gpt4_turbo_fn": [1, 2, 1, None],
            ALPACA_TRUTH: [1, 1, 2, 2],
        }
    )
    jury = juries(tmp_path, files)["gpt4"]
    by_name = dict(zip(jury.judgements.jurors, jury.judgements.p_true.T.tolist(), strict=True))
    assert by_name["weighted_alpaca_eval_gpt4_turbo"] == [0.75, 0.25, 0.5]
    assert jury.judgements.labels.tolist() == [True, True, False]
    assert jury.notes[0].startswith("No human judged these pairs.")
    assert jury.notes[1].startswith("1 pairs are left out, because not every annotator has them.")


@pytest.mark.parametrize(
    ("files", "says"),
    [
        (
            {f"{LLMBAR}/a/b/result.json": llmbar("13", "12", "12")},
            "entry 2: expected 1 or 2, the better answer, found '3'",
        ),
        (
            {f"{LLMBAR}/a/b/result.json": llmbar("12", "1x", "12")},
            "entry 2: expected 1 or 2, the better answer, found 'x'",
        ),
        (
            {f"{LLMBAR}/a/b/result.json": llmbar("12", "12", "12"), f"{LLMBAR}/a/c/result.json": llmbar("1", "1", "1")},
            "found others; give one set at a time",
        ),
        ({PANDALM[1]: pandalm([(1, 1, 1)], ["1"], [1])[PANDALM[1]]}, "it has no pairs; import testset-v1.json too"),
        (
            alpaca_eval(
                {ALPACA_TRUTH: [1], "weighted_alpaca_eval_gpt4_turbo": [None], "alpaca_eval_gpt4_turbo_fn": [1]}
            ),
            "expected pairs that every juror judged",
        ),
        (alpaca_eval({ALPACA_TRUTH: [1, 2], "weighted_alpaca_eval_gpt4_turbo": [1, 2]}), "and of two other annotators"),
        (
            alpaca_eval({ALPACA_TRUTH: [1], "weighted_alpaca_eval_gpt4_turbo": [3], "alpaca_eval_gpt4_turbo_fn": [1]}),
            "expected a preference from 1 to 2, found 3",
        ),
    ],
)
def test_what_is_wrong_is_one_sentence(tmp_path, files, says):
    reading = dropped(tmp_path, files)
    sentence = reading.refused[0].sentence
    assert (reading.juries, says in sentence, "\n" in sentence) == ((), True, False)
