"""numpy arrays of scores and labels: alone, averaged over prompts, and what is wrong with them."""

import numpy as np
import pytest

from core.errors import InputError
from core.exchange import score_arrays
from core.exchange.imported import save
from core.reports.evaluation import load
from core.tables import safe_read

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
    made = load(save([run])[0])
    assert made.probabilities == pytest.approx(P, abs=1e-6)
    assert made.labels.tolist() == LABELS.tolist()


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
