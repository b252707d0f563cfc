"""The formats that can be uploaded: the name of each, its files, and the function that reads them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from core.errors import InputError
from core.exchange import bluq, inspect_log, llm_uncertainty_bench, lm_eval
from core.exchange.imported import ImportedRun
from core.exchange.juries import JURY_ENDINGS
from core.exchange.tabular import ENDINGS

JURY = "jury"


@dataclass(frozen=True, slots=True)
class Format:
    """A format on the page: its name, a sentence on what to upload, its file extensions, and the function that reads
    it.
    """

    title: str
    sentence: str
    endings: tuple[str, ...]
    read: Callable[[Sequence[Path], Path], list[ImportedRun]] | None


def _bench(paths: Sequence[Path], folder: Path) -> list[ImportedRun]:
    results = [path for path in paths if path.suffix == ".pkl"]
    if not results:
        raise InputError("these files have answers but no results; upload the .pkl files too")
    return llm_uncertainty_bench.read(results, labels=folder)


def _harness(paths: Sequence[Path], folder: Path) -> list[ImportedRun]:
    return lm_eval.read(paths)


FORMATS = {
    "table": Format(
        "Table",
        "One row for each question, one column for each option with its probability, logit or "
        "log-probability, and one column with the answer.",
        ENDINGS,
        None,
    ),
    "lm-eval": Format(
        "lm-evaluation-harness",
        "samples_….jsonl, which lm-eval writes with --log_samples. If you add its results_….json, that is checked too.",
        (".jsonl", ".json"),
        _harness,
    ),
    "inspect": Format(
        "Inspect",
        "An .eval or .json log of a multiple-choice task that was run with logprobs and top_logprobs.",
        (".eval", ".json"),
        lambda paths, folder: inspect_log.read(paths),
    ),
    "llm-uncertainty-bench": Format(
        "LLM-Uncertainty-Bench",
        "Results as .pkl files, and the answers of their data sets as .json files.",
        (".pkl", ".json"),
        _bench,
    ),
    "bluq": Format(
        "BLUQ",
        "The published probs_….npz files. Each one names its model, task, precision and strategy.",
        (".npz",),
        lambda paths, folder: bluq.read(paths),
    ),
    JURY: Format(
        "Jury",
        "Judgements of a jury: jury_logits_…_calib.csv and …_test.csv, or one table with question, answer, "
        "juror, p_true and label, or text files (question, tab, probability) together with a table of "
        "questions and labels.",
        JURY_ENDINGS,
        None,
    ),
}
"""Every format that can be uploaded, by name."""
