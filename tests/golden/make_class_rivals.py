"""Write ``class_rivals.json``: sets of TorchCP and crepes for 2 to 1,000 classes, on seeded data.

    pip install --no-deps torchcp==1.2.1 torch_geometric crepes==0.9.1 && python tests/golden/make_class_rivals.py

Of each set the size and the sum of its options' places are written. Options of classes with too few calibration
questions for a threshold are left out of TorchCP's sets by class.
"""

import json
import sys
import types
from pathlib import Path

import numpy as np

CLASSES = (2, 10, 20, 100, 1000)
N = 2000
"""Calibration questions, and as many test questions; the first of them are asked."""
ASKED = 60
ALPHAS = (0.05, 0.1)
"""For 1/3, TorchCP's rank is one too large where n + 1 is a multiple of 3: it multiplies floats."""
RAPS_PARAMETERS = {"weight": 0.01, "free_ranks": 2}


def data(k):
    """Probabilities (2N, k) and labels of N calibration and N test questions."""
    rng = np.random.default_rng(k)
    labels = rng.integers(0, k, 2 * N)
    logits = rng.normal(size=(2 * N, k)) * 1.3
    logits[np.arange(2 * N), labels] += 2 + 0.4 * np.log(k)
    shares = np.exp(logits - logits.max(axis=1, keepdims=True))
    return shares / shares.sum(axis=1, keepdims=True), labels


def described(members):
    """The sizes of sets (m, k), and the sums of their options' places from 1."""
    members = np.asarray(members, dtype=bool)
    return [members.sum(axis=1).tolist(), (members * np.arange(1, members.shape[1] + 1)).sum(axis=1).tolist()]


def main():
    """Ask both and write what they say."""
    stand_in = types.ModuleType("torchsort")
    stand_in.soft_rank = stand_in.soft_sort = None
    sys.modules["torchsort"] = stand_in
    import torch
    from crepes import ConformalClassifier
    from crepes.extras import hinge, margin
    from torchcp.classification.predictor import ClassConditionalPredictor, SplitPredictor
    from torchcp.classification.score import LAC, RAPS, Margin

    torch.set_default_dtype(torch.float64)
    raps = RAPS(randomized=False, penalty=RAPS_PARAMETERS["weight"], kreg=RAPS_PARAMETERS["free_ranks"])
    rows = []
    for k in CLASSES:
        p, labels = data(k)
        own, test_logits = torch.tensor(np.log(p[:N])), torch.tensor(np.log(p[N : N + ASKED]))
        counts = np.bincount(labels[:N], minlength=k)
        for alpha in ALPHAS:
            for name, score in (("lac", LAC()), ("margin", Margin()), ("raps", raps)):
                for by, predictor in (("all", SplitPredictor), ("class", ClassConditionalPredictor)):
                    rival = predictor(score)
                    rival.calculate_threshold(own, torch.tensor(labels[:N]), alpha)
                    sets = rival.predict_with_logits(test_logits).numpy().astype(bool)
                    if by == "class":
                        sets = sets & (counts >= np.ceil((counts + 1) * (1 - alpha)))
                    rows.append(["torchcp", k, alpha, name, by, *described(sets)])
        for name, score in (("lac", hinge), ("margin", margin)):
            rival = ConformalClassifier().fit(score(p[:N], np.arange(k), labels[:N]))
            values = rival.predict_p(score(p[N : N + ASKED]), smoothing=False)
            rows.append(["crepes", k, None, name, "all", values.sum(axis=1).tolist(), values.max(axis=1).tolist()])
            rival = ConformalClassifier().fit(score(p[:N], np.arange(k), labels[:N]), bins=labels[:N])
            scores, values = score(p[N : N + ASKED]), np.ones((ASKED, k))
            for j in np.flatnonzero(counts):
                column = rival.predict_p(scores[:, [j]], bins=np.full(ASKED, j), smoothing=False)
                values[:, j] = column[:, 0]
            rows.append(["crepes", k, None, name, "class", values.sum(axis=1).tolist(), values.max(axis=1).tolist()])
    Path(__file__).with_name("class_rivals.json").write_text(json.dumps(rows))


if __name__ == "__main__":
    main()
