"""The right options, read from all rows."""

import itertools

import numpy as np
import pytest

from core.errors import InputError, Undecided
from core.tables.labels import read_labels

pytestmark = pytest.mark.quick


def read(cells, counts=4, **more):
    counts = np.full(len(cells), counts) if isinstance(counts, int) else np.array(counts)
    return read_labels(cells, counts, where=lambda row: f"line {row + 2}", **more)


@pytest.mark.parametrize(
    ("cells", "counts", "more", "labels", "form"),
    [
        ("ABD", 4, {}, [0, 1, 3], "letters"),
        (["(b)", "Answer: C", "A) Oslo", "D. Rome"], 4, {}, [1, 2, 0, 3], "letters"),
        ("0132", 4, {}, [0, 1, 3, 2], "numbers from 0"),
        ("1243", 4, {}, [0, 1, 3, 2], "numbers from 1"),
        ("123", [4, 4, 3], {}, [0, 1, 2], "numbers from 1"),  # 3 is the last of three options
        ("123", 4, {"start": 0}, [1, 2, 3], "numbers from 0"),
        (["2.0", "0.0"], 4, {}, [2, 0], "numbers from 0"),
        (["A", "4", "2"], 4, {}, [0, 3, 1], "numbers from 1 and letters"),  # as ARC has them
        (["Oslo", "rome"], 2, {"texts": [("Oslo", "Rome")] * 2}, [0, 1], "texts"),
        (["7", "12"], 2, {"texts": [("7", "9"), ("5", "12")]}, [0, 1], "texts"),  # options that are numbers
        (["p_dog", "p_cat"], 2, {"names": ("p_cat", "p_dog")}, [1, 0], "names of columns"),
        (["1", "3"], 3, {"names": ("1", "2", "3")}, [0, 2], "numbers of columns"),
        (["0", "1"], 3, {"names": ("1", "2", "3")}, [0, 1], "numbers from 0"),  # 0 names no column
        (["True", "False"], 2, {}, [1, 0], "true or false"),
        (["AB", "C"], 28, {}, [27, 2], "letters"),
    ],
)
def test_each_way_to_name_an_option(cells, counts, more, labels, form):
    reading = read(list(cells), counts, **more)
    assert (reading.labels.tolist(), reading.form) == (labels, form)


@pytest.mark.parametrize(
    ("more", "first"),
    [
        ({"names": ("p_0", "p_1", "p_2", "p_3")}, 0),
        ({"names": ("p_1", "p_2", "p_3", "p_4")}, 1),
        ({"beside": {"answer_letter": ["B", "D", "C"]}}, 0),
        ({"beside": {"answer_text": ["w", "y", "x"]}, "texts": [("w", "x", "y", "z")] * 3}, 1),
        ({"beside": {"correct": ["True", "False", "True"]}, "picks": np.array([1, 2, 2])}, 0),
        ({"beside": {"correct": ["1", "0", "1"]}, "picks": np.array([0, 0, 1])}, 1),
        ({"beside": {"pred": ["3", "1", "2"]}, "picks": np.array([2, 0, 1])}, 1),  # the predictions count from 1
    ],
)
def test_what_decides_where_numbers_count_from_if_they_do_not(more, first):
    reading = read(["1", "3", "2"], **more)
    assert reading.labels.tolist() == [1 - first, 3 - first, 2 - first]
    assert reading.form == f"numbers from {first}"
    assert reading.reason


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"names": ("A", "B", "C", "D")},
        {"picks": np.array([1, 3, 2])},  # three hits of three may be chance
        {"beside": {"correct": ["True", "False", "True"]}, "picks": np.array([1, 3, 1])},  # agrees with neither
    ],
)
def test_a_person_is_asked_where_nothing_decides(more):
    with pytest.raises(Undecided, match="line 2: the answer 1 in 'label' is option B if numbers count from 0 and A if"):
        read(["1", "3", "2"], **more)


@pytest.mark.parametrize("first", [0, 1])
def test_hits_decide_where_a_model_is_right_under_one_reading_alone(first):
    rng = np.random.default_rng(7)
    numbers = rng.integers(1, 4, 200)
    picks = np.where(rng.random(200) < 0.4, numbers - first, rng.integers(0, 4, 200))
    reading = read(list(map(str, numbers)), picks=picks)
    assert reading.form == f"numbers from {first}"
    assert "are then right" in reading.reason


def test_a_model_that_always_takes_one_letter_decides_nothing():
    """Read from 1, nine of ten are right; but shuffled labels are right as often."""
    numbers = np.random.default_rng(7).choice([1, 2, 3], 500, p=[0.9, 0.05, 0.05])
    with pytest.raises(Undecided, match="they run from 1 to 3, of 4 options"):
        read(list(map(str, numbers)), picks=np.zeros(500, dtype=np.int64))


def answers(kind: str, rng: np.random.Generator, truth: np.ndarray, k: int, accuracy: float) -> np.ndarray:
    """Picks of a model that errs evenly, mostly to the last letter, or to a class next to the true one."""
    n = len(truth)
    wrong = {
        "even": (truth + rng.integers(1, k, n)) % k,
        "letter": np.where(rng.random(n) < 0.6, k - 1, rng.integers(0, k, n)),
        "near": np.clip(truth + rng.choice([-1, 1], n), 0, k - 1),
    }[kind]
    return np.where(rng.random(n) < accuracy, truth, wrong)


@pytest.mark.parametrize(
    ("kind", "accuracies", "least_decided"),
    [
        ("even", (0.3, 0.5, 0.9), 0.6),
        ("letter", (0.3, 0.5, 0.9), 0.7),
        ("near", (0.7, 0.9), 0.6),
        ("near", (0.1, 0.2, 0.3), 0),
    ],
)
def test_hits_decide_rightly_or_not_at_all(kind, accuracies, least_decided):
    """Simulated models of 4, 5 and 10 classes, with 60 and 200 rows whose numbers fit both readings. One that is mostly
    off by one class has a right reading that is rarely hit: a wrong decision is rare there, and never elsewhere."""
    collected: list[bool | None] = []
    for accuracy, k, n, seed in itertools.product(accuracies, (4, 5, 10), (60, 200), range(10)):
        rng = np.random.default_rng([seed, k, n, int(100 * accuracy)])
        first, numbers = seed % 2, rng.integers(1, k, n)
        try:
            picks = answers(kind, rng, numbers - first, k, accuracy)
            read_as = read_labels(list(map(str, numbers)), np.full(n, k), where=str, picks=picks).form
            collected.append(read_as == f"numbers from {first}")
        except Undecided:
            collected.append(None)
    assert collected.count(False) <= 0.05 * len(collected) * (least_decided == 0)
    assert collected.count(True) >= least_decided * len(collected)


def test_figures_that_contradict_the_columns_names_decide_nothing():
    numbers = np.random.default_rng(7).integers(1, 4, 200)
    with pytest.raises(Undecided):
        read(list(map(str, numbers)), names=("p_0", "p_1", "p_2", "p_3"), picks=numbers - 1)


def test_a_number_may_be_an_option_or_its_text():
    with pytest.raises(Undecided, match="line 2: the answer 2 in 'label' may be the number of an option or the text"):
        read(["2", "0"], texts=[("0", "2", "1", "3")] * 2)


@pytest.mark.parametrize(
    ("cells", "says"),
    [
        (["-1", "-1"], "line 2: .*found '-1' in every row, so the file has no right answers"),
        (["", ""], "so the file has no right answers"),
        (["0", "4"], "line 3: .*found both 0 and 4 of 4 options"),
        (["1", "7"], r"line 3: expected one of 4 options that can be right \(A to D, or its number\)"),
        (["A", "E"], "line 3: expected one of 4 options"),
        (["A", "Paris"], "line 3: .*as a letter, a number, the name of its column or its text, found 'Paris'"),
        (["A", ""], "line 3: .*found ''"),
    ],
)
def test_a_cell_that_names_no_option_is_named(cells, says):
    with pytest.raises(InputError, match=says):
        read(cells)


def test_a_persons_word_is_noted_only_where_the_file_does_not_say_it():
    assert read(["1", "3"], start=1).is_given
    assert not read(["0", "3"], start=0).is_given
