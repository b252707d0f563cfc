"""Processor seconds of a workbook of two runs of 10,000 questions; without HEDGE_REAL_DATA of two that ship.

``python tests/benchmarks/workbook.py``
"""

import os
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def main() -> None:
    """Print the seconds of the figures and of the file, and the file's size."""
    sys.path.insert(0, str(ROOT))
    with tempfile.TemporaryDirectory() as home:
        os.environ["HEDGE_HOME"] = home
        from core.exchange.imported import save
        from core.reports import exports
        from core.reports.compare.benchmark import SetRule
        from core.reports.evaluation import load
        from core.runs import store
        from tests.core.exchange.test_llm_uncertainty_bench import read_logits

        data = os.environ.get("HEDGE_REAL_DATA")
        if data:
            folder = Path(data) / "llm-uncertainty-bench"
            names = ("Mistral-7B-v0.1", "Llama-2-7b-hf")
            paths = [folder / "logits" / f"{name}_mmlu_10k_base_icl1.pkl" for name in names]
            run_ids = save(read_logits(paths, folder / "labels"))
        else:
            run_ids = [name for name in store.run_ids() if "-ds-base-0shot-float32-" in name][:2]
        runs = [load(name) for name in run_ids]
        exports.rows(runs, SetRule())  # what is computed and imported once
        for _ in range(3):
            start = time.process_time()
            content = exports.xlsx(runs, SetRule())
            print(f"{time.process_time() - start:.2f} s of processor time, {len(content) / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
