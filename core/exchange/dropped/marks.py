"""What gives a kind of file away that no importer knows by itself: the marks of tables, settings, scores and models."""

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from core.exchange import score_arrays
from core.exchange.array_sides import side_of
from core.exchange.dropped.kind import SheetView
from core.exchange.judge_columns import judge_columns, long_columns, unfolded
from core.exchange.juries import LABEL_COLUMNS
from core.exchange.picks import tallied
from core.models.perplexity import choices
from core.tables.field_names import LABEL_NAMES, OPTIONS_NAMES, PICK_NAMES, QUESTION_NAMES, matching
from core.tables.json_table import pandas_columns
from core.tables.tabular import Sheet

JUROR_LINE = re.compile(r"\t(\[\[?)?[\d.eE, +-]+(\]\]?)?\s*$")
MEASURE_COLUMNS = re.compile(r"accuracy|acc\b|coverage|set_size|avg_|uacc|(?<![a-z])ece(?![a-z])", re.I)
"""Names of columns that are measured over many questions."""
MEASURES = re.compile(rf"{MEASURE_COLUMNS.pattern}|(?<![a-z])(score|f1|rouge|bleu|exact_match|win_rate)(?![a-z])", re.I)
"""Names of keys that are measured over many questions."""
ARCHITECTURE = {"architectures", "hidden_size", "num_hidden_layers", "vocab_size", "d_model", "n_embd", "torch_dtype"}
"""What a model's configuration says beside its type."""
SETTINGS = {"tokenizer_class", "added_tokens_decoder", "adapter_spec", "scenario_spec", "eos_token"}

SETTING = re.compile(r"temperature|top_?p|rate|lr|dropout|decay|beta|eps|warmup|penalty|threshold|momentum|alpha", re.I)
"""Names of settings that are numbers between 0 and 1."""


def rows_have(rows: Any, *keys: str) -> bool:
    """Whether a value is a list whose first entry is an object with these keys."""
    return isinstance(rows, list) and bool(rows) and isinstance(rows[0], dict) and set(keys) <= set(rows[0])


# ---------------------------------------------------------------- bytes and archives


def is_safetensors(head: bytes) -> bool:
    """Whether a file begins as safetensors does: the length of a JSON object, then the object."""
    return len(head) > 9 and head[8:9] == b"{" and 0 < int.from_bytes(head[:8], "little") < 1 << 30


def is_npz(names: Sequence[str]) -> bool:
    """Whether members of a zip archive are the arrays of one run, which lie at its top, of at most two parts."""
    if not all(name.endswith(".npy") for name in names):
        return False
    stems = Counter(score_arrays.stem(Path(name)) for name in names)
    pairs = [stem for stem, count in stems.items() if count == 2]
    return not any("/" in name for name in names) and (len(pairs) <= 2 or all(map(side_of, pairs)))


# ---------------------------------------------------------------- JSON documents


def is_table(values: dict[str, Any]) -> bool:
    """Whether an object holds the rows of a table: a frame of pandas, or an object in it with a list of objects."""
    if pandas_columns(values) is not None:
        return True
    inner = next(iter(values.values())) if len(values) == 1 else None
    return isinstance(inner, dict) and any(rows_have(value) for value in inner.values())


def is_results_file(values: dict[str, Any]) -> bool:
    """Whether an object is the results file of lm-evaluation-harness."""
    settings = {"configs", "versions", "config", "n-shot"}
    return isinstance(values.get("results"), dict) and bool(values.keys() & settings) and not _of_lighteval(values)


def _of_lighteval(values: dict[str, Any]) -> bool:
    return "config_general" in values


def is_model(values: dict[str, Any]) -> bool:
    """Whether an object configures a model or an adapter."""
    if "peft_type" in values:
        return True
    return "architectures" in values or ("model_type" in values and bool(values.keys() & ARCHITECTURE))


def holds_scores(values: dict[str, Any]) -> bool:
    """Whether an object holds scores of whole runs: lighteval's results, or numbers by names of measures or tasks."""
    if isinstance(values.get("results"), dict) and _of_lighteval(values):
        return True
    if values.keys() & SETTINGS or not _is_flat(values):
        return False
    numbers = [key for key, value in values.items() if isinstance(value, (int, float))]
    shares = [key for key in numbers if isinstance(values[key], float) and 0 <= values[key] <= 1]
    shares = [key for key in shares if not SETTING.search(key)]
    return any(MEASURES.search(key) for key in _all_keys(values)) or 2 * len(shares) > max(len(numbers), 3)


def is_settings(values: dict[str, Any]) -> bool:
    """Whether an object holds settings."""
    return bool(values.keys() & SETTINGS) or _is_flat(values)


def _is_flat(values: dict[str, Any]) -> bool:
    """Whether an object has no list and nothing that questions have."""
    return not any(isinstance(value, list) for value in values.values()) and not values.keys() & {
        "question",
        "label",
        "resps",
    }


def _all_keys(values: Any, depth: int = 0) -> list[str]:
    if not isinstance(values, dict) or depth > 4:
        return []
    return [*map(str, values), *(key for value in list(values.values())[:50] for key in _all_keys(value, depth + 1))]


# ---------------------------------------------------------------- tables


def is_jury(view: SheetView) -> bool:
    """Whether a table has verdicts of jurors."""
    names = view.names
    if {"juror", "p_true"} <= names or ({"question", "answer", "logits"} <= names and names & set(LABEL_COLUMNS)):
        return True
    return bool(long_columns(view.sheet.names)) or judge_columns(unfolded(view.sheet)) is not None


def is_jury_labels(view: SheetView) -> bool:
    """Whether a table says which answers are right, and nothing of options."""
    names = view.names
    if {"question", "answer"} <= names and names & {"correctness", "accurate_judgement"}:
        return not (view.is_scored and view.texts)
    others = matching(view.sheet.names, (*PICK_NAMES, *OPTIONS_NAMES)) or "passage" in names
    if others or view.is_scored or view.texts or view.is_bank:
        return False
    return "question" in names and bool(names & set(LABEL_COLUMNS))


def is_run_part(view: SheetView) -> bool:
    """Whether a table is a file of a run of Hedge."""
    return {"id", "logits", "letter_mass"} <= view.names or {"options", "role", "group", "context"} <= view.names


def is_choice(row: dict[str, Any]) -> bool:
    """Whether a line of JSON is a context of messages with its endings. Where the context is a text, it is a
    question."""
    endings = {"endings", "label"} <= row.keys() and isinstance(row["endings"], list)
    return endings and rows_have(row.get("context"), "role", "content")


def is_choices(view: SheetView) -> bool:
    """Whether a table has contexts with two endings."""
    return {"context", "a", "b", "label"} <= view.names and "question" not in view.names and not view.is_scored


def may_ask_choices(sheet: Sheet) -> bool:
    """Whether no context of choices has messages, so that a model can be asked for the ending by its letter too."""
    cells = sheet.table["context"].to_pylist() if "context" in sheet.names else [None]
    return not any(
        not isinstance(cell, str) or cell.startswith(("[", "{")) or choices.MESSAGE.search(cell) for cell in cells
    )


def is_results_table(view: SheetView) -> bool:
    """Whether a table has a figure for each option of several questions, or several picks of each."""
    if tallied(view.sheet) is not view.sheet:
        return True
    if not view.is_scored or view.sheet.table.num_rows < 2 or is_summary(view):
        return False
    return not _may_be_bank(view)


def is_unclear(view: SheetView) -> bool:
    """Whether options are broken numbers that nothing tells from a model's logits."""
    return _may_be_bank(view) and not view.has_whole_figures


def _may_be_bank(view: SheetView) -> bool:
    """Whether the columns of numbers are options to choose from: their names do not say that they are a model's, nor do
    they behave so."""
    if view.figures is None or view.figures.kind or not matching(view.sheet.names, QUESTION_NAMES):
        return False
    return not view.has_probabilities and view.is_bank and view.has_figures_as_options


def is_bank(view: SheetView) -> bool:
    """Whether a table has questions with options, and no figures of a model."""
    return view.is_bank if not view.is_scored else _may_be_bank(view)


def is_summary(view: SheetView) -> bool:
    """Whether a table has a row for each run: names of measures, or a model in each row and no label."""
    sheet = view.wide
    names = [name.strip().lower() for name in sheet.names]
    if {"dataset", "version", "metric", "mode"} <= set(names):  # of OpenCompass
        return True
    if set(names) & {*LABEL_NAMES, *PICK_NAMES} - {"correct"}:
        return False
    if sum(bool(MEASURE_COLUMNS.search(name)) for name in names) >= 2:
        return True
    model = next((name for name in sheet.names if name.strip().lower() in ("model", "model_name")), "")
    return bool(model) and len(set(sheet.texts(model))) == sheet.table.num_rows


# ---------------------------------------------------------------- texts


def is_juror_text(lines: Sequence[str]) -> bool:
    """Whether most lines end with a juror's figures behind a tab."""
    return "\t" in lines[0] and sum(bool(JUROR_LINE.search(line)) for line in lines) > len(lines) / 2
