"""``hedge.sets`` and ``hedge.report`` for any classifier: names, types, rows without a label, alphas, strata."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import hedge
from core.conformal.alpha import exact_alpha
from core.conformal.threshold import rank
from core.errors import InputError
from core.reports.array_inputs import MOST_CLASSES

pytestmark = pytest.mark.quick

NAMES = ["cat", "dog", "owl"]
RNG = np.random.default_rng(0)
LABELS = RNG.integers(0, 3, 300)
LOGITS = RNG.normal(size=(300, 3)) + 2 * np.eye(3)[LABELS]
P = np.exp(LOGITS) / np.exp(LOGITS).sum(axis=1, keepdims=True)
NAMED = np.array(NAMES)[LABELS]
COUNTS = RNG.multinomial(6 + np.arange(300) % 4, P)
PLAIN = hedge.sets(P, LABELS)
BY_NAME = [tuple(NAMES[j] for j in row) for row in PLAIN.sets]


@pytest.mark.parametrize(
    ("probabilities", "labels", "more"),
    [
        (P, NAMED, {"classes": NAMES}),
        (P, LABELS, {"classes": np.array(NAMES)}),
        (P.tolist(), NAMED.tolist(), {"classes": tuple(NAMES)}),
        (P, NAMED.astype("S"), {"classes": pd.Index(NAMES)}),
        (pd.DataFrame(P, columns=NAMES), pd.Series(NAMED), {}),
        (pd.DataFrame(P, columns=NAMES), pd.Series(LABELS), {}),
        (P, pd.Categorical(NAMED), {}),
        (P, pd.Series(NAMED, dtype="category"), {}),
        (pa.table(dict(zip(NAMES, P.T, strict=True))), pa.array(NAMED), {}),
        (torch.tensor(P, requires_grad=True), torch.tensor(LABELS), {"classes": NAMES}),
        ([torch.tensor(row, requires_grad=True) for row in P], LABELS[:, None], {"classes": NAMES}),
        (sparse.csr_matrix(P), LABELS.astype(float), {"classes": NAMES}),
        (torch.tensor(LOGITS, requires_grad=True), NAMED, {"classes": NAMES, "values": "logits"}),
        (np.log(P), NAMED, {"classes": NAMES, "values": "logits"}),
    ],
)
def test_sets_hold_the_names_of_classes(probabilities, labels, more):
    result = hedge.sets(probabilities, labels, **more)
    assert result.sets == BY_NAME
    assert result.names == tuple(NAMES)
    assert result.coverage == PLAIN.coverage


def test_numbers_that_name_classes_are_no_places():
    frame = pd.DataFrame(P, columns=[7, 8, 9])
    assert hedge.sets(frame, LABELS + 7).sets == [tuple(j + 7 for j in row) for row in PLAIN.sets]
    assert hedge.sets(P, LABELS + 1, classes=range(1, 4)).coverage == PLAIN.coverage
    assert hedge.sets(pd.DataFrame(P), LABELS).sets == PLAIN.sets  # columns that are only counted
    assert hedge.sets(P, [*LABELS], classes=[0, 1, 2]).sets == PLAIN.sets


def test_counts_of_picks_are_frequencies():
    result = hedge.report(COUNTS, LABELS, values="counts")
    assert result.figures.brier == hedge.report(COUNTS / COUNTS.sum(axis=1, keepdims=True), LABELS).figures.brier
    assert np.isnan(result.figures.nll)
    assert "Probabilities are frequencies of 6 to 9 samples" in repr(result)
    sets = hedge.sets(pd.DataFrame(COUNTS, columns=NAMES), NAMED, values="counts", by="class")
    assert np.isnan(sets.figures.mean_set_size_interval).all()  # unlike numbers of samples, by class


def test_one_column_is_the_probability_of_class_1():
    p, labels = P[:, 0] / P[:, :2].sum(axis=1), (LABELS == 0).astype(int)
    two = hedge.sets(np.stack([1 - p, p], axis=1), labels)
    for column in (p, p[:, None], pd.Series(p), pd.DataFrame({"p": p}), torch.tensor(p)):
        result = hedge.sets(column, labels == 1)
        assert (result.sets, result.coverage, result.names) == (two.sets, two.coverage, ())
    logits = np.log(p / (1 - p))
    assert hedge.sets(logits, labels, values="logits").sets == two.sets
    assert hedge.sets(p, np.array(["no", "yes"])[labels], classes=["no", "yes"]).sets[0] == tuple(
        ["no", "yes"][j] for j in two.sets[0]
    )


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_rounded_rows_are_divided_by_their_sums(dtype):
    rounded = P.round(3)
    rounded[0] += 0.003  # sums to 1.009
    exact = rounded / rounded.sum(axis=1, keepdims=True)
    assert hedge.sets(rounded, LABELS).threshold == pytest.approx(hedge.sets(exact, LABELS).threshold, abs=1e-9)
    assert hedge.sets(P.astype(dtype), LABELS).mean_set_size == pytest.approx(PLAIN.mean_set_size, abs=0.02)
    hundredths = np.array([[0.61, *[0.05] * 8, 0.04], [0.55, *[0.05] * 8, 0.04]] * 50)  # with sums 1.05 and 0.99
    exact = hundredths / hundredths.sum(axis=1, keepdims=True)
    labels = np.arange(100) % 10
    assert hedge.sets(hundredths, labels).threshold == hedge.sets(exact, labels).threshold
    votes = np.array([[0.6, 0.4], [0.2, 0.8]] * 50, dtype=dtype)  # in float64, 0.6 is 0.6 and not 0.60000002
    assert hedge.sets(votes, [0, 1] * 50, alpha=0.2).threshold == 0.4


def test_rows_without_a_label_get_sets_and_count_in_no_figure():
    labels = LABELS.astype(float)
    labels[200:] = np.nan
    known = hedge.sets(P[:200], LABELS[:200], calibration=range(120), score="raps")
    for absent in (labels, [*LABELS[:200], *[None] * 100], [*LABELS[:200], *[-1] * 100], [*LABELS[:200], *[""] * 100]):
        result = hedge.sets(P, absent, calibration=range(120), score="raps")
        assert result.new.tolist() == list(range(200, 300))
        assert result.test.tolist() == list(range(120, 300))
        assert result.members[:80].tolist() == known.members.tolist()
        assert repr(result.figures) == repr(known.figures)
        assert "100 without a label" in repr(result)
    own = hedge.sets(P, pd.Series(labels), calibration=range(200))
    assert (own.members == (1 - P[200:] <= own.threshold)).all()
    assert math.isnan(own.coverage)
    assert own.mean_set_size == own.members.sum(axis=1).mean()
    assert "–" in own._repr_html_()
    drawn = hedge.sets(P, labels)
    assert (drawn.n_calibration, len(drawn.test)) == (100, 200)
    report = hedge.report(P, labels)
    assert report.figures.n_test == 100
    assert "100 rows have no label" in repr(report)


@pytest.mark.parametrize(
    ("alpha", "expected"),
    [
        (0.1, 100),
        (1 - 0.9, 100),
        (np.float32(0.05), 50),
        (1 / 3, Fraction(1000, 3)),
        (1 - 2 / 3, Fraction(1000, 3)),
        (0.0125, Fraction(25, 2)),
        (Decimal("0.0125"), Fraction(25, 2)),
        (Fraction(1, 7), Fraction(1000, 7)),
        (0.12345678901, Fraction(12345678901, 10**8)),
    ],
)
def test_alpha_is_exact(alpha, expected):
    assert exact_alpha(alpha) == expected


def test_the_rank_of_a_float_is_the_rank_of_its_fraction():
    for q in range(2, 40):
        for p in range(1, q):
            for n in (q - 1, 2 * q - 1, 10 * q - 1, 99):
                assert rank(n, exact_alpha(p / q)) == math.ceil((n + 1) * (1 - Fraction(p, q)))


def test_several_alphas_give_one_result_each():
    result = hedge.sets(P, LABELS, alpha=[0.05, 1 / 3], score="raps")
    singles = [hedge.sets(P, LABELS, alpha=alpha, score="raps") for alpha in (0.05, 1 / 3)]
    assert [figures.sets for figures in result] == [figures.sets for figures in singles]
    assert [repr(figures.figures) for figures in result] == [repr(figures.figures) for figures in singles]
    assert result.frame["alpha"].tolist() == [0.05, 1 / 3]
    assert result.frame["coverage"].tolist() == [figures.coverage for figures in result]
    assert result._repr_html_().count("<table>") == 2
    report = hedge.report(P, LABELS, alpha=np.array([0.1, 0.2]))
    assert report.frame["alpha"].tolist() == [0.1, 0.1, 0.2, 0.2]
    third = hedge.report(P, LABELS, alpha=1 / 3)
    assert third.figures.alpha == 1 / 3
    assert "alpha 0.333333" in repr(third)


@pytest.mark.parametrize("score", ["lac", "aps", "raps", "margin"])
def test_each_class_and_each_group_has_the_threshold_of_its_own_questions(score):
    parameters = {"weight": 0.01, "free_ranks": 2} if score == "raps" else None
    groups = np.array(["old", "new"])[RNG.integers(0, 2, 300)]
    arguments = {"score": score, "calibration": range(200), "parameters": parameters, "alpha": 0.2}
    for by, names in (("class", NAMES), (groups, ["old", "new"]), (pd.Series(groups), ["old", "new"])):
        result = hedge.sets(P, NAMED, classes=NAMES, by=by, **arguments)
        assert set(result.thresholds) == set(names)
        for name in names:
            own = NAMED[:200] == name if isinstance(by, str) else groups[:200] == name
            alone = hedge.sets(P, NAMED, classes=NAMES, **arguments | {"calibration": np.flatnonzero(own)})
            assert result.thresholds[name] == alone.threshold
        assert ((result.p_values > 0.2) == result.members).all()
        shown = hedge.report(
            P,
            NAMED,
            classes=NAMES,
            by=by,
            scores=[score],
            **{k: arguments[k] for k in ("calibration", "parameters", "alpha")},
        )
        assert repr(shown.figures.scores[score]) == repr(result.figures)


def test_p_values_are_those_of_the_definition():
    result = hedge.sets(P, LABELS, calibration=range(100))
    true = 1 - P[np.arange(100), LABELS[:100]]
    expected = (1 + (true[:, None, None].round(12) >= (1 - P[100:]).round(12)).sum(axis=0)) / 101
    assert result.p_values == pytest.approx(expected, abs=1e-12)
    lacking = hedge.sets([[0.5, 0.5, np.nan], [0.2, 0.3, 0.5]] * 20, [0, 2] * 20, calibration=range(20)).p_values
    assert np.isnan(lacking).sum() == 10


def test_given_parameters_are_used_and_set_nothing_aside():
    result = hedge.sets(P, LABELS, score="raps", parameters={"weight": 0.5})
    assert result.n_calibration == 150
    assert result.figures.parameters == {"weight": 0.5, "free_ranks": 1}
    assert result.figures.notes == ("Not tuned: λ 0.5 after 1 free rank were given.",)


def test_a_thousand_classes_stay_readable():
    rng = np.random.default_rng(1)
    labels = rng.integers(0, 1000, 400)
    logits = rng.normal(size=(400, 1000)) + 8 * (np.arange(1000) == labels[:, None])
    names = [f"class {j} with quite a long name" for j in range(1000)]
    result = hedge.sets(logits, labels, classes=names, values="logits", by="class", score="aps")
    assert result.sets[0][0] == names[np.flatnonzero(result.members[0])[0]]
    report = hedge.report(logits, labels, classes=names, values="logits", by="class", scores=["aps"])
    for text in (repr(result), result._repr_html_(), repr(report), report._repr_html_()):
        assert len(text) < 3000
    assert report.figures.letter_rates[names[3]] >= 0
    with pytest.raises(InputError, match=r"up to 100 classes, got 1,000; hedge.sets and hedge.report take up to 1,000"):
        hedge.lab(logits, labels, values="logits")


def test_the_lab_has_the_names_of_classes():
    data = hedge.lab(pd.DataFrame(P, columns=NAMES), NAMED).data
    assert data["options"] == NAMES


INDEX = pd.DataFrame(P, columns=NAMES)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: hedge.sets(np.full((4, 1001), 1 / 1001), [0] * 4), r"shape \(4, 1001\); .* 2 to 1,000 classes"),
        (lambda: hedge.sets(LOGITS, LABELS), r'logits of all classes are read with values="logits"'),
        (lambda: hedge.sets(np.log(P), LABELS), r'log-probabilities are read with values="logits"'),
        (lambda: hedge.sets(100 * P, LABELS), "divide per cent by 100"),
        (lambda: hedge.sets(np.full((3, 4), 0.2), [0] * 3), "sum 0.8; .* divide each row by its sum"),
        (lambda: hedge.sets(P[:5].T, LABELS[:3]), "the columns do, so transpose it"),
        (lambda: hedge.sets(P, LABELS + 1), r"label 3 of row .* give classes=range\(1, 4\)"),
        (lambda: hedge.sets(P[LABELS < 2], LABELS[LABELS < 2] + 1), r"no label is 0, .* if labels count from 1"),
        (lambda: hedge.sets(P[:, :2] / P[:, :2].sum(axis=1, keepdims=True), np.where(LABELS, 1, -1)), "-1 and 1"),
        (lambda: hedge.sets(P, NAMED), "give classes=, the names of the columns"),
        (lambda: hedge.sets(P, pd.Categorical(NAMED, categories=NAMES[::-1])), "give classes="),
        (lambda: hedge.sets(P, ["cow"] * 300, classes=NAMES), "label 'cow' of row 0 is not one of the 3 classes cat"),
        (lambda: hedge.sets(P, LABELS, classes=NAMES[:2]), r"shape \(2,\) for 3 columns"),
        (lambda: hedge.sets(P, LABELS, classes=["a", "a", "b"]), "two classes are called 'a'"),
        (lambda: hedge.sets(P, np.eye(3)[LABELS]), r"give labels.argmax\(axis=1\)"),
        (lambda: hedge.sets(LABELS > 0, LABELS > 0), "whole numbers, as decisions are"),
        (lambda: hedge.sets(INDEX, pd.Series(NAMED)[::-1]), "the index of the probabilities in another order"),
        (lambda: hedge.sets(P, [None] * 300), "no row has a label"),
        (lambda: hedge.sets(P, [None, *LABELS[1:]], calibration=[0, 1]), "row 0 calibrates, but it has no label"),
        (lambda: hedge.report(P[:4], [0, 1, None, None], calibration=[0, 1]), "no row with a label tests"),
        (lambda: hedge.sets(P, LABELS, alpha=[]), "from 1 to 999"),
        (lambda: hedge.sets(P, LABELS, alpha=[0.1, "a"]), "alpha must be a number, got 'a'"),
        (lambda: hedge.sets(P, LABELS, alpha=Decimal("sNaN")), r"alpha must lie in \(0, 1\), got sNaN"),
        (lambda: hedge.sets(P, LABELS, alpha=10**400), "alpha is too large"),
        (lambda: hedge.sets(P, LABELS, by="group"), "give by= an array with the group of each row"),
        (lambda: hedge.sets(P, LABELS, by=["a"] * 3), r"the groups have shape \(3,\)"),
        (lambda: hedge.sets(P, LABELS, by=[None] * 300), "row 0 has no group"),
        (lambda: hedge.sets(P, LABELS, parameters={"weight": 1}), "lac has no parameters; raps, saps have"),
        (lambda: hedge.sets(P, LABELS, score="raps", parameters={"k": 1}), "a dict with weight or free_ranks"),
        (lambda: hedge.sets(P, LABELS, score="raps", parameters={"weight": -1}), "a number from 0 up"),
        (lambda: hedge.sets(P, LABELS, values="odds"), "unknown values 'odds'"),
        (lambda: hedge.sets(COUNTS, LABELS), 'counts of picks are read with values="counts", and logits'),
        (lambda: hedge.sets(P, LABELS, values="counts"), "picks are counted in whole numbers, at least one in a row"),
        (lambda: hedge.sets(0 * COUNTS, LABELS, values="counts"), r"row 0 of the counts is \[0, 0, 0\]"),
        (lambda: hedge.sets(np.eye(3)[LABELS], LABELS, values="counts"), "every row counts one pick"),
        (lambda: hedge.sets(COUNTS[:, 0], LABELS > 0, values="counts"), "expected a column for each of 2 to 1,000"),
        (lambda: hedge.report("some-run", classes=NAMES), "has its own classes"),
    ],
)
def test_what_cannot_be_used_is_one_sentence(home, call, sentence):
    with pytest.raises(InputError, match=sentence) as error:
        call()
    assert "\n" not in str(error.value)


ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=5),
    st.binary(max_size=3),
    st.just(object()),
    st.just(np.array(3)),
    st.just(np.zeros((2, 2, 2))),
    st.just(np.array(["2020-01-01"], dtype="M8[D]")),
    st.just(np.array([1 + 2j])),
    st.just(torch.ones(3, requires_grad=True)),
    st.just(pd.DataFrame({("a", "b"): [1.0], ("a", "c"): [0.0]})),
    st.just({"a": 1}),
    st.just({1, 2}),
    st.just(lambda: 0),
    st.lists(st.one_of(st.none(), st.floats(), st.text(max_size=2), st.lists(st.floats(), max_size=3)), max_size=4),
)
ARGUMENTS = ("probabilities", "labels", "alpha", "score", "calibration", "by", "classes", "values", "parameters",
             "clusters", "seed", "empty")  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(st.dictionaries(st.sampled_from(ARGUMENTS), ODD, min_size=1, max_size=2))
def test_odd_arguments_give_figures_or_one_sentence(odd):
    call = {"probabilities": P[:40], "labels": LABELS[:40], "score": "raps"} | odd
    message = ""
    try:
        assert repr(hedge.sets(call.pop("probabilities"), call.pop("labels"), **call))
    except InputError as error:
        message = str(error)
    assert "\n" not in message


def test_the_most_classes_are_a_thousand():
    assert MOST_CLASSES == 1000
    p = np.full((40, 1000), 0.001)
    assert len(hedge.sets(p, [999] * 40).sets) == 20
