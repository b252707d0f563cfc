"""Everything of the shelf that lies in ``HEDGE_REAL_DATA``, imported from a mirror on this machine.

    HEDGE_REAL_DATA=FOLDER python -m tests.benchmarks.shelf

Prints how many published figures come out, the bytes that were fetched, and those that a cancelled download and its
continuation took together.
"""

import os
import tempfile
import time
from pathlib import Path

from core.errors import RunCancelled
from core.shelf.bring import bring
from core.shelf.entries import entry
from core.shelf.progress import DownloadProgress
from core.shelf.recompute import summary
from tests.core.shelf.mirror import Mirror, serving


def fill(mirror: Mirror, data: Path) -> None:
    """Serve the published files at the addresses that the entries name."""
    bench, vision = data / "llm-uncertainty-bench", data / "vlm-uncertainty-bench"
    for path in (bench / "logits").glob("*.pkl"):
        mirror.add("smartyfh/LLM-Uncertainty-Bench", "5d189dc", f"outputs_base/{path.name}", path.read_bytes())
    mirror.add_to_hub(
        "ErikYip/LLM-Uncertainty-Bench", "mmlu_10k.json", (bench / "labels" / "mmlu_10k.json").read_bytes()
    )
    commit = entry("vlm-uncertainty-bench").files[0].address.split("/")[5]
    for path in (*vision.glob("output/*/*.pkl"), *vision.glob("tables/*.csv")):
        mirror.add("EnSec-AI/VLM-Uncertainty-Bench", commit, path.relative_to(vision).as_posix(), path.read_bytes())


def main() -> None:
    """Import everything and print a line for each model."""
    wanted = [
        ("llm-uncertainty-bench", {"model": [model], "data": ["mmlu_10k", "halu_dialogue", "halu_summarization"]})
        for model in ("Mistral-7B-v0.1", "Llama-2-7b-hf", "Qwen-1_8B")
    ]
    wanted += [("vlm-uncertainty-bench", {"model": [model]}) for model in ("Yi-VL-6B", "llava-v1.6-vicuna-13b")]
    with tempfile.TemporaryDirectory() as home, serving() as mirror:
        os.environ |= {"HEDGE_HOME": home, "HEDGE_SHELF_MIRROR": mirror.url, "HF_ENDPOINT": mirror.url}
        fill(mirror, Path(os.environ["HEDGE_REAL_DATA"]))
        stopped = DownloadProgress()
        stopped.cancelled = lambda: stopped.done > 2_000_000
        try:
            bring(entry(wanted[0][0]), where=wanted[0][1], progress=stopped)
        except RunCancelled:
            print(f"cancelled after {stopped.fetched:,} bytes; the server sent {sum(mirror.sent.values()):,}")
        for name, where in wanted:
            begun = time.process_time()
            done = bring(entry(name), where=where)
            took = time.process_time() - begun
            print(f"{where['model'][0]}: {summary(done.figures)}; {len(done.runs)} runs, {took:.1f} processor seconds")
        served = sum(len(mirror.files[path]) for path in mirror.sent)
        print(f"served {served:,} bytes of files; the server sent {sum(mirror.sent.values()):,}")


if __name__ == "__main__":
    main()
