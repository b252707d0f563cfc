import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given

from core.conformal import scores
from core.errors import InputError
from tests.core.conformal.strategies import tied_problems

pytestmark = pytest.mark.quick


def test_of_two_equal_options_the_later_comes_first():
    assert scores.ranks(np.array([[0.4, 0.2, 0.4]])).tolist() == [[2, 3, 1]]


@given(tied_problems())
def test_options_that_a_question_lacks_change_no_other_score(problem):
    """Not even where a real option has the probability 0, as the one that is lacking would have."""
    p, _ = problem
    wider = np.hstack([p, np.full((len(p), 2), np.nan)])
    for name in scores.SCORES:
        alone, beside = scores.score(name, p), scores.score(name, wider)
        assert np.array_equal(beside[:, :-2], alone), name
        assert np.isnan(beside[:, -2:]).all(), name


@given(tied_problems())
def test_permuting_untied_options_permutes_scores(problem):
    p, _ = problem
    p = p + np.arange(p.size).reshape(p.shape) * 1e-4  # no two equal
    p /= p.sum(axis=1, keepdims=True)
    order = np.random.default_rng(0).permutation(p.shape[1])
    for name in scores.SCORE_NAMES:
        assert np.array_equal(scores.score(name, p)[:, order], scores.score(name, p[:, order])), name


@given(tied_problems())
def test_scores_lie_in_the_unit_interval_and_rise_with_rank(problem):
    p, _ = problem
    order = scores.ranks(p).argsort(axis=1)
    for name in ("lac", "aps"):
        s = scores.score(name, p)
        assert ((s >= -1e-12) & (s <= 1)).all()
        assert (np.diff(np.take_along_axis(s, order, axis=1), axis=1) >= 0).all(), name


def test_a_score_is_listed_by_its_own_name():
    assert [entry.name for entry in scores.SCORES.values()] == list(scores.SCORES)


@given(tied_problems())
def test_every_value_lies_in_the_range_of_its_score(problem):
    p, _ = problem
    for name, entry in scores.SCORES.items():
        for parameters in entry.grid or (scores.UNTUNED,):
            low, high = entry.range(p.shape[1], parameters)
            s = scores.score(name, p, parameters=parameters)
            assert ((s >= low - 1e-12) & (s <= high + 1e-12)).all(), (name, parameters)


def test_every_score_is_told_in_full():
    for name, entry in scores.SCORES.items():
        for text in (entry.title, entry.formula, entry.gloss, entry.sentence, entry.source):
            assert text == text.strip() != "", name
        assert entry.sentence.endswith("."), name
        assert not entry.gloss.endswith("."), name
        assert bool(entry.parameters) == bool(entry.grid), name
        assert len(set(entry.grid)) == len(entry.grid), name
        assert set(entry.parameters) <= set(scores.Parameters.__dataclass_fields__), name


def test_a_score_calls_nothing_that_the_browser_rounds_otherwise():
    for path in Path(scores.__file__).parent.glob("*.py"):
        text = path.read_text(encoding="utf-8")
        if "SCORE = Score(" in text:
            assert not re.search(r"np\.(log|exp|power|tanh)", text), path.name


def test_an_unknown_score_names_the_known_ones():
    with pytest.raises(InputError, match="lac, aps"):
        scores.score("nonesuch", np.array([[0.5, 0.5]]))
