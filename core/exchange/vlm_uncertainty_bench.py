"""VLM-Uncertainty-Bench (EnSec-AI): option logits of vision-language models with their answers, a pickle a data set.

A result is a list of ``{"question", "A", "B" …, "answer": letter, "logits": float[6]}``, in a folder named for the
model, in a file named for the data set. Options E and F are “I don't know” and “None of the above”. The authors'
program may write a seventh number, the id of the token that the model finds most probable; it is left out. The
published protocol splits the rows as that of :mod:`core.exchange.llm_uncertainty_bench` does, and drops none.
"""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from core.errors import InputError
from core.exchange.build_run import check_not_flat, check_row
from core.exchange.cited_work import CitedWork
from core.exchange.dropped.examples import example
from core.exchange.dropped.kind import Kind
from core.exchange.imported import ImportedRun, fingerprint, logits_dtype, read_bytes
from core.exchange.llm_uncertainty_bench import halves
from core.exchange.unpickle import load_arrays
from core.records import DONT_KNOW, LETTERS, NONE_OF_ABOVE, OptionLogits, Question
from core.runs.spec import RunSpec
from core.tables.safe_read import reason, shown

ORIGIN = "vlm-uncertainty-bench"
PICTURE = "(The picture of row {} is not published with the answers.)"
"""Questions are about a picture, so equal texts are not the same question."""
EXTRA = {"E": DONT_KNOW, "F": NONE_OF_ABOVE}
OPTIONS = 6


def is_result(values: Any) -> bool:
    """Whether the content of a pickle is such a result."""
    first = values[0] if isinstance(values, list) and values else None
    return isinstance(first, dict) and {"logits", "answer"} <= set(first)


def read(path: Path) -> ImportedRun:
    """The run of a result file; :class:`InputError` names the file and the row, what was expected and found."""
    content = read_bytes(path)
    rows = load_arrays(content, path)
    if not is_result(rows):
        raise InputError(f"{path}: expected a list of rows with 'answer' and 'logits', found {type(rows).__name__}")
    task = path.stem
    questions, logits = [], []
    for number, row in enumerate(rows, start=1):
        where = f"{path}, row {number}"
        try:
            with np.errstate(over="ignore"):  # a number beyond float32 becomes infinite, which is refused
                own = _options(row["logits"])
            answer = str(row["answer"]).strip().upper()
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(f"{where} does not have 'answer' and 'logits' as expected ({reason(error)})") from error
        if not np.isfinite(own).all():
            raise InputError(f"{where}: expected numbers as logits, found {own.tolist()}")
        k = len(own)
        if len(answer) != 1 or answer not in LETTERS[:k]:
            raise InputError(f"{where}: expected the answer as a letter of {k} options, found {shown(row['answer'])}")
        options = tuple(str(row.get(letter) or EXTRA.get(letter, f"option {letter}")) for letter in LETTERS[:k])
        check_row(where, k, LETTERS.index(answer), options)
        group = str(row.get("category") or row.get("subject") or row.get("situation") or task)
        context = "\n".join(filter(None, [str(row.get("hint") or ""), PICTURE.format(number)]))
        text = str(row.get("question") or f"row {number}")
        questions.append(Question(str(number), task, group, context, text, options, LETTERS.index(answer)))
        logits.append(own)
    if len({len(own) for own in logits}) > 1:
        raise InputError(
            f"{path}: expected as many logits in every row, found from "
            f"{min(map(len, logits))} to {max(map(len, logits))}"
        )
    stacked = np.stack(logits)
    check_not_flat(stacked, path)
    model = path.resolve().parent.name or "unknown"
    return ImportedRun(
        spec=RunSpec(model, task, dtype=logits_dtype(stacked), origin=ORIGIN, fingerprint=fingerprint(content)),
        questions=tuple(questions),
        roles=halves(len(questions)),
        scored=OptionLogits(tuple(q.id for q in questions), stacked, np.full(len(questions), np.nan, dtype=np.float32)),
        provenance={"file": path.name, "source": "VLM-Uncertainty-Bench", "lacks": ["model"]}
        | ({"precision": "double"} if _is_double(rows[0]["logits"]) else {}),
    )


def _options(logits: Any) -> npt.NDArray[np.float32]:
    """The logits of the options, without the token id that may stand behind those of six options."""
    own = np.asarray(logits, dtype=np.float64).reshape(-1)
    if len(own) == OPTIONS + 1 and float(own[-1]).is_integer() and own[-1] >= 0:
        own = own[:-1]
    return own.astype(np.float32)


def _is_double(logits: Any) -> bool:
    """Whether the authors' code computes with these logits in double precision."""
    return np.asarray(logits).dtype == np.float64


# ---------------------------------------------------------------- its record, with an example


def _vlm() -> list[dict[str, Any]]:
    texts = {"A": "one", "B": "two", "C": "three", "D": "four"}
    return [
        {"id": i, "question": f"{i}?", "answer": "ABCD"[i % 4], "logits": np.arange(6) * 1.5} | texts for i in range(8)
    ]


KIND = Kind(
    title="option logits of VLM-Uncertainty-Bench",
    article="",
    place="runs",
    listed="VLM-Uncertainty-Bench pickles",
    pickled=is_result,
    read=read,
    origin=ORIGIN,
    cited=CitedWork(
        "kostumov2024uncertainty",
        "misc",
        "Kostumov, Vasily and Nutfullin, Bulat and Pilipenko, Oleg and Ilyushin, Eugene",
        "Uncertainty-Aware Evaluation for Vision-Language Models",
        2024,
        arxiv="2402.14418",
    ),
    examples=(example("Logits of a data set", "oodcv.pkl", lambda: pickle.dumps(_vlm())),),
)
