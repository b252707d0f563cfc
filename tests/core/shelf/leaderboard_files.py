"""Small data sets in the layout of the Open LLM Leaderboard v2, written by hand; the harness writes real ones in
tests/core/exchange/test_lm_eval.py."""

import json

import numpy as np

from tests.core.shelf.mirror import Mirror

DATE = "2025-01-27T10-10-36.877664"
REPOSITORY = "open-llm-leaderboard/org__tiny-1B-details"
FOLDER = "org__tiny-1B"


def samples(task: str, n: int = 40, *, seed: int = 0) -> tuple[bytes, dict[str, float]]:
    """Samples of n questions with four options, and what the results file says of the task."""
    rng = np.random.default_rng(seed)
    lines, right = [], []
    for i in range(n):
        label = int(rng.integers(4))
        values = rng.normal(-4, 1, size=4)
        values[label] += 2
        right.append(float(np.argmax(values) == label))
        lines.append(
            json.dumps(
                {
                    "doc_id": i,
                    "doc": {"question": f"What is thing {seed}-{i}?", "options": [f"{i} {name}" for name in "abcd"]},
                    "target": "ABCD"[label],
                    "arguments": {
                        f"gen_args_{j}": {"arg_0": f"What is thing {i}?\nAnswer:", "arg_1": f" {'ABCD'[j]}"}
                        for j in range(4)
                    },
                    "resps": [[[str(value), "False"]] for value in values],
                    "filtered_resps": [[str(value), "False"] for value in values],
                    "doc_hash": f"{task}{seed}{i:08d}"[-16:],
                    "acc": right[-1],
                }
            )
        )
    return "".join(f"{line}\n" for line in lines).encode(), {"acc,none": float(np.mean(right))}


def add(mirror: Mirror, tasks: tuple[str, ...] = ("leaderboard_gpqa_main", "leaderboard_mmlu_pro")) -> dict[str, bytes]:
    """Serve the data set of ``org/tiny-1B`` with these tasks, and return its files by path."""
    files, stated = {}, {}
    for seed, task in enumerate(tasks):
        files[f"{FOLDER}/samples_{task}_{DATE}.jsonl"], stated[task] = samples(task, seed=seed)
    files[f"{FOLDER}/results_{DATE}.json"] = json.dumps(
        {
            "results": stated,
            "configs": {task: {"output_type": "multiple_choice"} for task in tasks},
            "n-shot": dict.fromkeys(tasks, 5),
            "config": {"model_dtype": "torch.bfloat16"},
            "model_name": "org/tiny-1B",
        }
    ).encode()
    for path, content in {"README.md": b"# Details", **files}.items():
        mirror.add_to_hub(REPOSITORY, path, content)
    return files
