"""Memory and time of judging tokens of a large vocabulary; the model is small, the vocabulary is not.

    OMP_NUM_THREADS=1 python -m tests.benchmarks.token_memory --vocabulary 32000 --tokens 100000

Prints the peak of resident memory over the loaded model. How often a sample of tokens brackets the ECE of their law is
a case of ``tests/simulation/calibration.py``.
"""

from __future__ import annotations

import argparse
import resource
import time

import numpy as np
import torch
from transformers import LlamaConfig, LlamaForCausalLM

from core.models.adapters.judged import judge
from core.models.adapters.texts import Tokenized

WIDTH = 256


def peak() -> float:
    """MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    """Judge random tokens that the model half foresees."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--vocabulary", type=int, default=32_000)
    asked.add_argument("--tokens", type=int, default=100_000)
    arguments = asked.parse_args()
    torch.manual_seed(0)
    config = LlamaConfig(vocab_size=arguments.vocabulary, hidden_size=64, intermediate_size=128, num_hidden_layers=2)
    config.num_attention_heads = config.num_key_value_heads = 2
    model = LlamaForCausalLM(config).eval()
    rng = np.random.default_rng(0)
    texts = [
        Tokenized(tuple(rng.integers(1, arguments.vocabulary, WIDTH + 1).tolist()), 1)
        for _ in range(-(-arguments.tokens // WIDTH))
    ]
    judge(model, texts[:1])
    before, started = peak(), time.perf_counter()
    found = judge(model, texts, count=arguments.tokens)
    took, more = time.perf_counter() - started, peak() - before
    print(f"{len(found):,} tokens × {arguments.vocabulary:,}: {took:.0f} s, {more:.0f} MB more")


if __name__ == "__main__":
    main()
