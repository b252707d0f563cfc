"""How far log-probabilities in half precision are from those in float32, and how often the top letter changes.

python -m tests.benchmarks.half_precision [MODEL] [DTYPE] [TASK …]
"""

import sys

import numpy as np

from core.models.engine_factory import load_engine
from core.runs.prompts import draw_questions, prompts
from core.runs.spec import RunSpec


def scores(model: str, task: str, dtype: str, *, questions: int = 1000) -> np.ndarray:
    """Log-probabilities (n, k) of this many questions, in the order of their prompts."""
    spec = RunSpec(model=model, task=task, samples=questions)
    asked_prompts = prompts(spec, draw_questions(spec))
    engine = load_engine(model, dtype=dtype)
    engine.prepare(asked_prompts)
    engine.self_check(asked_prompts)
    pairs = [pair for batch in engine.score(asked_prompts) for pair in zip(batch.ids, batch.logits, strict=True)]
    return np.array([dict(pairs)[prompt.question_id] for prompt in asked_prompts])


def main() -> None:
    """Print a line for each task."""
    model, dtype, *tasks = [*sys.argv[1:], *("pocket-8m", "bfloat16", "qa", "rc", "ci", "drs")[len(sys.argv) - 1 :]]
    for task in tasks:
        exact, rounded = (scores(model, task, each) for each in ("float32", dtype))
        off = np.abs(exact - rounded)[np.isfinite(exact)]
        changed = np.mean(exact.argmax(1) != rounded.argmax(1))
        print(f"{model} {task} {dtype}: off by {off.mean():.4f} on average, at most {off.max():.2f}; top {changed:.2%}")


if __name__ == "__main__":
    main()
