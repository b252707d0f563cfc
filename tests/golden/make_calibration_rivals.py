"""Write ``calibration.json``: calibration errors by torchmetrics, netcal and relplot on seeded data.

They bring matplotlib and much else, so they are not in ``requirements-dev.txt``; once, in an environment that has it:

    pip install torchmetrics==1.9.0 relplot==1.0.3 && pip install --no-deps netcal==1.4.0
    python tests/golden/make_calibration_rivals.py
"""

import json
from pathlib import Path

import numpy as np

BINS = (1, 10, 15)
WIDTHS = (0.05, 0.1)


def cases():
    """Probabilities (n, k) and labels (n,) by name: random, overconfident, sure ones of exactly 0 and 1, few."""
    rng = np.random.default_rng(12)
    problems = {"random": (rng.dirichlet(np.ones(6), size=400), rng.integers(0, 6, 400))}
    p = rng.dirichlet(np.full(4, 0.3), size=500)
    problems["overconfident"] = (p, (p.cumsum(axis=1) * 0.6 + 0.1 > rng.random((500, 1))).argmax(axis=1))
    problems["certain"] = (np.eye(3)[rng.integers(0, 3, 60)], rng.integers(0, 3, 60))
    problems["two options"] = (np.stack([q := rng.random(250), 1 - q], axis=1), (rng.random(250) > q).astype(int))
    problems["few"] = (rng.dirichlet(np.ones(3), size=4), np.array([0, 1, 2, 0]))
    return problems


def rival_figures(p, y):
    """The figures of each rival for one case."""
    import netcal.metrics as netcal
    import relplot
    import torch
    from torchmetrics.functional.classification import multiclass_calibration_error

    c, right = p.max(axis=1), (p.argmax(axis=1) == y).astype(float)
    tensors = torch.tensor(p, dtype=torch.float64), torch.tensor(y)
    rivals = {"torchmetrics": {}, "netcal": {}, "relplot": {}}
    for bins in BINS:
        for norm in ("l1", "max"):
            value = multiclass_calibration_error(*tensors, num_classes=p.shape[1], n_bins=bins, norm=norm)
            rivals["torchmetrics"][f"{norm} {bins}"] = float(value)
        binary = np.clip(c, 1e-12, 1 - 1e-12)
        rivals["netcal"][f"ece {bins}"] = float(netcal.ECE(bins).measure(binary, right))
        rivals["netcal"][f"mce {bins}"] = float(netcal.MCE(bins).measure(binary, right))
        if len(np.unique(c)) == len(c):  # bins of equal mass fail on equal confidences there
            rivals["netcal"][f"mass {bins}"] = float(netcal.ECE(bins, equal_intervals=False).measure(binary, right))
    rivals["relplot"]["automatic"] = float(relplot.smECE(c, right))
    rivals["relplot"] |= {str(width): float(relplot.smECE_sigma(c, right, width)) for width in WIDTHS}
    return rivals


def main():
    """Ask them all and write what they say."""
    values = {
        name: {"probabilities": p.tolist(), "labels": y.tolist(), **rival_figures(p, y)}
        for name, (p, y) in cases().items()
    }
    Path(__file__).with_name("calibration.json").write_text(json.dumps(values))


if __name__ == "__main__":
    main()
