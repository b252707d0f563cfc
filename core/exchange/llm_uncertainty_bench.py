"""LLM-Uncertainty-Bench (Ye et al. 2024, arXiv 2401.12794): published option logits and their answers.

A result is a pickle, a list of ``{"id": int, "logits_options": float[k]}``, named
``<model>_<data set>_<strategy>_icl<0|1>.pkl``. Answers lie in a folder beside: ``<data set>.json``, whole
questions, or ``<data set>.labels.json``, answers alone. The published protocol drops ids 1, 3, 5, 7 and 9, which
are the demonstrations, and splits the rest as scikit-learn's
``train_test_split(train_size=0.5, random_state=42)`` does, the first part calibrating.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from core.errors import InputError
from core.exchange.build_run import check_not_flat, check_row
from core.exchange.imported import ImportedRun, check_unique, fingerprint, logits_dtype, not_published, read_bytes
from core.exchange.unpickle import load_arrays
from core.records import LETTERS, OptionLogits, Question, Role
from core.runs.spec import RunSpec
from core.storage.json_text import loads
from core.tables.safe_read import reason, shown

ORIGIN = "llm-uncertainty-bench"
TASK_OF = {
    "mmlu_10k": "qa",
    "cosmosqa_10k": "rc",
    "hellaswag_10k": "ci",
    "halu_dialogue": "drs",
    "halu_summarization": "ds",
}
SHOTS = {"qa": 5, "rc": 5, "ci": 5, "drs": 3, "ds": 1}
DEMONSTRATION_IDS = frozenset({1, 3, 5, 7, 9})
SPLIT_SEED = 42
NAME = re.compile(
    rf"^(?P<model>.+)_(?P<data>{'|'.join(TASK_OF)})_(?P<strategy>base|shared|task)_icl(?P<icl>\d+)(?P<rest>.*)\.pkl$"
)


@dataclass(frozen=True, slots=True)
class Answers:
    """The questions of one data set, by id."""

    questions: dict[int, Question]
    content: bytes


def data_set(path: Path) -> str:
    """The data set that a result's name says it is of; empty if it says none."""
    name = NAME.match(path.name)
    return name["data"] if name else ""


def is_result(values: Any) -> bool:
    """Whether the content of a pickle is such a result."""
    return isinstance(values, list) and bool(values) and isinstance(values[0], dict) and "logits_options" in values[0]


def read_answers(path: Path, data: str) -> Answers:
    """The answers of data set ``data`` in a file. Raises :class:`InputError` if there are none."""
    content = read_bytes(path)
    try:
        values = loads(content.decode("utf-8-sig"))
        items = values["labels"] if isinstance(values, dict) else values
        check_unique([item["id"] for item in items], path)
        return Answers({int(item["id"]): _question(item, data) for item in items}, content)
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError, OverflowError) as error:
        raise InputError(f"{path} is not a list of questions or answers with ids ({reason(error)})") from error


def _question(item: dict[str, Any], data: str) -> Question:
    choices: dict[str, str] = item.get("choices") or dict(zip(LETTERS, not_published(6), strict=False))
    letter = item["answer"]
    if letter not in choices:
        raise InputError(f"{data}, id {item['id']}: answer {shown(letter)} is outside the options {', '.join(choices)}")
    group = str(item.get("subject") or item.get("category") or TASK_OF[data])
    unknown = f"{data}, question {item['id']} (its text was not published with the answers)"
    context, text = str(item.get("context") or ""), str(item.get("question") or unknown)
    options = tuple(map(str, choices.values()))
    return Question(str(item["id"]), TASK_OF[data], group, context, text, options, list(choices).index(letter))


def read_run(path: Path, answers: Answers, *, data: str) -> ImportedRun:
    """The run of one result, whose questions are those of the data set ``data``. Its name says the model and the
    strategy, or it lacks them. Raises :class:`InputError` that names the file."""
    content = read_bytes(path)
    ids, logits = _rows(load_arrays(content, path), path)
    missing = [name for name in ids if name not in answers.questions]
    if missing:
        raise InputError(f"{path}: id {missing[0]} has no answer among the labels; they are not of this data set")
    questions = tuple(answers.questions[name] for name in ids)
    k = logits.shape[1]
    wrong = next((q for q in questions if len(q.options) != k), None)
    if wrong is not None:
        raise InputError(f"{path}: question {wrong.id} has {len(wrong.options)} options but {k} logits")
    for question in questions:
        check_row(f"{path}, id {question.id}", k, question.label, question.options)
    check_not_flat(logits, path)
    task = TASK_OF[data]
    parts = NAME.match(path.name)
    spec = RunSpec(
        model=parts["model"] + parts["rest"].replace("_", "-") if parts else path.stem,
        task=task,
        strategy=parts["strategy"] if parts else "base",
        shots=SHOTS[task] if parts and int(parts["icl"]) else 0,
        dtype=logits_dtype(logits),
        origin=ORIGIN,
        fingerprint=fingerprint(content, answers.content),
    )
    return ImportedRun(
        spec=spec,
        questions=questions,
        roles=published_roles(ids),
        scored=OptionLogits(tuple(q.id for q in questions), logits, np.full(len(ids), np.nan, dtype=np.float32)),
        provenance={
            "file": path.name,
            "data": data,
            "source": "arXiv 2401.12794",
            "lacks": [] if parts else ["model"],
        },
    )


def _rows(values: Any, path: Path) -> tuple[list[int], npt.NDArray[np.float32]]:
    if not isinstance(values, list) or not values:
        raise InputError(f"{path}: expected a list of results, found {type(values).__name__}")
    try:
        ids = [int(row["id"]) for row in values]
        with np.errstate(over="ignore"):  # a number beyond float32 becomes infinite, which is refused
            rows = [np.asarray(row["logits_options"], dtype=np.float32).reshape(-1) for row in values]
        logits = np.stack(rows)
    except (KeyError, TypeError, ValueError, IndexError, OverflowError) as error:
        raise InputError(f"{path} does not have rows with an id and logits_options ({reason(error)})") from error
    check_unique(ids, path)
    bad = ~np.isfinite(logits).all(axis=1)
    if bad.any():
        row = int(np.argmax(bad))
        raise InputError(f"{path}: id {ids[row]} has logits {logits[row].tolist()}; every logit must be a number")
    return ids, logits


def published_roles(ids: Sequence[int]) -> tuple[Role, ...]:
    """The published role of each id: demonstrations out, then the seeded half split of the rest, in file order."""
    rest = [i for i, name in enumerate(ids) if name not in DEMONSTRATION_IDS]
    roles: list[Role] = ["demonstration"] * len(ids)
    for i, role in zip(rest, halves(len(rest)), strict=True):
        roles[i] = role
    return tuple(roles)


def halves(n: int) -> tuple[Role, ...]:
    """The roles that scikit-learn's ``train_test_split(train_size=0.5, random_state=42)`` gives n rows. numpy's legacy
    generator is used because its stream is the published split's."""
    shuffled = np.random.RandomState(SPLIT_SEED).permutation(n)
    n_test = n - n // 2
    roles: list[Role] = ["test"] * n
    for place in shuffled[n_test:]:
        roles[place] = "calibration"
    return tuple(roles)
