import numpy as np
import pytest

from core.conformal.published import bluq_calibration_scores, bluq_test_scores, network_order, scores_for
from core.conformal.scores import true_scores
from core.conformal.scores.aps import aps_scores
from core.conformal.scores.lac import lac_scores
from core.errors import InputError

pytestmark = pytest.mark.quick


def test_the_network_sorts():
    values = np.random.default_rng(0).random((500, 6))
    assert np.array_equal(network_order(values), np.argsort(values, axis=1))
    with pytest.raises(InputError, match="up to 8"):
        network_order(np.zeros((1, 9)))


def test_the_network_is_a_sort_with_ties_too():
    values = np.random.default_rng(1).integers(0, 3, (2000, 8)).astype(float)
    order = network_order(values)
    assert (np.sort(order, axis=1) == np.arange(8)).all()
    assert (np.diff(np.take_along_axis(values, order, axis=1), axis=1) >= 0).all()
    # and not a stable one, which is why it is spelled out
    assert not np.array_equal(order, np.argsort(values, axis=1, kind="stable"))


def test_bluq_counts_all_ties_in_calibration():
    p = np.array([[0.25, 0.5, 0.25]])
    assert bluq_calibration_scores(p, np.array([0])).tolist() == [1.0]
    assert bluq_calibration_scores(p, np.array([1])).tolist() == [0.5]


def test_bluq_without_ties_is_aps():
    p = np.random.default_rng(2).dirichlet(np.ones(6), size=300)
    assert bluq_test_scores(p) == pytest.approx(aps_scores(p), abs=1e-12)


def test_only_bluq_scores_the_sides_apart():
    p = np.array([[0.25, 0.5, 0.25], [0.25, 0.5, 0.25]])
    labels, first, second = np.array([0, 0]), np.array([0]), np.array([1])
    for method, name in (("exact", "aps"), ("paper", "aps"), ("bluq", "lac")):
        s = aps_scores(p) if name == "aps" else lac_scores(p)
        calibration, test = scores_for(name, p, labels, calibration=first, test=second, method=method)
        assert calibration == true_scores(s[:1], labels[:1])
        assert np.array_equal(test, s[1:])
    calibration, _ = scores_for("aps", p, labels, calibration=first, test=second, method="bluq")
    assert calibration.tolist() == [1.0]
