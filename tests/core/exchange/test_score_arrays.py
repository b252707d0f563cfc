"""numpy arrays of scores and labels: alone, averaged over prompts, and what is wrong with them."""

import numpy as np
import pytest

from core.errors import InputError, Undecided
from core.exchange import score_arrays
from core.exchange.imported import save
from core.reports.evaluation import load
from core.tables import safe_read
from tests.core.exchange.drops import Drop

pytestmark = pytest.mark.quick

RNG = np.random.default_rng(0)
P = RNG.dirichlet(np.ones(4), 30)
LABELS = RNG.integers(0, 4, 30)
LABELS[0] = 0


def pair(tmp_path, scores, labels):
    np.save(tmp_path / "a_scores.npy", scores)
    np.save(tmp_path / "a_targets.npy", labels)
    return tmp_path / "a_scores.npy", tmp_path / "a_targets.npy"


def test_two_files_are_a_run(home, tmp_path):
    run = score_arrays.read_pair(*pair(tmp_path, P, LABELS))
    assert run.spec.task == "a"
    assert run.provenance["lacks"] == ["model"]
    loaded = load(save([run])[0])
    assert loaded.probabilities == pytest.approx(P, abs=1e-6)
    assert loaded.labels.tolist() == LABELS.tolist()


def test_probabilities_of_several_prompts_are_averaged(tmp_path):
    several = np.stack([P, P[::-1]])
    run = score_arrays.read_pair(*pair(tmp_path, several, LABELS))
    assert np.exp(run.scored.logits) == pytest.approx(several.mean(axis=0), abs=1e-6)
    assert run.provenance["averaged_over"] == 2


def test_labels_from_one_are_counted_from_zero(tmp_path):
    run = score_arrays.read_pair(*pair(tmp_path, P, LABELS % 4 + 1))
    assert [question.label for question in run.questions] == LABELS.tolist()


def test_an_archive_with_names_of_its_own(tmp_path):
    path = tmp_path / "x.npz"
    np.savez(path, logits=RNG.normal(size=(30, 4)) * 5, y=LABELS, model="mine", task="t")
    run = score_arrays.read_npz(path)
    assert (run.spec.model, run.spec.task, run.provenance["values"]) == ("mine", "t", "logits")
    assert run.provenance["lacks"] == []


def test_an_archive_that_is_split_keeps_its_split(tmp_path):
    path = tmp_path / "renamed.npz"
    np.savez(path, cal_probs=P[:10], test_probs=P[10:], cal_labels=LABELS[:10], test_labels=LABELS[10:])
    run = score_arrays.read_npz(path)
    assert run.roles == ("calibration",) * 10 + ("test",) * 20


@pytest.mark.parametrize(
    ("scores", "labels", "says"),
    [
        (P, LABELS[:-1], r"expected 30 labels, one for each row of scores, found the shape \(29,\)"),
        (
            P,
            LABELS + 7,
            r"row 1: expected one of 4 options that can be right \(A to D, or its number\) in 'labels', found '7'",
        ),
        (np.where(np.eye(30, 4) == 1, np.nan, P), LABELS, "row 1: expected numbers"),
        (np.full((30, 4), 0.25), LABELS, "found all equal in each of 30"),
        (P.astype(complex), LABELS, r"expected scores of shape \(n, k\), found .* of type complex128"),
    ],
)
def test_what_is_wrong_is_named(tmp_path, scores, labels, says):
    with pytest.raises(InputError, match=says):
        score_arrays.read_pair(*pair(tmp_path, scores, labels))


def test_python_objects_are_refused(tmp_path):
    path = tmp_path / "evil.npz"
    np.savez(path, scores=np.array([{"a": 1}], dtype=object))
    with pytest.raises(InputError, match="not a complete npz file of plain arrays"):
        score_arrays.read_npz(path)


def test_more_questions_than_are_read_of_one_file_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(safe_read, "MOST_QUESTIONS", 29)
    with pytest.raises(InputError, match=r"a_scores.npy: expected at most 29 questions, found 30; split it"):
        score_arrays.read_pair(*pair(tmp_path, P, LABELS))


@pytest.mark.parametrize(
    ("shape", "number"), [((60, 3), 1e300), ((60, 3), -1e300), ((60, 3), -np.inf), ((2, 60, 3), -np.inf)]
)
def test_a_row_without_an_option_that_is_possible_is_named(tmp_path, shape, number):
    """A run's logits have 32 bits, in which 1e300 is infinite."""
    scores = np.random.default_rng(0).normal(size=shape)
    scores[..., 5, :] = number
    files = pair(tmp_path, scores, np.arange(60) % 3)
    with pytest.raises(InputError, match=r"row 6: expected numbers below 3\.4e38 and an option that is not ruled out"):
        score_arrays.read_pair(*files)


# ---------------------------------------------------------------- sides, names and labels


@pytest.mark.parametrize(
    ("names", "kind"),
    [
        (("calib_probs", "calib_labels", "test_probs", "test_labels"), P),
        (("val_logits", "val_y", "test_logits", "test_y"), np.log(P)),
        (("probs_cal", "y_cal", "probs_test", "y_test"), P),
    ],
)
def test_sides_have_their_usual_names(tmp_path, names, kind):
    path = tmp_path / "x.npz"
    parts = kind[:10], LABELS[:10], kind[10:], LABELS[10:]
    np.savez(path, train_probs=P[:3], train_labels=LABELS[:3], **dict(zip(names, parts, strict=True)))
    run = score_arrays.read_npz(path)
    assert run.roles == ("calibration",) * 10 + ("test",) * 20
    assert [question.label for question in run.questions] == LABELS.tolist()
    assert np.exp(run.scored.logits) == pytest.approx(P, abs=1e-6)
    assert run.read_as.endswith("3 rows of training left out")


def test_four_files_of_two_sides_are_a_run(tmp_path):
    for name, array in (("cal_probs", P[:10]), ("cal_y", LABELS[:10]), ("test_probs", P[10:]), ("test_y", LABELS[10:])):
        np.save(tmp_path / f"digits_{name}.npy", array)
    (found_run,) = Drop([tmp_path], scratch=tmp_path / "scratch").read().runs
    assert found_run.run.spec.task == "digits"
    assert found_run.run.roles == ("calibration",) * 10 + ("test",) * 20
    assert [question.label for question in found_run.run.questions] == LABELS.tolist()


def test_a_column_of_words_is_the_split(tmp_path):
    np.savez(tmp_path / "x.npz", probs=P, labels=LABELS, split=np.array(["fit", "cal", "test"] * 10))
    run = score_arrays.read_npz(tmp_path / "x.npz")
    assert run.roles == ("calibration", "test") * 10
    assert [question.label for question in run.questions] == LABELS[np.arange(30) % 3 > 0].tolist()


def test_arrays_of_row_numbers_are_the_split(tmp_path):
    np.savez(tmp_path / "x.npz", probs=P, labels=LABELS, cal_idx=np.array([4, 2]), test_idx=np.arange(20, 30))
    run = score_arrays.read_npz(tmp_path / "x.npz")
    assert run.roles == ("calibration",) * 2 + ("test",) * 10
    assert [question.label for question in run.questions] == LABELS[[4, 2, *range(20, 30)]].tolist()


@pytest.mark.parametrize(
    ("arrays", "says"),
    [
        ({"train_probs": P, "train_labels": LABELS}, "found only training rows, which do neither"),
        ({"cal_probs": P, "cal_y": LABELS, "val_probs": P, "test_probs": P, "test_y": LABELS}, "leave out the others"),
        (
            {"probs": P, "labels": LABELS, "split": np.array(["cal", "tset"] * 15)},
            "row 2: expected calibration or test",
        ),
        ({"probs": P, "labels": LABELS, "classes": np.array(["a", "b"])}, "expected the names of 4 options"),
        ({"probs": np.ones((30, 101)), "labels": LABELS}, "with k from 2 to 100"),
    ],
)
def test_what_is_wrong_with_sides_and_names_is_named(tmp_path, arrays, says):
    np.savez(tmp_path / "x.npz", **arrays)
    with pytest.raises(InputError, match=says):
        score_arrays.read_npz(tmp_path / "x.npz")


def test_names_of_classes_are_the_options(tmp_path):
    names = np.array(["cat", "dog", "bird", "fish"])
    np.savez(tmp_path / "x.npz", probs=P, labels=names[LABELS], classes=names)
    run = score_arrays.read_npz(tmp_path / "x.npz")
    assert run.questions[0].options == tuple(names)
    assert [question.label for question in run.questions] == LABELS.tolist()


@pytest.mark.parametrize(("name", "first"), [("y_proba", "0"), ("probas", "0"), ("probs", "option A")])
def test_a_classifiers_arrays_have_numbers(tmp_path, name, first):
    np.savez(tmp_path / "x.npz", **{name: P, "y_test": LABELS})
    run = score_arrays.read_npz(tmp_path / "x.npz")
    assert run.questions[0].options[0] == first
    assert run.provenance.get("classes", False) == (first == "0")


def test_more_options_than_letters_have_numbers(tmp_path):
    scores = np.full((30, 30), 0.5 / 29)
    scores[np.arange(30), np.arange(30)] = 0.5
    run = score_arrays.read_pair(*pair(tmp_path, scores, np.arange(30)))
    assert run.questions[0].options == tuple(map(str, range(30)))


@pytest.mark.parametrize("shape", [(30,), (30, 1)])
def test_a_binary_classifier_has_one_array(tmp_path, shape):
    np.savez(tmp_path / "x.npz", y_prob=P[:, 0].reshape(shape), y_true=LABELS % 2)
    run = score_arrays.read_npz(tmp_path / "x.npz")
    assert run.scored.probabilities[:, 1] == pytest.approx(P[:, 0])
    assert [question.label for question in run.questions] == (LABELS % 2).tolist()


@pytest.mark.parametrize("start", [0, 1])
def test_a_person_says_where_labels_count_from(tmp_path, start):
    labels = np.tile([1, 2, 3], 10)
    files = pair(tmp_path, P, labels)
    with pytest.raises(Undecided, match="row 1: the answer 1 in 'labels' is option B if numbers count from 0"):
        score_arrays.read_pair(*files)
    run = score_arrays.read_pair(*files, label_from=start)
    assert [question.label for question in run.questions] == (labels - start).tolist()
