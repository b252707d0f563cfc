"""The sentences that go with a label budget."""

from dataclasses import replace

import pytest

from core.reports.label_budget import about_units
from tests.core.jury.verdicts import seeded_jury


@pytest.mark.parametrize(("units", "few"), [(20, True), (49, True), (60, False)])
def test_answers_about_few_questions_carry_a_warning(units: int, few: bool) -> None:
    judged = seeded_jury(120)
    assert about_units(judged) == []
    notes = about_units(replace(judged, cluster_names=tuple(str(i % units) for i in range(120))))
    assert notes[0] == "Answers of one question or cluster count as one unit."
    assert [f"There are only {units} of them" in note for note in notes[1:]] == [True] * few
