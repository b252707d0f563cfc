"""The table of scores that the browser gets."""

import pytest

from core.conformal.scores import SCORES
from core.conformal.scores.table import score_table

pytestmark = pytest.mark.quick


def test_every_score_is_one_record_with_its_own_words():
    assert score_table() == [row for row in score_table(ordered=True) if not SCORES[row["name"]].ordered]
    table = score_table(ordered=True)
    assert [row["name"] for row in table] == list(SCORES)
    for row, entry in zip(table, SCORES.values(), strict=True):
        texts = (row["title"], row["gloss"], row["sentence"], row["formula"], row["source"])
        assert texts == (entry.title, entry.gloss, entry.sentence, entry.formula, entry.source)
        assert (row["randomised"], row["saturates"]) == (entry.randomised, entry.saturates)
        assert row["parameters"] == list(entry.parameters)


def test_parameters_have_the_names_that_javascript_uses():
    raps = next(row for row in score_table() if row["name"] == "raps")
    assert raps["untuned"] == {"weight": 0.1, "freeRanks": 1}
    assert raps["grid"] == [
        {"weight": parameters.weight, "freeRanks": parameters.free_ranks} for parameters in SCORES["raps"].grid
    ]
    assert len(raps["grid"]) > 1
