"""What a dropped file is, told by its content: results of a tool, a jury, questions, a conversation, or none of these.

A name is asked only where two files of a run have to find each other, never for what a file is.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from core.errors import InputError
from core.exchange import (
    helm,
    judged_pairs,
    lighteval,
    llm_uncertainty_bench,
    lm_eval,
    opencompass,
    run_folder,
    vlm_uncertainty_bench,
)
from core.exchange.dropped.files import zip_format
from core.exchange.dropped.other_tools import check_delimiters, holds_picks, torch_arrays
from core.exchange.picks import tallied
from core.exchange.table_columns import looks_scored, text_columns
from core.exchange.unpickle import load_arrays
from core.files.json_text import loads
from core.tables.encodings import LINE_END, opened, read_text
from core.tables.field_names import LABEL_NAMES, PICK_NAMES, TEXT_NAMES
from core.tables.json_table import pandas_columns
from core.tables.list_columns import widened
from core.tables.safe_read import LARGEST_JSON, check_size, reason
from core.tables.tabular import Sheet, before_header, open_sheets
from core.tasks import finished

HEAD = 1 << 20
"""Bytes of a file's beginning that are looked at."""
Place = Literal["runs", "jury", "new_run", "perplexity", ""]
"""Where a file's content goes: it becomes runs or a jury, or is used on another page, or nowhere."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of file: what it is, where it goes, and a sentence on that for a file that can't become a run."""

    title: str
    place: Place = ""
    sentence: str = ""


SUMMARY = "it holds figures of whole runs; sets need the probability of every option of every question"
KINDS = {
    "table": Kind("table of option probabilities", "runs"),
    "workbook": Kind("workbook", "runs"),
    "lm-eval": Kind("samples of lm-evaluation-harness", "runs"),
    "inspect": Kind("log of Inspect", "runs"),
    "bench": Kind("option logits of LLM-Uncertainty-Bench", "runs"),
    "vlm": Kind("option logits of VLM-Uncertainty-Bench", "runs"),
    "npz": Kind("numpy archive", "runs"),
    "npy": Kind("numpy array", "runs"),
    "helm": Kind("scenario state of HELM", "runs"),
    "opencompass": Kind("predictions of OpenCompass", "runs"),
    "lighteval": Kind("details of lighteval", "runs"),
    "run": Kind("run of Hedge", "runs"),
    "answers": Kind("answers of a data set", "runs"),
    "results": Kind("results file of lm-evaluation-harness", "runs"),
    "jury": Kind("judgements of jurors", "jury"),
    "jury text": Kind("judgements of a juror", "jury"),
    "jury labels": Kind("labels of a jury's answers", "jury"),
    "pairs": Kind("judged pairs of answers", "jury"),
    "questions": Kind("question bank", "new_run", "A model can answer its questions on the page New run."),
    "conversation": Kind("conversation", "perplexity", "The Perplexity page scores the words of conversations."),
    "choices": Kind(
        "choices of endings", "perplexity", "The Perplexity page shows which ending a model finds likeliest."
    ),
    "model": Kind("model folder", "new_run", "Give the path of its folder as the model of a new run."),
    "weights": Kind("model weights", "new_run", "Give the path of the model's folder on the page New run."),
    "summary": Kind("summary of results", "", SUMMARY),
    "picks": Kind(
        "answers of a model",
        "",
        "it says which answers a model gave or whether they were right; sets need the probability of every option",
    ),
    "torch": Kind(
        "file of PyTorch",
        "",
        "it is a file of PyTorch, which can run code when it is opened and is not read; save its arrays with numpy as "
        "npz",
    ),
    "run parts": Kind("part of a run of Hedge", "runs"),
    "claims": Kind("claims with scores", "", "it holds claims with scores, which no page of Hedge shows"),
    "text": Kind("text", "", "it is text without results"),
    "picture": Kind("picture or document", "", "it is a picture or a document without results"),
    "config": Kind("settings of a run", "", "it holds settings, no results"),
    "helm parts": Kind(
        "predictions of HELM",
        "",
        "it holds predictions of HELM without the options' log-probabilities; bring in the scenario_state.json that "
        "stands beside it",
    ),
    "opendocument": Kind(
        "OpenDocument file", "", "it is an OpenDocument file, which is not read; save it as XLSX or CSV"
    ),
    "arrow": Kind("Arrow file", "", "it is an Arrow (Feather) file, which is not read; save it as Parquet"),
    "xls": Kind("old workbook", "", "it is an old Excel workbook (XLS), which is not read; save it as XLSX or CSV"),
    "pointer": Kind(
        "Git LFS pointer", "", "it is a pointer of Git LFS and not the file itself; fetch that with `git lfs pull`"
    ),
}
"""Every kind that is told apart, by its name in the code."""

MAGIC = (
    (b"\x89PNG", "picture"),
    (b"\xff\xd8\xff", "picture"),
    (b"GIF8", "picture"),
    (b"%PDF", "picture"),
    (b"<svg", "picture"),
    (b"<!DOCTYPE", "picture"),
    (b"<html", "picture"),
    (b"GGUF", "weights"),
    (b"\x89HDF", "weights"),
    (b"\x93NUMPY", "npy"),
    (b"ARROW1", "arrow"),
    (b"\xff\xff\xff\xff", "arrow"),  # a stream of it, as data sets are kept
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "xls"),
    (b"version https://git-lfs.github.com", "pointer"),
)
MESSAGE_LINE = re.compile(r"^\s*(assistant|user|system)\s*:", re.I)
JUROR_LINE = re.compile(r"\t(\[\[?)?[\d.eE, +-]+(\]\]?)?\s*$")
SUMMARY_COLUMNS = re.compile(r"accuracy|acc\b|coverage|set_size|avg_|uacc|ece", re.I)


def kind_of(path: Path) -> str:
    """The kind of a file, a name of :data:`KINDS`.

    Raises :class:`InputError` for a file that is empty, damaged, or nothing that is known.
    """
    check_size(path)
    with opened(path) as source:
        head = source.head(HEAD)
    for begin, kind in MAGIC:
        if head.lstrip().startswith(begin):
            return kind
    if head.startswith(b"PK"):
        found = zip_format(path)
        if found == "torch" and torch_arrays(path):
            return "torch"
        return {"torch": "weights", "document": "picture", "": "workbook"}.get(found, found)
    if head.startswith(b"PAR1"):
        return _of_sheets(open_sheets(path), path)
    if head[:1] == b"\x80" and head[1:2] in (b"\x02", b"\x03", b"\x04", b"\x05"):
        return _of_pickle(path)
    if _is_safetensors(head):
        return "weights"
    return _of_text(path, head)


def _is_safetensors(head: bytes) -> bool:
    return len(head) > 9 and head[8:9] == b"{" and 0 < int.from_bytes(head[:8], "little") < 1 << 30


def _of_pickle(path: Path) -> str:
    values = load_arrays(path.read_bytes(), path)
    if llm_uncertainty_bench.is_result(values):
        return "bench"
    if vlm_uncertainty_bench.is_result(values):
        return "vlm"
    raise InputError(
        f"{path}: expected a pickle that lists rows with logits_options (or logits and answer), found "
        f"{type(values).__name__}"
    )


# ---------------------------------------------------------------- text


def _of_text(path: Path, head: bytes) -> str:
    begin = head.removeprefix(codecs.BOM_UTF8).lstrip()
    if begin[:1] in (b"{", b"["):
        kind = _of_json(path, begin)
        return kind if kind else _of_sheets(open_sheets(path), path)
    if b"\0" in head[:4096]:
        raise InputError(f"{path}: expected results, found a binary file of no known format")
    every = LINE_END.split(begin.decode("utf-8", "replace"))
    lines = [line for line in every[before_header(every) :] if line.strip()]
    if not lines:
        raise InputError(f"{path}: expected results, found an empty file")
    if sum(bool(MESSAGE_LINE.match(line)) for line in lines) > len(lines) / 2:
        return "conversation"
    if "\t" in lines[0] and sum(bool(JUROR_LINE.search(line)) for line in lines) > len(lines) / 2:
        return "jury text"
    check_delimiters(lines, path)
    marks = max(lines[0].count(mark) for mark in ",;\t|")
    if marks == 0 or (len(lines) == 1 and marks == 1):
        return "text"
    try:
        return _of_sheets(open_sheets(path), path)
    except InputError:
        if re.search(r"[.!?]\s*$", lines[0]) or sum(len(line.split()) > 8 for line in lines[:20]) > 10:
            return "text"  # prose with commas in its first line
        raise


def _of_json(path: Path, begin: bytes) -> str:
    """The kind of a JSON document or of JSON lines, by the keys; empty for a table."""
    first, _, more = begin.strip().partition(b"\n")
    try:
        row = loads(first.decode("utf-8", "replace"))
        lines = isinstance(row, dict) and bool(more.strip())
    except ValueError:
        row, lines = None, False
    if not lines:
        if path.stat().st_size > LARGEST_JSON:
            raise InputError(
                f"{path}: expected a JSON document of at most {LARGEST_JSON / 1e6:g} MB, found more; JSON lines "
                "may be larger"
            )
        try:
            row = loads(read_text(path)[0])
        except ValueError as error:
            raise InputError(f"{path}: expected a whole JSON document, found none ({reason(error)})") from error
        kind = _of_document(row, path)
        if kind or not isinstance(row, dict):
            return kind
    return _of_row(row)


def _of_row(row: dict[str, Any]) -> str:
    """The kind of JSON lines by their first."""
    keys = set(row)
    if holds_picks(row):
        return "picks"
    if {"doc_id", "resps"} <= keys or {"doc_id", "doc", "arguments"} <= keys:
        return "lm-eval"
    if "messages" in keys or keys == {"role", "content"}:
        return "conversation"
    if {"context", "endings", "label"} <= keys and isinstance(row["endings"], list):
        return "choices"
    if isinstance(row.get("question"), dict) and "choices" in row["question"]:
        return "questions"
    return ""


def _of_document(values: Any, path: Path) -> str:
    """The kind of a JSON document; empty for a table or a line of JSON lines."""
    if isinstance(values, list):
        return _of_list(values)
    if not isinstance(values, dict):
        raise InputError(f"{path}: expected results, found a JSON document that is a {type(values).__name__}")
    if helm.is_result(values):
        return "helm"
    if opencompass.is_result(values):
        return "opencompass"
    if run_folder.is_record(values):
        return "run"
    if set(values) == {"shared"}:
        return "run parts"
    if isinstance(values.get("eval"), dict) and ("samples" in values or "status" in values):
        return "inspect"
    if pandas_columns(values) is not None:
        return ""
    if holds_picks(values):
        return "picks"
    if lm_eval.is_document(values):
        return "lm-eval"
    keys = set(values)
    if isinstance(values.get("results"), dict) and keys & {"configs", "versions", "config", "n-shot", "config_general"}:
        return "results" if "config_general" not in keys else "summary"
    if isinstance(values.get("labels"), list) and _rows_have(values["labels"], {"id", "answer"}):
        return "answers"
    if "model_type" in keys or "architectures" in keys or "peft_type" in keys:
        return "model"
    if isinstance(values.get("data"), list) and _rows_have(values["data"], {"prompt"}) and len(keys) == 1:
        return "claims"
    if {"cells", "nbformat"} <= keys:  # a notebook
        return "text"
    if keys & {"tokenizer_class", "added_tokens_decoder", "adapter_spec", "scenario_spec", "eos_token"}:
        return "config"
    if len(values) == 1 and _holds_rows(next(iter(values.values()))):
        return ""
    if not any(isinstance(value, list) for value in values.values()) and not keys & {"question", "label", "resps"}:
        return "summary" if any(SUMMARY_COLUMNS.search(key) for key in _all_keys(values)) else "config"
    return ""


def _holds_rows(values: Any) -> bool:
    """Whether an object has a list of objects."""
    return isinstance(values, dict) and any(
        isinstance(value, list) and _rows_have(value, set()) for value in values.values()
    )


def _all_keys(values: Any, depth: int = 0) -> list[str]:
    if not isinstance(values, dict) or depth > 4:
        return []
    return [*map(str, values), *(key for value in list(values.values())[:50] for key in _all_keys(value, depth + 1))]


def _of_list(rows: list[Any]) -> str:
    if judged_pairs.format_of(rows):
        return "pairs"
    if finished.is_finished([row for row in rows[:1] if isinstance(row, dict)]):
        return "answers"
    if any(_rows_have(rows, {"instance_id", name}) for name in ("predicted_text", "request", "stats")):
        return "helm parts"
    if _rows_have(rows, {"avg_set_size"}) or _rows_have(rows, {"coverage_rate"}) or _rows_have(rows, {"stats"}):
        return "summary"
    if _rows_have(rows, {"name", "count", "sum", "mean"}):  # stats.json of HELM
        return "summary"
    return _of_row(rows[0]) if rows and isinstance(rows[0], dict) else ""


def _rows_have(rows: list[Any], keys: set[str]) -> bool:
    return bool(rows) and isinstance(rows[0], dict) and keys <= set(rows[0])


# ---------------------------------------------------------------- tables


def _of_sheets(sheets: Sequence[Sheet], path: Path) -> str:
    return _of_columns(sheets[0], path)


def _of_columns(sheet: Sheet, path: Path) -> str:
    """The kind of a table by its columns, and by what is in them."""
    names = {name.strip().lower() for name in sheet.names}
    if lighteval.is_result(sheet.names):
        return "lighteval"
    if {"doc_id", "resps"} <= names:
        raise InputError(
            f"{path}: expected samples of lm-eval as it writes them, found a table of them; bring in its "
            "samples_….jsonl"
        )
    if {"juror", "p_true"} <= names or ({"question", "answer", "logits"} <= names and names & RIGHT):
        return "jury"
    if {"question", "answer"} <= names and names & {"correctness", "accurate_judgement"}:
        return "jury labels"
    if {"id", "logits", "letter_mass"} <= names or {"options", "role", "group", "context"} <= names:
        return "run parts"
    if {"context", "a", "b", "label"} <= names and "question" not in names:
        wide = widened(sheet)
        if not looks_scored(wide):
            return "choices"
    counted = tallied(sheet)
    if counted is not sheet:
        return "table"
    wide = widened(sheet)
    scored = looks_scored(wide)
    if scored and sheet.table.num_rows > 1 and not _is_summary(wide):
        return "table"
    picks = names & set(PICK_NAMES)
    asked, answered = names & set(TEXT_NAMES), names & set(LABEL_NAMES)
    texts = text_columns(wide)
    if not scored and not picks and ((asked and answered and texts) or _is_headless_bank(sheet)):
        return "questions"
    if "question" in names and names & RIGHT and not (scored or picks or texts):
        return "jury labels"
    if _is_summary(wide):
        return "summary"
    return "table"


RIGHT = {"label", "correctness", "accurate_judgement", "correct"}


def _is_summary(sheet: Sheet) -> bool:
    """Whether a table has a row a run: names of measures, or a model in each row and no label."""
    names = [name.strip().lower() for name in sheet.names]
    if {"dataset", "version", "metric", "mode"} <= set(names):  # of OpenCompass
        return True
    measures = sum(bool(SUMMARY_COLUMNS.search(name)) for name in names)
    if set(names) & {*LABEL_NAMES, *PICK_NAMES} - {"correct"}:
        return False
    if measures >= 2:
        return True
    model = next((name for name in sheet.names if name.strip().lower() in ("model", "model_name")), "")
    return bool(model) and len(set(sheet.texts(model))) == sheet.table.num_rows


def _is_headless_bank(sheet: Sheet) -> bool:
    """Whether this is a CSV of MMLU, which has no header: the question, its options and the answer's letter."""
    if sheet.kind != "csv" or not 4 <= len(sheet.names) <= 10:
        return False
    last = sheet.names[-1]
    letters = {cell.strip() for cell in [last, *sheet.texts(last)[:20]]}
    return all(len(cell) == 1 and "A" <= cell <= "J" for cell in letters) and len(sheet.names[0]) > 1
