"""LoRA and ARD-LoRA of a model over seeds: accuracy, NLL, ECE, active ranks of held-out tokens, with 95% t-intervals.

    python -m tests.benchmarks.adapters --model pocket-3m --data trivia --seeds 5 --epochs 3 --out FILE

Each seed draws its own test texts, order and start; the base model is judged on the same texts. ``--out`` keeps every
evaluation, which the Tokens page shows (assets/tokens).
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import shutil
import tempfile
import time
from pathlib import Path

import numpy as np
from scipy.special import stdtrit

from core.models.adapters import token_evaluation as evaluation
from core.reports.report import finite
from hedge import cli

FIGURES = ("accuracy", "nll", "ece")
PASSES = 8


def main() -> None:
    """Train and judge, then print the table."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--model", default="pocket-3m")
    asked.add_argument("--data", default="trivia")
    asked.add_argument("--seeds", type=int, default=5)
    asked.add_argument("--epochs", type=int, default=3)
    asked.add_argument("--samples", type=int)
    asked.add_argument("--kl", type=float, default=0.01)
    asked.add_argument("--out", type=Path)
    arguments = asked.parse_args()
    folder = Path(tempfile.mkdtemp())
    found: dict[str, list[dict]] = {"base": [], "lora": [], "ard-lora": [], f"ard-lora, {PASSES} passes": []}
    seconds: dict[str, list[float]] = {}
    for seed in range(arguments.seeds):
        judged(found["base"], arguments.model, arguments.data, seed)
        for kind in ("lora", "ard-lora"):
            place = folder / f"{kind}-{seed}"
            words = ["train-adapter", "--model", arguments.model, "--data", arguments.data, "--kind", kind]
            words += ["--seed", str(seed), "--epochs", str(arguments.epochs), "--out", str(place)]
            words += ["--kl", str(arguments.kl)]
            words += ["--samples", str(arguments.samples)] if arguments.samples else []
            started = time.perf_counter()
            with contextlib.redirect_stdout(io.StringIO()):
                status = cli.main(words)
            if status:
                raise SystemExit(status)
            seconds.setdefault(kind, []).append(time.perf_counter() - started)
            judged(found[kind], str(place), arguments.data, seed)
            if kind == "ard-lora":
                judged(found[f"ard-lora, {PASSES} passes"], str(place), arguments.data, seed, passes=PASSES)
    shutil.rmtree(folder)
    if arguments.out:
        arguments.out.write_text(json.dumps(found, indent=1))
    figures_table(found, seconds)
    paired_table(found)


def figures_table(found: dict[str, list[dict]], seconds: dict[str, list[float]]) -> None:
    """Means over seeds."""
    print("| adapter | accuracy | NLL | ECE | luck alone | active ranks | training, s |")
    print("|---|---|---|---|---|---|---|")
    for name, of in found.items():
        cells = [spread([one[figure] for one in of]) for figure in FIGURES]
        luck = np.mean([one["figures"]["ece"]["bias"] for one in of])
        ranks = f"{np.mean([one['active_ranks'] for one in of]):.1f} of {of[0]['ranks']}" if of[0]["ranks"] else "–"
        took = f"{np.mean(seconds[name]):.0f}" if name in seconds else "–"
        print(f"| {name} | {' | '.join(cells)} | {luck:.3f} | {ranks} | {took} |")


def paired_table(found: dict[str, list[dict]]) -> None:
    """What an adapter changes on the same test texts, seed by seed."""
    print("\n| change, seed by seed | accuracy | NLL | ECE |")
    print("|---|---|---|---|")
    for of, to in (
        ("lora", "base"),
        ("ard-lora", "base"),
        ("ard-lora", "lora"),
        (f"ard-lora, {PASSES} passes", "ard-lora"),
    ):
        cells = [
            spread([one[figure] - other[figure] for one, other in zip(found[of], found[to], strict=True)], sign="+")
            for figure in FIGURES
        ]
        print(f"| {of} to {to} | {' | '.join(cells)} |")


def judged(into: list[dict], model: str, data: str, seed: int, passes: int = 0) -> None:
    """Judge all test tokens."""
    loaded = evaluation.load(model)
    into.append(finite(evaluation.evaluate(loaded, data, count=None, rows=16, passes=passes, seed=seed)))


def spread(values: list[float], sign: str = "") -> str:
    """Mean with its 95% t-interval over seeds, with its sign where ``sign`` is +."""
    n, mean = len(values), float(np.mean(values))
    reach = float(stdtrit(n - 1, 0.975)) * float(np.std(values, ddof=1)) / n**0.5 if n > 1 else float("nan")
    return "{} ({} to {})".format(*(f"{value:{sign}.3f}" for value in (mean, mean - reach, mean + reach)))


if __name__ == "__main__":
    main()
