"""Judgements: what they are, what can't be one, and how those of several jurors are joined and read from a table."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from core.errors import InputError
from core.jury.judgements import COLUMNS, check_jury, from_table, joined, truth
from tests.core.jury.verdicts import jury, seeded_jury

pytestmark = pytest.mark.quick

TWO = jury(np.array([[0.9, 0.5], [0.2, 0.7], [0.1, 0.4]]), np.array([True, False, True]), ("calibration", "test", ""))


def rows(*labels: bool) -> list[tuple[str, str, str, bool, float, float]]:
    """Rows of one juror: part, question, answer, label, p_true, p_false."""
    return [("", f"question {i}", "yes", label, 0.8, 0.2) for i, label in enumerate(labels)]


def test_what_jurors_say_by_hand() -> None:
    assert TWO.verdicts.tolist() == [[1, 0.5], [0, 1], [0, 0]]
    assert replace(TWO, half_ties=False).verdicts.tolist() == [[1, 0], [0, 1], [0, 0]]  # as published, ½ is False
    assert TWO.top.tolist() == [[0.9, 0.5], [0.8, 0.7], [0.9, 0.6]]
    assert TWO.right.tolist() == [[1, 0.5], [1, 0], [0, 0]]
    assert TWO.disagreed.tolist() == [True, True, False]
    assert len(TWO) == 3


def test_an_answer_that_all_call_right_is_not_disputed() -> None:
    assert jury(np.array([[0.9, 0.8], [0.1, 0.2]]), np.ones(2)).disagreed.tolist() == [False, False]


@pytest.mark.parametrize("chosen", [np.array([2, 0]), np.array([True, False, True])])
def test_rows_are_taken_with_all_that_belongs_to_them(chosen: np.ndarray) -> None:
    result = TWO.rows(chosen)
    places = [2, 0] if chosen.dtype != bool else [0, 2]
    for name in ("ids", "questions", "answers", "parts"):
        assert getattr(result, name) == tuple(getattr(TWO, name)[i] for i in places), name
    for name in ("labels", "p_true", "p_false", "verdicts"):
        np.testing.assert_array_equal(getattr(result, name), getattr(TWO, name)[places], err_msg=name)
    with pytest.raises(InputError, match="needs at least one answer to judge"):
        TWO.rows(np.zeros(3, dtype=bool))


def test_a_jury_without_one_juror() -> None:
    three = seeded_jury(10)
    result = three.without(1)
    assert result.jurors == ("juror0", "juror2")
    np.testing.assert_array_equal(result.p_true, three.p_true[:, [0, 2]])
    np.testing.assert_array_equal(result.p_false, three.p_false[:, [0, 2]])
    assert (result.ids, result.parts) == (three.ids, three.parts)
    with pytest.raises(InputError, match=r"at least two jurors, got 1 \(juror1\)"):
        TWO.without(0)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"jurors": ("a", "a")}, "juror 'a' occurs twice"),
        ({"p_true": TWO.p_true[:, :1]}, r"p_true has shape \(3, 1\); expected \(3, 2\)"),
        ({"p_false": TWO.p_false[:2]}, r"p_false has shape \(2, 2\)"),
        ({"p_true": np.where(TWO.p_true == 0.7, 1.2, TWO.p_true)}, "got 1.2 of juror 'juror1' for answer '1'"),
        ({"p_false": np.where(TWO.p_true == 0.4, np.nan, TWO.p_false)}, "got nan of juror 'juror1' for answer '2'"),
        ({"p_false": TWO.p_false + 0.002 * (TWO.p_true == 0.2)}, "must sum to 1, got 0.2 and 0.802 of juror 'juror0'"),
        ({"answers": ("yes",)}, "as many as the answers' ids"),
        ({"labels": np.ones(2, dtype=bool)}, "as many as the answers' ids"),
        ({"parts": ("",) * 4}, "as many as the answers' ids"),
    ],
)
def test_what_can_not_be_is_said(change: dict[str, object], says: str) -> None:
    with pytest.raises(InputError, match=says):
        replace(TWO, **change)


def test_probabilities_may_miss_1_by_a_thousandth() -> None:
    assert replace(TWO, p_false=np.minimum(TWO.p_false + 0.0009, 1)).verdicts.tolist() == [
        [True, False],
        [False, True],
        [False, False],
    ]


def test_a_table_and_back_is_the_same() -> None:
    odd = replace(TWO, p_false=TWO.p_false - 0.0005)  # so that p_false is not 1 − p_true
    table = odd.table()
    assert tuple(table.columns) == COLUMNS
    assert table["juror"].tolist() == ["juror0", "juror1"] * 3
    assert table["id"].tolist() == ["0", "0", "1", "1", "2", "2"]
    result = from_table(table)
    for name in ("jurors", "ids", "questions", "answers", "parts"):
        assert getattr(result, name) == getattr(odd, name), name
    for name in ("labels", "p_true", "p_false", "verdicts"):
        np.testing.assert_array_equal(getattr(result, name), getattr(odd, name), err_msg=name)


def test_the_order_of_a_tables_rows_does_not_part_jurors() -> None:
    table = TWO.table()
    mixed = pd.concat([table[table["juror"] == "juror0"], table[table["juror"] == "juror1"].iloc[::-1]])
    np.testing.assert_array_equal(from_table(mixed).p_true, TWO.p_true)


def test_a_small_table_is_enough() -> None:
    result = from_table(TWO.table()[["question", "answer", "juror", "p_true", "label"]])
    np.testing.assert_allclose(result.p_false, 1 - TWO.p_true)
    assert result.ids == ("1", "2", "3")
    assert result.parts == ("", "", "")


def test_ids_that_name_two_answers_or_none_become_numbers() -> None:
    assert from_table(TWO.table().assign(id=["x", "x", "y", "y", "x", "x"])).ids == ("1", "2", "3")
    assert from_table(TWO.table().assign(id=["x", "x", None, None, "z", "z"])).ids == ("1", "2", "3")
    assert from_table(TWO.table().assign(id=["x", "x", "y", "y", "z", "z"])).ids == ("x", "y", "z")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"p_true": [0.1, "much", 0.1, 0.1, 0.1, 0.1]}, "sheet, row 2: expected p_true as a number .* found 'much'"),
        ({"label": [True, True, "perhaps", True, True, True]}, "sheet, row 3: expected True or False .* 'perhaps'"),
        ({"label": [True, True, True, True, True, None]}, "sheet, row 6: .* found nothing"),
        ({"part": ["", "", "", "", "train", ""]}, "sheet, row 5: expected part calibration or test, found 'train'"),
        ({"label": [True, False, True, True, True, True]}, "'juror0' and 'juror1' differ in whether 'answer 0'"),
    ],
)
def test_a_wrong_cell_is_named(change: dict[str, list[object]], says: str) -> None:
    with pytest.raises(InputError, match=says):
        from_table(TWO.table().assign(**change), where="sheet")


def test_missing_columns_are_named() -> None:
    with pytest.raises(InputError, match=r"sheet: expected the columns .* found no p_true, label$"):
        from_table(TWO.table().drop(columns=["p_true", "label"]), where="sheet")


def test_the_short_word_for_calibration_is_read() -> None:
    assert from_table(TWO.table().assign(part=["Calib", "calib"] + ["TEST"] * 2 + ["nan"] * 2)).parts == TWO.parts


@pytest.mark.parametrize(("cell", "right"), [("Correct", True), (1.0, True), (" no ", False), (np.False_, False)])
def test_what_says_that_an_answer_is_right(cell: object, right: bool) -> None:
    assert truth(cell) is right


def test_repeated_answers_are_joined_in_their_order() -> None:
    first = [("", "q", "yes", True, p, 1 - p) for p in (0.9, 0.6)]
    second = [("", "q", "yes", True, p, 1 - p) for p in (0.2, 0.3)]
    assert joined([("a", first), ("b", second)]).p_true.tolist() == [[0.9, 0.2], [0.6, 0.3]]


def test_jurors_of_different_answers_are_refused_whoever_has_more() -> None:
    for jurors in ([("a", rows(True)), ("b", rows(True, False))], [("b", rows(True, False)), ("a", rows(True))]):
        with pytest.raises(InputError, match=r"'a' \(1 answers\) lacks one that 'b' \(2\) has: 'question 1'"):
            joined(jurors)


def test_an_answer_has_one_label_and_a_jury_its_jurors() -> None:
    with pytest.raises(InputError, match="an answer has one label"):
        joined([("a", rows(True, False)), ("b", rows(True, True))])
    with pytest.raises(InputError, match="got 0"):
        joined([])
    with pytest.raises(InputError, match=r"got 1 \(a\)"):
        check_jury(joined([("a", rows(True))]))


def test_a_tie_is_one_within_rounding() -> None:
    # .1 + .2 + .2 and its complement differ by 1e-16 in binary; ½ is exact in float32 too.
    p = np.array([[0.1 + 0.2 + 0.2, np.float32(0.5)], [1 - 0.9 + 0.4, 0.50000000001]])
    assert jury(p, np.ones(2)).verdicts.tolist() == [[0.5, 0.5], [0.5, 1]]


def test_clusters_are_questions_or_what_a_column_names() -> None:
    judged = seeded_jury(4)
    assert judged.clusters is None
    with_texts = replace(judged, questions=("a", "b", "a", ""))
    assert with_texts.clusters.tolist() == [0, 1, 0, 2]
    assert replace(with_texts, questions=("", "", "", "")).clusters is None  # no texts, no repeats
    named = replace(judged, cluster_names=("x", "x", "y", "y"))
    assert named.clusters.tolist() == [0, 0, 1, 1]
    assert named.rows(np.array([3, 0])).cluster_names == ("y", "x")
    again = from_table(named.table())
    assert again.cluster_names == named.cluster_names
    table = named.table()
    table.loc[table["id"] == "2", "cluster"] = None
    with pytest.raises(InputError, match="found none for answer 3"):
        from_table(table)
    with pytest.raises(InputError, match="there are 2 clusters of 4 answers"):
        replace(judged, cluster_names=("x", "y"))


def test_p_false_is_exactly_what_a_swapped_table_would_say() -> None:
    table = seeded_jury(30).table().drop(columns="p_false")
    table["p_true"] = table["p_true"].round(3)
    swapped = table.assign(p_true=(1 - table["p_true"]).round(3))
    first, second = from_table(table), from_table(swapped)
    np.testing.assert_array_equal(first.p_true, second.p_false)
    np.testing.assert_array_equal(first.p_false, second.p_true)
