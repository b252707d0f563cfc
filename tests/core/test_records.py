import numpy as np
import pytest

from core.errors import InputError
from core.records import OptionLogits, PredictionSets, Question, joined

pytestmark = pytest.mark.quick


@pytest.mark.parametrize(("options", "label"), [(("a",), 0), (tuple("a" * 101), 0), (("a", "b"), 2), (("a", "b"), -1)])
def test_a_question_that_can_not_be(options, label):
    with pytest.raises(InputError, match="question 'x' has"):
        Question("x", "qa", "g", "", "?", options, label)


@pytest.mark.parametrize(
    "logits", [np.zeros((2, 3)), np.zeros(1), np.array([[np.nan, 0.0]]), np.array([[np.inf, 0.0]])]
)
def test_logits_that_can_not_be(logits):
    with pytest.raises(InputError):
        OptionLogits(("x",), logits.astype(np.float32), np.ones(1, dtype=np.float32))


def test_sets_know_their_sizes():
    assert PredictionSets(np.array([[True, False], [True, True]]), 0.5).sizes.tolist() == [1, 2]
    with pytest.raises(InputError, match="members"):
        PredictionSets(np.array([True]), 0.5)


def test_batches_are_joined_in_the_order_asked_for():
    """Two batches of different widths, in another order; one has no top tokens, so the whole has none."""
    first = OptionLogits(
        ("b", "a"), np.float32([[1, 2], [3, 4]]), np.float32([0.1, 0.2]), np.ones((2, 2), np.int32), ("x", "y")
    )
    second = OptionLogits(("c",), np.float32([[5, 6, 7]]), np.float32([0.3]), np.full((1, 3), 2, np.int32))
    batch = joined([first, second], ["a", "b", "c"], k=4)
    assert batch.ids == ("a", "b", "c")
    assert batch.logits.tolist() == [[3, 4, -np.inf, -np.inf], [1, 2, -np.inf, -np.inf], [5, 6, 7, -np.inf]]
    assert batch.letter_mass == pytest.approx([0.2, 0.1, 0.3])
    assert batch.option_tokens.tolist() == [[1, 1, 0, 0], [1, 1, 0, 0], [2, 2, 2, 0]]
    assert batch.top_tokens is None
    assert joined([first], ["b", "a"], k=2).top_tokens == ("x", "y")
