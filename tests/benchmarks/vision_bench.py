"""Hedge's figures of VLM-Uncertainty-Bench against the authors' way to compute them, on made-up models.

    HEDGE_REAL_DATA=FOLDER python -m tests.benchmarks.vision_bench

Two of the release's 26 models are at hand. What the others may bring is tried with made-up logits over the real rows:
half precisions, ties, saturated and flat softmaxes, options far below, each in single and in double precision. The
authors' figures are written anew after their published code, row by row, with ECE as torchmetrics computes it.
"""

from __future__ import annotations

import os
import pickle
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

from core.exchange import vlm_uncertainty_bench
from core.reports.imported_figures import evaluation
from core.shelf.recompute import _vlm_figures

OPTIONS = "ABCDEF"
Rows = list[dict[str, Any]]


def softmax(logits: np.ndarray) -> np.ndarray:
    raised = np.exp(logits - np.max(logits))
    return raised / raised.sum()


def quantile(scores: list[Any]) -> Any:
    n = len(scores)
    return np.quantile(scores, np.ceil((n + 1) * 0.9) / n, method="higher")


def lac(calibration: Rows, test: Rows) -> list[str]:
    q = quantile([1 - softmax(row["logits"])[OPTIONS.index(row["answer"])] for row in calibration])
    found = []
    for row in test:
        p = softmax(row["logits"])
        found.append("".join(OPTIONS[i] for i in range(6) if p[i] >= 1 - q) or OPTIONS[int(np.argmax(p))])
    return found


def aps(calibration: Rows, test: Rows) -> list[str]:
    """The sets; equal options are ranked by numpy's default sort, so that the figures are those of this machine."""

    def ranked(row: dict[str, Any]) -> tuple[np.ndarray, np.ndarray]:
        p = softmax(row["logits"])
        order = np.argsort(p)[::-1]
        return order, np.take_along_axis(p, order, axis=0).cumsum()

    scores = []
    for row in calibration:
        order, sums = ranked(row)
        scores.append(sums[order.tolist().index(OPTIONS.index(row["answer"]))])
    q = quantile(scores)
    return [
        "".join(OPTIONS[i] for i, total in zip(order, sums, strict=True) if total <= q) or OPTIONS[order[0]]
        for order, sums in map(ranked, test)
    ]


def ece(rows: Rows) -> float:
    p = torch.tensor(np.array([softmax(row["logits"]) for row in rows]))
    confidence, top = p.max(1)
    confidence = confidence.float()
    right = top.eq(torch.tensor([OPTIONS.index(row["answer"]) for row in rows])).float()
    bins = torch.bucketize(confidence, torch.linspace(0, 1, 16), right=True) - 1

    def summed(values: torch.Tensor) -> torch.Tensor:
        return torch.zeros(16).scatter_add_(0, bins, values)

    counts = summed(torch.ones_like(confidence))
    gaps = torch.nan_to_num(summed(right) / counts) - torch.nan_to_num(summed(confidence) / counts)
    return float(torch.sum(gaps.abs() * (counts / counts.sum())))


def theirs(rows: Rows, calibration: np.ndarray, test: np.ndarray) -> dict[str, float]:
    known, asked = [rows[i] for i in calibration], [rows[i] for i in test]
    accuracy = float(np.mean([OPTIONS[int(np.argmax(row["logits"]))] == row["answer"] for row in asked]))
    found, uacc = {"acc": accuracy, "ece": ece(rows)}, []
    for name, form in (("LAC", lac), ("APS", aps)):
        sets = form(known, asked)
        size = float(np.mean([len(one) for one in sets]))
        found[f"coverage_all_{name}"] = float(
            np.mean([row["answer"] in one for row, one in zip(asked, sets, strict=True)])
        )
        found[f"set_sizes_{name}"] = size
        uacc.append(accuracy * np.sqrt(6) / size)
    return found | {"uacc": float(np.mean(uacc))}


def made_up(rng: np.random.Generator) -> dict[str, Callable[[np.ndarray], np.ndarray]]:
    def noisy(x: np.ndarray, scale: float) -> np.ndarray:
        return (x + rng.normal(size=x.shape) * scale).astype(np.float32)

    def bfloat16(x: np.ndarray) -> np.ndarray:
        return torch.tensor(x).to(torch.bfloat16).float().numpy()

    below = np.array([0, 0, 0, 0, 300, 300], dtype=np.float32)
    first = np.array([6, 0, 0, 0, 0, 0], dtype=np.float32)
    return {
        "as published": lambda x: x,
        "bfloat16": lambda x: bfloat16(noisy(x, 0.5)),
        "bfloat16, sharp": lambda x: bfloat16(noisy(x, 0.5) * 4),
        "float16, sharper": lambda x: (noisy(x, 0.5) * 8).astype(np.float16).astype(np.float32),
        "E and F far below": lambda x: bfloat16(noisy(x, 1) - below),
        "guesses": lambda x: bfloat16(noisy(0 * x, 1)),
        "flat": lambda x: bfloat16(noisy(x, 0.3) / 40),
        "halves, many ties": lambda x: (np.round(noisy(x, 1) * 2) / 2).astype(np.float32),
        "all negative": lambda x: bfloat16(noisy(x, 1) - 60),
        "A is likely": lambda x: noisy(x, 1) + first,
    }


def main() -> None:
    """Print each case, and how many have all seven figures within 1e-6."""
    folder = Path(os.environ["HEDGE_REAL_DATA"]) / "vlm-uncertainty-bench" / "output" / "llava-v1.6-vicuna-13b"
    rng, same, cases, largest = np.random.default_rng(0), 0, 0, 0.0
    for data in ("mmbench", "oodcv"):
        published = pickle.loads((folder / f"{data}.pkl").read_bytes())
        logits = np.array([row["logits"] for row in published])
        for name, change in made_up(rng).items():
            for dtype in (np.float32, np.float64):
                rows = [row | {"logits": own} for row, own in zip(published, change(logits).astype(dtype), strict=True)]
                with tempfile.TemporaryDirectory() as place:
                    path = Path(place) / "model" / f"{data}.pkl"
                    path.parent.mkdir()
                    path.write_bytes(pickle.dumps(rows))
                    run = vlm_uncertainty_bench.read(path)
                made = evaluation(run)
                here = _vlm_figures(made, double=run.provenance.get("precision") == "double")
                there = theirs(rows, made.calibration, made.test)
                off = max(abs(here[figure] - there[figure]) for figure in there)
                print(f"{data}, {name}, {dtype.__name__}: {'same' if off <= 1e-6 else 'DIFFERS'}, at most {off:.1e}")
                same, cases, largest = same + (off <= 1e-6), cases + 1, max(largest, off)
    print(f"{same} of {cases} cases, at most {largest:.1e}")


if __name__ == "__main__":
    main()
