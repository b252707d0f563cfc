"""lighteval: ``details_<task>_<date>.parquet``, a row a sample.

Since 0.10 a row has ``doc`` (``query``, ``choices``, ``gold_index``, ``id``), ``model_response`` (``logprobs``, one for
each choice) and ``metric``. Before, it had ``full_prompt`` or ``example``, ``choices``, ``gold_index`` and
``predictions`` (log-likelihoods, or pairs of one and whether it was greedy), often as the text of Python lists. The
folder ``details/<model>/<date>/`` names the model; the file names the task.
"""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from core.errors import InputError
from core.exchange.build_run import ScoredRow, assemble, check_row
from core.exchange.cited_work import CitedWork
from core.exchange.dropped.examples import N, example, parquet
from core.exchange.dropped.kind import Kind
from core.exchange.imported import ImportedRun
from core.records import LETTERS, Question
from core.runs.spec import RunSpec
from core.tables.list_columns import listed
from core.tables.safe_read import number, shown
from core.tables.tabular import Sheet, open_sheet

ORIGIN = "lighteval"
NAME = re.compile(r"^details_(?P<task>.+?)_\d{4}-\d\d-\d\dT[\d\-.:]+$")


def is_result(columns: Iterable[str]) -> bool:
    """Whether a table with these columns is such a file."""
    names = set(columns)
    return {"doc", "model_response"} <= names or {"predictions", "gold_index", "choices"} <= names


def read(path: Path) -> ImportedRun:
    """The run of a file; :class:`InputError` names the file and the row, what was expected and what was found."""
    sheet = open_sheet(path)
    if not is_result(sheet.names):
        raise InputError(
            f"{path}: expected details of lighteval with 'doc' and 'model_response', or 'choices', 'gold_index' and "
            f"'predictions', found the columns {shown(', '.join(sheet.names))}"
        )
    named = NAME.match(path.stem)
    task, shots = _task(named["task"] if named else path.stem)
    rows = []
    for place, (name, text, choices, gold, predictions) in enumerate(_samples(sheet)):
        where = sheet.where(place)
        texts = [str(choice).strip() for choice in listed(choices) or []]
        scores = [_likelihood(entry, where) for entry in _pairs(predictions)]
        if len(texts) < 2 or len(scores) != len(texts):
            raise InputError(
                f"{where}: expected the log-likelihood of each of {len(texts)} choices, found {len(scores)}; a "
                "generative task does not say how probable each option is"
            )
        golds = listed(gold) if isinstance(gold, (list, str)) and listed(gold) is not None else [gold]
        if golds is not None and len(golds) > 1:
            raise InputError(
                f"{where}: expected one right choice in 'gold_index', found several, {shown(gold)}; sets need "
                "questions with one right answer, such as those of truthfulqa:mc1"
            )
        if golds is None or len(golds) != 1 or not str(golds[0]).lstrip("-").isdecimal():
            raise InputError(f"{where}: expected one right choice in 'gold_index', found {shown(gold)}")
        label = int(golds[0])
        check_row(where, len(texts), label, texts)
        text = text.strip() or f"sample {place + 1}"
        question = Question(name or str(place + 1), task, task, "", text, tuple(texts), label)
        rows.append(ScoredRow(question, tuple(scores), where))
    letters = all(row.question.options == tuple(LETTERS[: len(row.question.options)]) for row in rows)
    model, form = _model(path), "letters" if letters else "cloze"
    spec = RunSpec(model or "unknown", task, shots=shots, form=form, origin=ORIGIN)
    return assemble(path, rows, spec, {"lacks": [] if model else ["model"]})


def _task(name: str) -> tuple[str, int]:
    """The task and its number of demonstrations, which stand between bars: suite, task, shots and more.

    >>> _task("leaderboard|arc:challenge|25|0"), _task("mmlu")
    (('arc:challenge', 25), ('mmlu', 0))
    """
    parts = name.split("|")
    if len(parts) == 1:
        return name, 0
    shots = next((int(part) for part in parts[1:] if part.isdecimal()), 0)
    words = [part for part in parts if not part.isdecimal()]
    return (words[1] if len(words) > 1 else words[0]), shots


def _model(path: Path) -> str:
    """The model of ``details/<organisation>/<model>/<date>/…``; empty where the folders do not say it."""
    parts = path.resolve().parts[:-1]
    if "details" not in parts:
        return ""
    after = parts[len(parts) - parts[::-1].index("details") :]
    return "/".join(part for part in after if not re.match(r"^\d{4}-\d\d-\d\d", part))


def _samples(sheet: Sheet) -> Iterable[tuple[str, str, Any, Any, Any]]:
    """Id, question, choices, gold index and predictions of every row, in either layout."""
    if "doc" in sheet.names:
        for place, (doc, response) in enumerate(
            zip(sheet.table["doc"].to_pylist(), sheet.table["model_response"].to_pylist(), strict=True)
        ):
            if not isinstance(doc, dict) or not isinstance(response, dict):
                raise InputError(f"{sheet.where(place)}: expected 'doc' and 'model_response', found {shown(doc)}")
            texts = str(doc.get("id") or ""), str(doc.get("query") or "")
            yield *texts, doc.get("choices"), doc.get("gold_index"), response.get("logprobs")
        return
    column = next((name for name in ("example", "full_prompt", "instruction") if name in sheet.names), "")
    questions = sheet.texts(column) if column else [""] * sheet.table.num_rows
    columns = [sheet.table[name].to_pylist() for name in ("choices", "gold_index", "predictions")]
    for question, choices, gold, predictions in zip(questions, *columns, strict=True):
        yield "", question, choices, gold, predictions


def _pairs(predictions: Any) -> list[Any]:
    """The predictions as a list, in one list more than needed or not."""
    row = listed(predictions) or []
    return listed(row[0]) or [] if len(row) == 1 and isinstance(row[0], (list, tuple)) and len(row[0]) != 2 else row


def _likelihood(entry: Any, where: str) -> float:
    return number(entry[0] if isinstance(entry, (list, tuple)) and entry else entry, where, "a log-likelihood")


# ---------------------------------------------------------------- its record, with an example


def _lighteval() -> list[dict[str, Any]]:
    return [
        {
            "doc": {"query": f"Which is {i}?", "choices": ["A", "B", "C"], "gold_index": [i % 3], "id": str(i)},
            "model_response": {"logprobs": [-1.0, -2.0, -3.5], "text": [""]},
            "metric": {"acc": 1.0},
        }
        for i in range(N)
    ]


KIND = Kind(
    title="details of lighteval",
    article="",
    place="runs",
    listed="lighteval details",
    table=lambda view: is_result(view.sheet.names),
    read=read,
    origin=ORIGIN,
    cited=CitedWork(
        "lighteval",
        "misc",
        "Habib, Nathan and Fourrier, Cl{\\'e}mentine and Kydl{\\'i}{\\v{c}}ek, Hynek and Wolf, Thomas and "
        "Tunstall, Lewis",
        "LightEval: A Lightweight Framework for LLM Evaluation",
        2023,
        url="https://github.com/huggingface/lighteval",
    ),
    examples=(
        example("The details of a task", "details_arc_2025-05-01T10-00-00.parquet", lambda: parquet(_lighteval())),
    ),
)
