"""OpenCompass: ``predictions/<model>/<data set>.json``, an object by the question's number.

``PPLInferencer`` writes ``label: A``, ``label: B`` … with ``PPL``, the mean loss over the tokens of the prompt with
that option; ``LLInferencer`` with ``Loglikelihood``; ``CLPInferencer`` writes ``choices`` and, as ``prediction``, their
probabilities. ``gold`` is the right option. The options' logits are −PPL, the log-likelihoods, or the logarithms of the
probabilities. ``GenInferencer`` writes the model's text alone, which is not enough for a set.
"""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from core.errors import InputError
from core.exchange.build_run import ScoredRow, assemble, check_row
from core.exchange.cited_work import CitedWork
from core.exchange.dropped.examples import LABELS, N, as_json, example
from core.exchange.dropped.kind import Kind
from core.exchange.imported import ImportedRun
from core.records import LETTERS, Question
from core.runs.spec import RunSpec
from core.tables.cells import common_beginning
from core.tables.safe_read import json_document, number, shown

ORIGIN = "opencompass"
LABEL = "label: "


def is_result(values: Any) -> bool:
    """Whether a JSON document is such a file."""
    if not isinstance(values, dict) or not values or not all(str(key).isdecimal() for key in list(values)[:100]):
        return False
    first = next(iter(values.values()))
    return isinstance(first, dict) and ("prediction" in first or any(str(key).startswith(LABEL) for key in first))


def read(path: Path) -> ImportedRun:
    """The run of a file; :class:`InputError` names the file and the question, what was expected and found."""
    values = json_document(path)
    if not is_result(values):
        raise InputError(f"{path}: expected predictions of OpenCompass by number, found {shown(', '.join(values))}")
    task = path.stem
    rows, kinds = [], set()
    for name in sorted(values, key=int):
        where = f"{path}, question {name}"
        row = values[name]
        if not isinstance(row, dict):
            raise InputError(f"{where}: expected an object, found {shown(row)}")
        labels, scores, kind = _scores(row, where)
        kinds.add(kind)
        label = _gold(row, labels, where)
        check_row(where, len(labels), label)
        rows.append(ScoredRow(Question(name, task, task, "", _prompt(row, name), labels, label), scores, where))
    if len(kinds) > 1:
        raise InputError(f"{path}: expected one kind of figures, found {' and '.join(sorted(kinds))}")
    form = "letters" if kinds == {"probabilities"} else "cloze"
    spec = RunSpec(path.resolve().parent.name or "unknown", task, form=form, origin=ORIGIN)
    return assemble(path, rows, spec, {"values": kinds.pop() if kinds else "", "lacks": ["model"]})


def _scores(row: dict[str, Any], where: str) -> tuple[tuple[str, ...], tuple[float, ...], str]:
    scored = _by_label(row)
    for kind, sign in (("Loglikelihood", 1), ("PPL", -1)):
        if len(scored) >= 2 and all(kind in option for option in scored.values()):
            return tuple(scored), tuple(sign * number(option[kind], where, kind) for option in scored.values()), kind
    choices, prediction = row.get("choices"), row.get("prediction")
    if isinstance(choices, list) and isinstance(prediction, list) and len(choices) == len(prediction) >= 2:
        shares = [number(value, where, "a probability") for value in prediction]
        if any(share < 0 for share in shares) or not sum(shares) > 0:
            raise InputError(f"{where}: expected probabilities in 'prediction', found {shown(prediction)}")
        logits = tuple(math.log(share) if share > 0 else -math.inf for share in shares)
        return tuple(str(choice) for choice in choices), logits, "probabilities"
    raise InputError(
        f"{where}: expected the probability of every option, found only the model's text in 'prediction'; run "
        "OpenCompass with PPLInferencer or CLPInferencer in place of GenInferencer"
    )


def _gold(row: dict[str, Any], labels: Sequence[str], where: str) -> int:
    gold = row.get("gold", row.get("reference"))
    text = str(gold[0] if isinstance(gold, list) and len(gold) == 1 else gold).strip()
    if gold is None:
        raise InputError(f"{where}: expected the right option in 'gold', found none")
    if text in labels:
        return list(labels).index(text)
    if len(text) == 1 and text.upper() in LETTERS[: len(labels)]:
        return LETTERS.index(text.upper())
    if text.isdecimal() and int(text) < len(labels):
        return int(text)
    raise InputError(f"{where}: expected 'gold' as one of {shown(', '.join(labels))}, found {shown(gold)}")


def _by_label(row: dict[str, Any]) -> dict[str, dict[str, Any]]:
    labels = (key for key, option in row.items() if key.startswith(LABEL) and isinstance(option, dict))
    return {key.removeprefix(LABEL): row[key] for key in labels}


def _prompt(row: dict[str, Any], name: str) -> str:
    """The prompt, or what the prompts of all options begin with."""
    prompts = [_flat(option.get("testing input") or option.get("prompt")) for option in _by_label(row).values()]
    text = common_beginning(prompts) if prompts else _flat(row.get("origin_prompt") or row.get("testing input"))
    return text.strip() or f"question {name}"


def _flat(prompt: Any) -> str:
    if isinstance(prompt, list):
        return "\n".join(str(turn.get("prompt", "")) if isinstance(turn, dict) else str(turn) for turn in prompt)
    return str(prompt or "")


# ---------------------------------------------------------------- its record, with an example


def _opencompass() -> dict[str, Any]:
    return {
        str(i): {
            f"label: {x}": {"testing input": f"Q{i}?", "prompt": f"Q{i}?", "PPL": 1.0 + j} for j, x in enumerate("ABC")
        }
        | {"in-context examples": "", "prediction": "A", "gold": LABELS[i]}
        for i in range(N)
    }


KIND = Kind(
    title="predictions of OpenCompass",
    article="",
    place="runs",
    listed="OpenCompass predictions",
    document=is_result,
    read=read,
    origin=ORIGIN,
    cited=CitedWork(
        "opencompass",
        "misc",
        "{OpenCompass Contributors}",
        "OpenCompass: A Universal Evaluation Platform for Foundation Models",
        2023,
        url="https://github.com/open-compass/opencompass",
    ),
    examples=(example("The predictions of a data set", "ARC-c.json", lambda: as_json(_opencompass())),),
)
