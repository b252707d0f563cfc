"""The memory of long contexts on a CPU: ``python -m tests.benchmarks.long_contexts [TOKENS …]``.

Peak memory, beyond what the loaded model takes, of the self-check and of the scoring of four questions, asked for
letters and for the options' texts. The model is a Llama of random weights with .4 M parameters. Each measurement has a
process of its own.
"""

from __future__ import annotations

import resource
import subprocess
import sys

import psutil

TOKENS = (4_000, 16_000, 32_000)
QUESTIONS = 4


def measure(form: str, tokens: int) -> None:
    """Print the figures of one form at one length."""
    import torch
    from transformers import AutoTokenizer, LlamaConfig, LlamaForCausalLM

    from core.models.transformers_engine import TransformersEngine
    from core.records import Prompt
    from core.settings import ASSETS

    torch.manual_seed(0)
    tokenizer = AutoTokenizer.from_pretrained(ASSETS / "models" / "pocket-1m")
    tokenizer.model_max_length = tokens + 64
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=4,
        max_position_embeddings=tokens + 64,
    )
    engine = TransformersEngine(LlamaForCausalLM(config).eval(), tokenizer, name="long", dtype="float32")
    options = (" a b c", " the sea", " a day", " one") if form == "texts" else ()
    word = " the"
    one = len(tokenizer(word * 1_000)["input_ids"]) / 1_000
    prompts = [
        Prompt(str(i), f"Question {i}:" + word * int((tokens - 64 - 100 * i) / one), 4, continuations=options)
        for i in range(QUESTIONS)
    ]
    before = psutil.Process().memory_info().rss
    engine.prepare(prompts)
    longest = max(row.tree_length for row in engine._rows.values())
    check = engine.self_check(prompts)
    checked = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    for _ in engine.score(prompts):
        pass
    scored = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(
        f"{form:<8}{longest:>8,}{(checked - before) / 2**30:>14.2f}{(scored - before) / 2**30:>14.2f}  {check.rung}",
        flush=True,
    )


def main() -> None:
    """Measure each form at each length, in a process of its own."""
    if sys.argv[1:2] in (["letters"], ["texts"]):
        measure(sys.argv[1], int(sys.argv[2]))
        return
    print(f"{'asked':<8}{'tokens':>8}{'check, GiB':>14}{'run, GiB':>14}  path")
    for form in ("letters", "texts"):
        for tokens in map(int, sys.argv[1:] or TOKENS):
            subprocess.run([sys.executable, "-m", "tests.benchmarks.long_contexts", form, str(tokens)], check=True)


if __name__ == "__main__":
    main()
