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
        raise InputError("there are answers but no results; upload the .pkl files too")
    return llm_uncertainty_bench.read(results, labels=folder)


def _harness(paths: Sequence[Path], folder: Path) -> list[ImportedRun]:
    return lm_eval.read(paths)


FORMATS = {
    "table": Format(
        "Table",
        "A row a question, a column an option with its probability, logit or log-probability, and one with the answer.",
        ENDINGS,
        None,
    ),
    "lm-eval": Format(
        "lm-evaluation-harness",
        "samples_….jsonl, which it writes with --log_samples; its results_….json beside it is checked too.",
        (".jsonl", ".json"),
        _harness,
    ),
    "inspect": Format(
        "Inspect",
        "An .eval or .json log of a multiple-choice task, made with logprobs and top_logprobs.",
        (".eval", ".json"),
        lambda paths, folder: inspect_log.read(paths),
    ),
    "llm-uncertainty-bench": Format(
        "LLM-Uncertainty-Bench",
        "Results as .pkl, and the answers of their data sets as .json.",
        (".pkl", ".json"),
        _bench,
    ),
    "bluq": Format(
        "BLUQ",
        "Its probs_….npz as they were published; an archive says its model, task, precision and strategy itself.",
        (".npz",),
        lambda paths, folder: bluq.read(paths),
    ),
    JURY: Format(
        "Jury",
        "Judgements: jury_logits_…_calib.csv and …_test.csv, one table with question, answer, juror, p_true and label, "
        "or text files (question, tab, probability) beside a table with question and label.",
        JURY_ENDINGS,
        None,
    ),
}
"""Every format that can be uploaded, by name."""
