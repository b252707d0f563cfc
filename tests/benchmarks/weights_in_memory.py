"""How much memory two processes of one host take for the same weights on the CPU.

Each loads a model of 165 million parameters, stored in bfloat16 in shards, as runs do. The kernel says for each what it
has in memory (RSS), its share of that where pages are shared (PSS), and what nobody else can use (private):

    python -m tests.benchmarks.weights_in_memory
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

FIGURES = ("Rss", "Pss", "Private_Clean", "Private_Dirty")


def make(folder: Path) -> None:
    """The model, with random weights and a bundled tokenizer."""
    import shutil

    import torch
    from transformers import AutoModelForCausalLM, LlamaConfig

    from core.settings import ASSETS

    config = LlamaConfig(
        hidden_size=1024, num_hidden_layers=8, intermediate_size=2816, num_attention_heads=16, vocab_size=32_000
    )
    AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16).save_pretrained(folder, max_shard_size="100MB")
    for name in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copy(ASSETS / "models" / "pocket-8m" / name, folder)


def load(folder: str, dtype: str) -> None:
    """Load as a run does, say how memory has grown, and wait to be told the end."""
    from core.models.imports import language_models

    language_models()
    from core.models.model_loading import load_model
    from core.models.models import resolve

    before = memory()
    kept = load_model(resolve(folder), dtype=dtype)
    print("loaded", flush=True)
    sys.stdin.readline()
    print(*(f"{now - then:,.0f}" for now, then in zip(memory(), before, strict=True)), flush=True)
    sys.stdin.readline()
    del kept


def memory() -> list[float]:
    """This process's figures in MiB."""
    lines = Path("/proc/self/smaps_rollup").read_text().splitlines()
    found = {line.split(":")[0]: float(line.split()[1]) / 1024 for line in lines[1:]}
    return [found[name] for name in FIGURES]


def main() -> None:
    """Print the growth of two processes beside each other, in each precision."""
    with tempfile.TemporaryDirectory() as folder:
        make(Path(folder))
        stored = sum(path.stat().st_size for path in Path(folder).glob("*.safetensors")) / 2**20
        print(f"{stored:,.0f} MiB stored; MiB of {', '.join(FIGURES)}")
        for dtype in ("bfloat16", "float32"):
            command = [sys.executable, "-m", "tests.benchmarks.weights_in_memory", folder, dtype]
            pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
            both = [subprocess.Popen(command, **pipes) for _ in range(2)]  # type: ignore[call-overload]
            for answers in ("loaded", dtype):
                for process in both:
                    said = process.stdout.readline().strip()
                    if answers != "loaded":
                        print(dtype, said)
                for process in both:
                    process.stdin.write("\n")
                    process.stdin.flush()
            for process in both:
                process.communicate()


if __name__ == "__main__":
    load(*sys.argv[1:]) if sys.argv[1:] else main()
