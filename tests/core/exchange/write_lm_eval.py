"""Has lm-evaluation-harness itself run the pocket model on the bundled bank and write its logs; a program of its own.

    python tests/core/exchange/write_lm_eval.py OUT MODEL BANK N

Two tasks on the same documents: ``bank_letters`` asks for the letter, ``bank_cloze`` for the option's text (with
``acc_mutual_info``, which doubles the requests). ``OUT/leaderboard`` has what the harness's own tasks of the Open LLM
Leaderboard write about documents of the bank in the columns of the leaderboard's data sets.
"""

import json
import os
import re
import shutil
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


FEW = 24
"""Documents of each task of the leaderboard."""
LEADERBOARD = (
    "leaderboard_mmlu_pro",
    "leaderboard_gpqa_diamond",
    "leaderboard_bbh_date_understanding",
    "leaderboard_musr_murder_mysteries",
)


SPLITS = {
    "mmlu_pro": ("validation", "test"),
    "gpqa": ("train",),
    "bbh_mc": ("test",),
    "musr": ("murder_mysteries",),
}
"""The splits that each suite's tasks read."""


def leaderboard_rows(bank: list[dict]) -> dict[str, list[dict]]:
    """Rows of each suite's data set in its own columns; their options are the four of the bank's that can be true."""
    rows: dict[str, list[dict]] = {"mmlu_pro": [], "gpqa": [], "bbh_mc": [], "musr": []}
    for i, row in enumerate(bank):
        options, right = row["options"][:4], row["label"]
        wrong = [text for place, text in enumerate(options) if place != right]
        # MMLU-Pro has questions with fewer options than others
        fewer = options[: max(right + 1, 3)] if i % 5 == 0 else options
        rows["mmlu_pro"].append(
            {
                "question_id": i,
                "question": row["question"],
                "options": fewer,
                "answer": "ABCD"[right],
                "answer_index": right,
                "category": row["group"],
            }
        )
        rows["gpqa"].append(
            {"Question": row["question"], "Correct Answer": options[right]}
            | {f"Incorrect Answer {place}": text for place, text in enumerate(wrong, start=1)}
        )
        listed = "".join(f"\n({letter}) {text}" for letter, text in zip("ABCD", options, strict=True))
        rows["bbh_mc"].append({"input": f"{row['question']}\nOptions:{listed}", "target": f"({'ABCD'[right]})"})
        rows["musr"].append(
            {
                "narrative": f"Story {i}. {row['question']}",
                "question": "Which of these is it?",
                "choices": str([f"It is {text}" for text in options]),  # numerals would be read as places
                "answer_index": right,
                "answer_choice": f"It is {options[right]}",
            }
        )
    return rows


def write_leaderboard(folder: Path, bank: list[dict]) -> None:
    """A copy of the harness's own tasks that read these rows in place of the hub's data sets."""
    import lm_eval

    source = Path(lm_eval.__file__).parent / "tasks" / "leaderboard"
    for suite, rows in leaderboard_rows(bank).items():
        shutil.copytree(source / suite, folder / suite)
        data = folder / f"{suite}.jsonl"
        data.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        files = "\n".join(f"    {split}: {data}" for split in SPLITS[suite])
        for path in (folder / suite).glob("*"):
            if path.is_file() and path.suffix != ".py":
                text = path.read_text(encoding="utf-8")
                there = f"dataset_path: json\ndataset_kwargs:\n  data_files:\n{files}"
                path.write_text(re.sub(r"(?m)^dataset_path: .*$", lambda _, there=there: there, text))


def main(out: Path, model: str, bank: Path, n: int) -> None:
    os.environ["HF_HUB_OFFLINE"] = "1"
    os.environ["HF_DATASETS_CACHE"] = str(out / "cache")
    warnings.simplefilter("ignore")
    out.mkdir(parents=True)
    data = out / "bank.jsonl"
    with bank.open(encoding="utf-8") as lines, data.open("w", encoding="utf-8") as file:
        read = [json.loads(line) for line, _ in zip(lines, range(n), strict=False)]
        for row in read:
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
    ask(out / "logs", model, out / "tasks", ["bank_letters", "bank_cloze"])
    write_leaderboard(out / "leaderboard_tasks", read[:FEW])
    ask(out / "leaderboard", model, out / "leaderboard_tasks", list(LEADERBOARD))


def ask(out: Path, model: str, tasks: Path, names: list[str]) -> None:
    """Have the harness run tasks and write its logs."""
    import lm_eval
    from lm_eval.loggers import EvaluationTracker
    from lm_eval.tasks import TaskManager

    tracker = EvaluationTracker(output_path=str(out))
    results = lm_eval.simple_evaluate(
        model="hf",
        model_args={"pretrained": model, "dtype": "float32"},
        tasks=names,
        task_manager=TaskManager(include_path=str(tasks), include_defaults=False),
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
    for name in names:
        tracker.save_results_samples(task_name=name, samples=samples[name])


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3]), int(sys.argv[4]))
