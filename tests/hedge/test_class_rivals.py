"""Sets and p-values of 2 to 1,000 classes beside MAPIE (live), TorchCP and crepes (recorded by
``tests/golden/make_class_rivals.py``)."""

import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import hedge
from tests.golden.make_class_rivals import ALPHAS, ASKED, CLASSES, RAPS_PARAMETERS, N, data, described
from tests.reference.mapie_sets import mapie_sets

pytestmark = pytest.mark.nightly

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "class_rivals.json").read_text())


@cache
def sets(k, name, by):
    p, labels = data(k)
    rows = N + ASKED
    parameters = RAPS_PARAMETERS if name == "raps" else None
    result = hedge.sets(
        p[:rows], labels[:rows], score=name, by=by, alpha=ALPHAS, calibration=range(N), parameters=parameters
    )
    return dict(zip(ALPHAS, result, strict=True))


@pytest.mark.parametrize("k", CLASSES)
def test_torchcp(k):
    rows = [row[2:] for row in GOLDEN if row[:2] == ["torchcp", k]]
    assert len(rows) == 12
    for alpha, name, by, sizes, places in rows:
        result = sets(k, name, by)[alpha]
        members = result.members
        if by == "class":
            members = members & np.isfinite([*result.thresholds.values()])
        if name == "raps" and k == 2 and result.figures.mean_set_size == k:
            continue  # TorchCP's sums of all probabilities end next to 1, and options fall out of full sets by chance
        assert described(members) == [sizes, places], (alpha, name, by)


@pytest.mark.parametrize("k", CLASSES)
def test_p_values_of_crepes(k):
    rows = [row[3:] for row in GOLDEN if row[:2] == ["crepes", k]]
    assert len(rows) == 4
    for name, by, total, largest in rows:
        p_values = sets(k, name, by)[0.1].p_values
        assert p_values.sum(axis=1) == pytest.approx(np.array(total), abs=1e-9)
        assert p_values.max(axis=1) == pytest.approx(np.array(largest), abs=1e-12)


@pytest.mark.parametrize("k", CLASSES)
def test_mapie(k):
    p, labels = data(k)
    for alpha in ALPHAS:
        members = mapie_sets(p[:N], labels[:N], p[N : N + ASKED], alpha)
        assert np.array_equal(sets(k, "lac", "all")[alpha].members, members)
