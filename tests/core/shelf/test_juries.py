"""Juries of the shelf, from a mirror with small files in the publications' formats."""

import json
from urllib.parse import urlsplit

import pytest

from core.jury.pipeline import jury_store
from core.shelf.bring import Brought, bring
from core.shelf.entries import entry
from tests.core.exchange.judged_pair_files import LLMBAR, alpaca_eval, llmbar, pandalm
from tests.core.shelf.mirror import Mirror

pytestmark = pytest.mark.quick


def brought(mirror: Mirror, name: str, files: dict[str, bytes], **where: list[str]) -> Brought:
    shelf_entry = entry(name)
    for file in shelf_entry.files:
        if file.path in files:
            mirror.files[urlsplit(file.address).path] = files[file.path]
    return bring(shelf_entry, where=where)


def figures(done: Brought) -> dict[str, tuple[float, float]]:
    return {f"{figure.model}, {figure.name}": (figure.published, figure.recomputed) for figure in done.figures}


def test_llmbar_with_the_figures_of_each_evaluator(mirror: Mirror):
    files = {
        f"{LLMBAR}/GPT-4/CoT/result.json": llmbar("12121", "1222-", "1211-"),
        f"{LLMBAR}/GPT-4/CoT/statistics.json": json.dumps(
            {
                "correct_False": "3 / 5 = 60.0%",
                "correct_True": "3 / 5 = 60.0%",
                "correct_average": "60.0%",
                "equal": "4 / 5 = 80.0%",
            }
        ).encode(),
    }
    done = brought(mirror, "llmbar", files, set=["Natural"], judge=["GPT-4"], prompt=["CoT"])
    assert figures(done) == {
        "GPT-4 CoT, accuracy, answers in order": (0.6, 0.6),
        "GPT-4 CoT, accuracy, answers swapped": (0.6, 0.6),
        "GPT-4 CoT, same verdict in both orders": (0.8, 0.6),  # 3 of 5, as counted by hand: the table above is wrong
    }
    (jury,) = done.juries
    assert jury_store.read_record(jury).name == "LLMBar: Natural"
    assert jury_store.read(jury).pairwise


def test_pandalm_with_three_way_figures(mirror: Mirror):
    votes = [(1, 1, 2), (2, 2, 2), (0, 0, 1), (1, 2, 0)]  # majorities 1, 2, 0, 1
    done = brought(mirror, "pandalm", pandalm(votes, ["1", "Tie", "0", "2"], [1, 2, 0, 1]))
    recomputed = {name: value for name, (_, value) in figures(done).items()}
    assert len(done.juries) == 2
    assert len(recomputed) == 14
    assert recomputed["pandalm-7b, accuracy"] == recomputed["pandalm-7b, macro F1"] == 1
    # gpt: verdicts 1, 0, 0, 2. Precision 1/2, 1, 0; recall 1, 1/2, 0; F1 2/3, 2/3, 0 for the verdicts 0, 1, 2.
    assert recomputed["gpt-3.5-turbo, accuracy"] == 0.5
    assert recomputed["gpt-3.5-turbo, macro precision"] == pytest.approx(0.5)
    assert recomputed["gpt-3.5-turbo, macro recall"] == pytest.approx(0.5)
    assert recomputed["gpt-3.5-turbo, macro F1"] == pytest.approx(4 / 9)
    assert [recomputed[f"annotators, pairs with the verdict {side}"] for side in (0, 1, 2)] == [1, 2, 1]
    # annotators 1 and 2 agree on 3 of 4; by chance on 2/4·1/4 + 1/4·2/4 + 1/4·1/4 = 5/16
    assert recomputed["annotators, kappa of 1 and 2"] == pytest.approx((3 / 4 - 5 / 16) / (11 / 16))


def test_alpaca_eval_with_its_win_rates(mirror: Mirror):
    files = alpaca_eval(
        {
            "weighted_alpaca_eval_gpt4_turbo": [1.25, 1.75, 1.5, None],
            "alpaca_eval_gpt4_turbo_fn": [1, 2, 1, 1],
            "alpaca_eval_cot_gpt4_turbo_fn": [1, 1, 2, 2],
        }
    )
    done = brought(mirror, "alpaca-eval", files, model=["gpt4"])
    assert figures(done) == {"gpt4, win rate against GPT-4 Turbo, %": (pytest.approx(23.576789), pytest.approx(50.0))}
    (jury,) = done.juries
    record = jury_store.read_record(jury)
    assert record.name == "AlpacaEval 2: gpt4"
    assert record.notes[0].startswith("No human judged these pairs.")
