"""The table of scores that the browser gets."""

import pytest

from core.conformal.scores import SCORES
from core.conformal.scores.table import score_table

pytestmark = pytest.mark.quick


def test_every_score_is_one_record_with_its_own_words():
    table = score_table()
    assert [row["name"] for row in table] == list(SCORES)
    for row, of in zip(table, SCORES.values(), strict=True):
        said = (row["title"], row["gloss"], row["sentence"], row["formula"], row["source"])
        assert said == (of.title, of.gloss, of.sentence, of.formula, of.source)
        assert (row["randomised"], row["saturates"]) == (of.randomised, of.saturates)
        assert row["parameters"] == list(of.parameters)


def test_parameters_have_the_names_that_javascript_uses():
    raps = next(row for row in score_table() if row["name"] == "raps")
    assert raps["untuned"] == {"weight": 0.1, "freeRanks": 1}
    assert raps["grid"] == [{"weight": one.weight, "freeRanks": one.free_ranks} for one in SCORES["raps"].grid]
    assert len(raps["grid"]) > 1
