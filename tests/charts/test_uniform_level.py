"""The Perplexity page's charts: the uniform level among the figures."""

import math

import pytest

from charts.loss_along_conversation import loss_along
from charts.perplexity_dumbbell import dumbbell, uniform_is_drawn
from core.reports import perplexity as reports
from tests.core.reports.test_perplexity import talks

pytestmark = pytest.mark.quick


@pytest.mark.parametrize(("vocabulary", "drawn"), [(16, True), (50_000, False), (None, False)])
@pytest.mark.parametrize("measure", ["perplexity", "message_mean", "bits_per_byte"])
def test_the_level_is_drawn_where_it_is_near(vocabulary: int | None, drawn: bool, measure: str):
    measured = {"A: a": talks(2.9, 3.1), "B: b": talks(2.5, 3.0)}
    table = reports.by_conversation(measured, vocabulary=vocabulary)
    assert uniform_is_drawn(table, measure) == drawn
    names = {"A": "A: a", "B": "B: b"}
    ticks = [layer for layer in dumbbell(table, measure, names).spec["layer"] if layer["mark"]["type"] == "tick"]
    assert len(ticks) == drawn
    along = loss_along(reports.along_conversation(measured), names, vocabulary=vocabulary)
    rules = [layer for layer in along.spec["layer"] if layer["mark"]["type"] == "rule"]
    levels = [row["uniform"] for rule in rules for row in along.spec["datasets"][rule["data"]["name"]]]
    # nats a token lie nearer to each other than perplexities: ln 50,000 is 10.8, which is far from 3.1 too.
    assert levels == pytest.approx([math.log(16)] if drawn else [])
