"""A lesson's figures are computed, and its file is read with one sentence where it can't be."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from core.errors import InputError
from core.reports import evaluation, lesson
from core.reports.alpha_lab import covariate_shift
from core.reports.report import report
from tests.conftest import synthetic_run

PANELS = {"alpha", "switches", "scores", "coverage", "size", "sizes", "left", "right", "bysize", "strata", "redraw"}
PANELS |= {"bugs", "questions"}


def both_sides(run_id: str) -> tuple[evaluation.Evaluation, covariate_shift.Shifted, covariate_shift.Search]:
    run = evaluation.load(run_id)
    sides = {name: covariate_shift.side(run, name, by="lac") for name in covariate_shift.subjects(run)}
    found = covariate_shift.search(list(sides.values()))
    assert found
    return run, covariate_shift.shifted(sides[found.source], sides[found.target]), found


def test_every_figure_in_the_lesson_is_computed(home: Path):
    run, shift, search = both_sides(synthetic_run())
    figures = lesson.facts(run, shift, search)
    told = lesson.load()
    used = {
        name for step in told.steps for text in (step.text, step.question, step.answer) for name in lesson.names(text)
    }
    assert used == used & figures.keys()
    assert figures.keys() == used  # and none is computed for nothing


def test_no_number_is_typed_into_the_lesson():
    for step in lesson.load().steps:
        for text in (step.title, step.text, step.question, step.answer):
            assert not re.search(r"\d", re.sub(r"\{\w+\}", "", text)), step.name


def test_the_panels_it_shows_exist_and_there_are_eight_steps():
    steps = lesson.load().steps
    assert len(steps) == 8
    assert len({step.name for step in steps}) == 8
    for step in steps:
        assert set(step.show) <= PANELS


def test_figures_are_the_reports(home: Path):
    run, shift, search = both_sides(synthetic_run(400, seed=3))
    figures, expected = lesson.facts(run, shift, search), report(run, 100)
    lac = expected.scores["lac"]
    assert figures["accuracy"] == f"{100 * expected.accuracy:.1f}%"
    assert figures["coverage"] == f"{100 * lac.coverage:.1f}%"
    assert figures["size"] == f"{lac.mean_set_size:.2f}"
    assert figures["rank"] == "181"  # ceil(201 * 0.9)
    assert figures["single_share"] == f"{100 * lac.sizes[1] / 200:.1f}%"
    rates = {s.stratum: s.coverage for s in lac.strata}
    assert figures["worst_subject"] == min(rates, key=rates.__getitem__)
    true = 1 - run.probabilities[run.calibration, run.labels[run.calibration]]
    assert figures["median_score"] == f"{np.sort(true)[99]:.3f}"
    assert (figures["subjects"], figures["pairs"]) == ("2", "2")
    assert figures["shift_p"] == f"{100 * search.p_value:.1f}%"
    # Of two subjects dealt out at random the less covered one is this little covered in nearly all deals, or in few.
    assert 0 < float(figures["worst_p"].split("%")[0]) <= 100
    assert figures["shift_coverage"] == f"{100 * shift.coverage[99]:.1f}%"


def test_figures_are_those_of_the_alpha_asked_for(home: Path):
    run, shift, search = both_sides(synthetic_run(400, seed=3))
    figures, expected = lesson.facts(run, shift, search, alpha=255), report(run, 255).scores["lac"]
    assert (figures["alpha"], figures["alpha_percent"], figures["target"]) == ("0.255", "25.5%", "74.5%")
    assert figures["small_alpha"] == "0.127"
    assert figures["rank"] == "150"  # ceil(201 * 0.745)
    assert figures["coverage"] == f"{100 * expected.coverage:.1f}%"
    assert figures["threshold"] == f"{expected.threshold:.3f}"
    assert figures["shift_coverage"] == f"{100 * shift.coverage[254]:.1f}%"
    assert figures["search_alpha"] == "0.1"
    assert lesson.facts(run, shift, search, alpha=1)["rank"].startswith("201 (there are not so many")


def test_a_run_of_one_subject_has_no_shift_to_tell_of(home: Path):
    figures = lesson.facts(evaluation.load(synthetic_run()), None, None)
    assert figures["source"] == lesson.NO_SHIFT


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("title = 'x", "can't be read"),
        ("title = 'x'", "needs a title and at least one step"),
        ("title = 'x'\n[[step]]\nname = 'a'", "step 1 of the lesson .* lacks title, text, question, answer, show"),
    ],
)
def test_a_broken_lesson_is_one_sentence(tmp_path: Path, text: str, said: str):
    path = tmp_path / "lesson.toml"
    path.write_text(text)
    with pytest.raises(InputError, match=said):
        lesson.load(path)


def test_a_figure_that_is_not_computed_is_refused():
    with pytest.raises(InputError, match="speaks of price; there are figures for n"):
        lesson.fill("It costs {price}.", {"n": "3"})
