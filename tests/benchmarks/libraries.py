"""What was compared before a library took the place of our code, or did not.

``python -m tests.benchmarks.libraries`` compares torch's Muon with ours, as it stood at commit ``6f1b3ee``, and counts
the near duplicates that our hash functions find. Where datasketch is installed (``pip install datasketch==2.0.0``; it
is no requirement), it also counts what 40 of its seeds find under each of its two ways to hash.
"""

from __future__ import annotations

import importlib
import importlib.util
import itertools
import subprocess
import time
import types
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from core.questions import bank, near_duplicates
from core.settings import ROOT

OURS = "6f1b3ee:pocket_world/muon.py"
SHAPES = ((16, 64), (192, 192), (384, 192))
SEEDS = 40


def main() -> None:
    compare_muon()
    compare_near_duplicates()


def compare_muon() -> None:
    """How far Newton–Schulz in bfloat16 is off in either, how far 200 steps lead apart, and how long a step takes."""
    ours = types.ModuleType("ours")
    source = subprocess.run(["git", "show", OURS], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    exec(compile(source, OURS, "exec"), ours.__dict__)
    torch.set_num_threads(1)
    for shape in SHAPES:
        torch.manual_seed(0)
        start = 0.1 * torch.randn(shape)
        ends, errors, speeds = [], [], []
        for make in (
            lambda held: ours.Muon(held, lr=0.01),
            lambda held: torch.optim.Muon(held, lr=0.01, weight_decay=0),
        ):
            error, end, seconds = _trained(make, start)
            errors.append(error)
            ends.append(end)
            speeds.append(seconds)
        apart = float((ends[0] - ends[1]).norm() / ends[1].norm())
        print(f"Muon {shape}: a step is off by {errors[0]:.1%} (ours), {errors[1]:.1%} (torch);", end=" ")
        print(
            f"200 steps lead {apart:.2%} apart; {1e3 * speeds[0]:.1f} and {1e3 * speeds[1]:.1f} ms of processor a step"
        )


def _trained(make: Callable[[list[torch.nn.Parameter]], Any], start: torch.Tensor) -> tuple[float, torch.Tensor, float]:
    """The first step's relative error against float64, the weights after 200 steps, and the processor time a step."""
    weights = torch.nn.Parameter(start.clone())
    optimizer, numbers, error = make([weights]), torch.Generator().manual_seed(1), 0.0
    began = time.process_time()
    for step in range(200):
        weights.grad = torch.randn(start.shape, generator=numbers) + 0.3 * weights.detach()
        if step == 0:
            scale = 0.01 * max(1, start.shape[0] / start.shape[1]) ** 0.5
            exact = _exact(weights.grad.double())
        optimizer.step()
        if step == 0:
            error = float(((start - weights.detach()).double() / scale - exact).norm() / exact.norm())
    return error, weights.detach(), (time.process_time() - began) / 200


def _exact(matrix: torch.Tensor) -> torch.Tensor:
    """Five iterations of Newton–Schulz in float64."""
    found = matrix / matrix.norm()
    for _ in range(5):
        square = found @ found.T
        found = 3.4445 * found + (-4.7750 * square + 2.0315 * square @ square) @ found
    return found


def compare_near_duplicates() -> None:
    """Questions of the bundled bank that are near an earlier one: all there are, and those that are found."""
    questions = bank.load("qa")
    sets = near_duplicates._shingles(questions)
    print(f"near duplicates of qa: {_joined(len(sets), _every_pair(sets))} compared pair by pair;", end=" ")
    print(f"{len(questions) - len(set(near_duplicates.clusters(questions)))} by our hash functions")
    if importlib.util.find_spec("datasketch") is None:
        print("datasketch is not installed, so it is not compared")
        return
    sketch = importlib.import_module("datasketch").MinHash
    ours = near_duplicates.clusters(questions)
    counts, same = [], 0
    for scheme, seed in itertools.product(("affine32", "affine64"), range(SEEDS)):
        near_duplicates._candidates = lambda of, how=(scheme, seed): _candidates(of, sketch, *how)  # type: ignore
        near_duplicates._clusters.cache_clear()
        found = near_duplicates.clusters(questions)
        counts.append(len(found) - len(set(found)))
        same += found == ours
    print(f"by datasketch, {len(counts)} seeds: {min(counts)} to {max(counts)}, {same} times the same as ours")


def _candidates(sets: Sequence[npt.NDArray[np.int64]], sketch: Any, scheme: str, seed: int) -> set[tuple[int, int]]:
    """The same bands over datasketch's hash values."""
    words = ((of.view(np.uint64) if scheme == "affine64" else of & 0xFFFFFFFF).tolist() for of in sets)
    made = sketch.generator(words, num_perm=near_duplicates.HASHES, hashfunc=int, scheme=scheme, seed=seed)
    pairs: set[tuple[int, int]] = set()
    seen: dict[tuple[int, bytes], int] = {}
    for i, one in enumerate(made):
        for begin in range(0, near_duplicates.HASHES, near_duplicates.BAND):
            key = (begin, one.hashvalues[begin : begin + near_duplicates.BAND].tobytes())
            if key in seen:
                pairs.add((seen[key], i))
            seen[key] = i
    return pairs


def _every_pair(sets: Sequence[npt.NDArray[np.int64]]) -> set[tuple[int, int]]:
    """All pairs that overlap enough, without a sketch."""
    words = [set(of.tolist()) for of in sets]
    pairs = set()
    for i, j in itertools.combinations(range(len(words)), 2):
        shared = len(words[i] & words[j])
        if shared >= near_duplicates.NEAR * (len(words[i]) + len(words[j]) - shared):
            pairs.add((i, j))
    return pairs


def _joined(n: int, pairs: set[tuple[int, int]]) -> int:
    """How many of n questions are joined to an earlier one."""
    parents = list(range(n))
    for i, j in pairs:
        near_duplicates._join(parents, i, j)
    return n - len({near_duplicates._root(parents, i) for i in range(n)})


if __name__ == "__main__":
    main()
