"""Has lm-evaluation-harness itself run the pocket model on the bundled bank and write its logs; a program of its own.

    python tests/core/exchange/write_lm_eval.py OUT MODEL BANK N

Two tasks on the same documents: ``bank_letters`` asks for the letter, ``bank_cloze`` for the option's text (with
``acc_mutual_info``, which doubles the requests).
"""

from __future__ import annotations

import json
import os
import sys
import warnings
from pathlib import Path

TASK = """
task: {name}
dataset_path: json
dataset_kwargs:
  data_files:
    test: {data}
test_split: test
output_type: multiple_choice
doc_to_text: "{text}"
doc_to_choice: {choices}
doc_to_target: {target}
metric_list:
{metrics}
"""
LETTERS = "Question: {{question}}\\n" + "".join(
    f"{letter}. {{{{choices[{i}]}}}}\\n" for i, letter in enumerate("ABCDEF")
)


def main(out: Path, model: str, bank: Path, n: int) -> None:
    os.environ["HF_HUB_OFFLINE"] = "1"
    os.environ["HF_DATASETS_CACHE"] = str(out / "cache")
    warnings.simplefilter("ignore")
    import lm_eval
    from lm_eval.loggers import EvaluationTracker
    from lm_eval.tasks import TaskManager

    out.mkdir(parents=True)
    data = out / "bank.jsonl"
    with bank.open(encoding="utf-8") as lines, data.open("w", encoding="utf-8") as file:
        for row in [json.loads(line) for line, _ in zip(lines, range(n), strict=False)]:
            file.write(
                json.dumps(
                    {
                        "question": row["question"],
                        "subject": row["group"],
                        "choices": row["options"],
                        "answer": row["label"],
                        "letter": "ABCDEF"[row["label"]],
                    }
                )
                + "\n"
            )
    (out / "tasks").mkdir()
    metrics = ["acc", "acc_norm", "acc_bytes"]
    for name, text, choices, target, more in (
        ("bank_letters", LETTERS + "Answer:", '["A", "B", "C", "D", "E", "F"]', "letter", []),
        ("bank_cloze", "Question: {{question}}\\nAnswer:", "choices", "answer", ["acc_mutual_info"]),
    ):
        (out / "tasks" / f"{name}.yaml").write_text(
            TASK.format(
                name=name,
                data=data,
                text=text,
                choices=choices,
                target=target,
                metrics="\n".join(f"  - metric: {metric}" for metric in [*metrics, *more]),
            )
        )
    manager = TaskManager(include_path=str(out / "tasks"), include_defaults=False)
    tracker = EvaluationTracker(output_path=str(out / "logs"))
    results = lm_eval.simple_evaluate(
        model="hf",
        model_args={"pretrained": model, "dtype": "float32"},
        tasks=["bank_letters", "bank_cloze"],
        task_manager=manager,
        batch_size=32,
        device="cpu",
        log_samples=True,
        evaluation_tracker=tracker,
        bootstrap_iters=0,
        random_seed=0,
        confirm_run_unsafe_code=False,
    )
    samples = results.pop("samples")
    tracker.save_results_aggregated(results=results, samples=samples)
    for name in ("bank_letters", "bank_cloze"):
        tracker.save_results_samples(task_name=name, samples=samples[name])


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3]), int(sys.argv[4]))
