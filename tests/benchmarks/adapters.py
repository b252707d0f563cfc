"""LoRA and ARD-LoRA of a model over seeds: accuracy, NLL, ECE, active ranks of held-out tokens, with 95 % t-intervals.

    python -m tests.benchmarks.adapters --model pocket-1m --data trivia --seeds 5 --epochs 8 --out FILE

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

from core import cli
from core.adapters import token_evaluation as evaluation
from core.reports.report import finite

FIGURES = ("accuracy", "nll", "ece")
PASSES = 8


def main() -> None:
    """Train and judge, then print the table."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--model", default="pocket-1m")
    asked.add_argument("--data", default="trivia")
    asked.add_argument("--seeds", type=int, default=5)
    asked.add_argument("--epochs", type=int, default=8)
    asked.add_argument("--samples", type=int)
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
    print("| adapter | accuracy | NLL | ECE | luck alone | active ranks | training, s |")
    print("|---|---|---|---|---|---|---|")
    for name, of in found.items():
        cells = [spread([one[figure] for one in of]) for figure in FIGURES]
        luck = np.mean([one["figures"]["ece"]["bias"] for one in of])
        ranks = f"{np.mean([one['active_ranks'] for one in of]):.1f} of {of[0]['ranks']}" if of[0]["ranks"] else "–"
        took = f"{np.mean(seconds[name]):.0f}" if name in seconds else "–"
        print(f"| {name} | {' | '.join(cells)} | {luck:.3f} | {ranks} | {took} |")


def judged(into: list[dict], model: str, data: str, seed: int, passes: int = 0) -> None:
    """Judge all test tokens."""
    loaded = evaluation.load(model)
    into.append(finite(evaluation.evaluate(loaded, data, count=None, rows=16, passes=passes, seed=seed)))


def spread(values: list[float]) -> str:
    """Mean with its 95 % t-interval over seeds."""
    n, mean = len(values), float(np.mean(values))
    reach = float(stdtrit(n - 1, 0.975)) * float(np.std(values, ddof=1)) / n**0.5 if n > 1 else float("nan")
    return f"{mean:.3f} ({mean - reach:.3f} to {mean + reach:.3f})"


if __name__ == "__main__":
    main()
