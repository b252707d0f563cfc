"""lm-evaluation-harness: ``samples_<task>_<date>.jsonl`` and the ``results_<date>.json`` beside it.

A line of samples is one document under one filter: ``resps`` holds for each option ``[log-likelihood, greedy]`` as
text, natural logarithms summed over the option's tokens. ``acc`` takes the largest, ``acc_norm`` the largest after
division by the option's characters, ``acc_bytes`` by its UTF-8 bytes, both without the delimiter that joins it to the
prompt; ``acc_mutual_info`` takes the likelihoods of the same options after an empty prompt off, which are then the
second half of the requests. All four are recomputed for every line, and a file that disagrees with itself is refused.

A question's id is its document's hash, so that letters and option texts of the same documents meet. Where a line
stands twice, because the files are opened for appending, it counts once. Versions of mid-2024, which the Open LLM
Leaderboard began with, named the same lines ``samples_<task>_<date>.json``, or wrote them as one JSON list.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from core.errors import InputError
from core.exchange.build_run import ScoredRow, assemble, check_row
from core.exchange.imported import ImportedRun, fingerprint_of
from core.exchange.safe_read import check_size, json_document, json_lines, json_list, number, shown
from core.inference.models import DTYPES
from core.records import LETTERS, FloatArray, Question
from core.runs.spec import RunSpec

ORIGIN = "lm-eval"
NAME = re.compile(r"^samples_(?P<task>.+?)(?:_(?P<date>\d{4}-\d\d-\d\dT[\d\-.]+?))?\.jsonl?$")
DATED = re.compile(r"\d{4}-\d\d-\d\dT")
SAME_WITHIN = 1e-4
"""Two log-likelihoods of the same line that differ by at most this are equal up to rounding."""
MEAN_WITHIN = 1e-9
QUESTION_KEYS = (
    "question",
    "query",
    "input_final",
    "input",
    "prompt",
    "sentence",
    "goal",
    "ctx",
    "text",
    "premise",
    "Question",
)
CONTEXT_KEYS = ("narrative",)
"""What a question is about, where tasks ask the same of many texts (MuSR)."""
GROUP_KEYS = ("subject", "category", "topic", "activity_label", "source")
DELIMITER = " "


@dataclass(frozen=True, slots=True)
class _Results:
    """What ``results_<date>.json`` says of one task."""

    config: dict[str, Any]
    claims: dict[str, Any]
    model: str
    dtype: str
    shots: int | None
    path: Path


def read(paths: Sequence[Path]) -> list[ImportedRun]:
    """Read sample files (or folders of them); a ``results_*.json`` is found beside them, or given too.

    Raises :class:`InputError` that names the file, the line, what was expected and what was found.
    """
    samples, results = _sorted(paths)
    if not samples:
        raise InputError(
            f"{', '.join(map(str, paths))}: expected samples_<task>_<date>.jsonl, found none; "
            "lm-eval writes it with --log_samples"
        )
    return [read_samples(path, results) for path in samples]


def _sorted(paths: Sequence[Path]) -> tuple[list[Path], list[Path]]:
    found: list[Path] = []
    for path in paths:
        found += sorted(p for p in path.rglob("*.json*") if p.is_file()) if path.is_dir() else [path]
    results = [path for path in found if path.suffix == ".json" and not NAME.match(path.name)]
    return [path for path in found if path not in results], results


def read_samples(path: Path, given: Sequence[Path] = ()) -> ImportedRun:
    """The run of one file of samples, and of its results among the ``given`` files of results or beside it.

    Raises :class:`InputError` that names the file, the line, what was expected and what was found.
    """
    name = NAME.match(path.name)
    task = name["task"] if name else path.stem
    about = _results(path, task, name["date"] if name else None, given)
    try:
        found = _by_filter(path, task, about, digits="number")
    except InputError as error:
        try:  # targets like "3" may be the options' texts; then every claim agrees with that reading
            found = _by_filter(path, task, about, digits="text")
        except InputError:
            raise error from None
    if not found.samples:
        raise InputError(f"{path}: expected samples of multiple-choice questions, found none")
    kept = "none" if "none" in found.samples else next(iter(found.samples))
    samples = _told_apart(list(found.samples[kept].values()))
    claims = _check_means(samples, about, kept, path)
    return assemble(
        [one.row for one in samples],
        spec=RunSpec(
            model=about.model if about else _model_of(path),
            task=task,
            shots=(about.shots or 0) if about else 0,
            dtype=about.dtype if about else "float32",
            form="letters" if all(_is_letters(one.choices) for one in samples) else "cloze",
            origin=ORIGIN,
            fingerprint=fingerprint_of(path, *([about.path] if about else [])),
        ),
        path=path,
        provenance={
            "file": path.name,
            "repeated_lines": found.repeated,
            "filters": sorted(found.samples),
            "recomputed": sorted({metric for one in samples for metric in one.claims}),
            "claims": claims,
            "stated": _stated(claims, about, kept),
            "lacks": [] if about else ["model"],
        },
    )


@dataclass(frozen=True, slots=True)
class _Found:
    """The samples of a file by filter and document, and how many lines stood there again."""

    samples: dict[str, dict[str, _Sample]]
    repeated: int


def _by_filter(path: Path, task: str, about: _Results | None, *, digits: str) -> _Found:
    samples: dict[str, dict[str, _Sample]] = {}
    repeated = 0
    for where, row in _rows(path):
        for key in ("doc_id", "doc", "resps"):
            if key not in row:
                raise InputError(f"{where}: expected a sample of lm-eval with {key!r}, found {shown(', '.join(row))}")
        if not isinstance(row["doc"], dict):
            row["doc"] = {}  # some tasks' documents are bare texts; the prompt says as much
        sample = _scored(row, where, task, about, digits)
        of = samples.setdefault(str(row.get("filter", "none")), {})
        name = str(row["doc_id"])
        if name not in of:
            of[name] = sample
            continue
        _check_same(of[name], sample, name)
        repeated += 1
    return _Found(samples, repeated)


def _rows(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """The samples of a file with the place of each: JSON lines, or one JSON list as older versions wrote."""
    check_size(path)
    with path.open("rb") as file:
        is_list = file.read(1) == b"["
    if not is_list:
        yield from ((f"{path}, line {line}", row) for line, row in json_lines(path))
        return
    for place, row in enumerate(json_list(path), start=1):
        if not isinstance(row, dict):
            raise InputError(f"{path}, entry {place}: expected a sample of lm-eval, found {shown(row)}")
        yield f"{path}, entry {place}", row


# ---------------------------------------------------------------- one line


@dataclass(frozen=True, slots=True)
class _Sample:
    """A question with its log-likelihoods, the options as they were scored, and the line's own metrics."""

    row: ScoredRow
    choices: tuple[str, ...]
    claims: dict[str, float]


def _scored(row: dict[str, Any], where: str, task: str, about: _Results | None, digits: str) -> _Sample:
    contexts, continuations = _requests(row, where)
    likelihoods = _likelihoods(row, where)
    if len(likelihoods) != len(continuations):
        raise InputError(
            f"{where}: expected a log-likelihood for each of {len(continuations)} requests, found {len(likelihoods)}"
        )
    halves = _is_mutual(row, contexts, continuations)
    k = len(continuations) // 2 if halves else len(continuations)
    values = np.array(likelihoods)
    delimiter = str(about.config.get("target_delimiter", DELIMITER)) if about else DELIMITER
    choices, exact = _choices(contexts[:k], continuations[:k], delimiter)
    several_prompts = not exact and len(set(continuations[:k])) == 1
    label = (
        _gold_of_prompts(row, values[:k], where)
        if several_prompts
        else _gold(row.get("target"), choices, where, digits)
    )
    shown_options = _option_texts(row["doc"], choices)
    check_row(where, k, label, shown_options)
    own = values[:k]
    _check_claims(row, own, values[k:] if halves else None, choices if exact else None, label, where)
    if not np.isfinite(own).any():
        raise InputError(f"{where}: expected at least one finite log-likelihood, found {own.tolist()}")
    doc = row["doc"]
    asked = next((str(doc[key]) for key in QUESTION_KEYS if isinstance(doc.get(key), str) and doc[key].strip()), "")
    group = next((str(doc[key]) for key in GROUP_KEYS if isinstance(doc.get(key), str) and doc[key].strip()), task)
    return _Sample(
        ScoredRow(
            Question(
                id=str(row.get("doc_hash") or row["doc_id"])[:16],
                task=task,
                group=group,
                context=next((doc[key] for key in CONTEXT_KEYS if isinstance(doc.get(key), str)), ""),
                question=asked or contexts[0].strip(),
                options=shown_options,
                label=label,
            ),
            tuple(float(value) for value in own),
            where,
            _letter_mass(own) if _is_letters(choices) else float("nan"),
        ),
        choices,
        {metric: float(row[metric]) for metric in METRICS if metric in row},
    )


def _requests(row: dict[str, Any], where: str) -> tuple[list[str], list[str]]:
    """Prompts and continuations of a line's requests; newer files name them, older ones list them."""
    arguments = row.get("arguments")
    if isinstance(arguments, dict):
        arguments = [
            list(arguments[key].values()) if isinstance(arguments[key], dict) else arguments[key]
            for key in sorted(arguments, key=lambda key: int(re.sub(r"\D", "", key) or 0))
        ]
    if not isinstance(arguments, list) or not arguments:
        raise InputError(f"{where}: expected the requests in 'arguments', found {shown(arguments)}")
    if any(isinstance(one, (list, tuple)) and len(one) > 1 and isinstance(one[1], dict) for one in arguments):
        raise InputError(
            f"{where}: expected the log-likelihoods of options, found a generation task; only tasks of "
            "output_type multiple_choice say how probable each option is"
        )
    if not all(isinstance(one, (list, tuple)) and len(one) >= 2 for one in arguments):
        raise InputError(f"{where}: expected (prompt, option) pairs in 'arguments', found {shown(arguments[0])}")
    return [str(one[0]) for one in arguments], [str(one[1]) for one in arguments]


def _likelihoods(row: dict[str, Any], where: str) -> list[float]:
    found: Any = row.get("filtered_resps") or row.get("resps")
    if not isinstance(found, list):
        raise InputError(f"{where}: expected a list of log-likelihoods in 'resps', found {shown(found)}")
    values = []
    for one in found:
        while isinstance(one, list) and len(one) == 1 and isinstance(one[0], list):
            one = one[0]
        if not (isinstance(one, list) and len(one) == 2):
            raise InputError(
                f"{where}: expected [log-likelihood, greedy] for each option, found {shown(one)}; generation and "
                "rolling tasks do not say how probable each option is"
            )
        values.append(number(one[0], where, "a log-likelihood"))
    return values


def _is_mutual(row: dict[str, Any], contexts: Sequence[str], continuations: Sequence[str]) -> bool:
    """Whether the second half of the requests asks for the same options after an empty prompt."""
    half, odd = divmod(len(continuations), 2)
    if odd or half < 2:
        return False
    doubled = list(continuations[:half]) == list(continuations[half:])
    return doubled and ("acc_mutual_info" in row or not any(text.strip() for text in contexts[half:]))


def _choices(contexts: Sequence[str], continuations: Sequence[str], delimiter: str) -> tuple[tuple[str, ...], bool]:
    """The options' texts, and whether they are known to the character (their lengths count in ``acc_norm``)."""
    if len(set(continuations)) == 1 and len(set(contexts)) > 1:
        # One ending after several beginnings (Winogrande): what differs in the beginnings is the option.
        begin = len(_common(contexts))
        end = len(_common([c[::-1] for c in contexts]))
        return tuple(c[begin : len(c) - end].strip() or c for c in contexts), False
    if delimiter and all(text.startswith(delimiter) for text in continuations):
        return tuple(text[len(delimiter) :] for text in continuations), True
    return tuple(continuations), True


def _common(texts: Sequence[str]) -> str:
    shortest = min(texts, key=len)
    for i, letter in enumerate(shortest):
        if any(text[i] != letter for text in texts):
            return shortest[:i]
    return shortest


def _option_texts(doc: dict[str, Any], choices: Sequence[str]) -> tuple[str, ...]:
    """What the letters stand for, where the document says it; else the options as they were scored."""
    if not _is_letters(choices):
        return tuple(choices)
    found: Any = doc.get("choices", doc.get("options", doc.get("endings")))
    if isinstance(found, dict):
        found = found.get("text")
    if found is None:
        found = [doc[key] for key in (f"choice{i + 1}" for i in range(len(choices))) if doc.get(key)]
    if not found and isinstance(doc.get("input"), str):
        found = _listed(doc["input"], choices)
    if isinstance(found, list) and len(found) == len(choices):
        return tuple(str(text) for text in found)
    return tuple(choices)


def _listed(text: str, choices: Sequence[str]) -> list[str]:
    """What a text says behind each letter at the beginning of a line; letters that it does not list stay bare.

    >>> _listed("Which?\\nOptions:\\n(A) One\\n(B) Two", ["(A)", "(B)", "(C)"])
    ['One', 'Two', '(C)']
    """
    found = dict(re.findall(r"(?m)^\(([A-Z])\) (.+)$", text))
    return [found.get(choice.strip().strip("()"), choice) for choice in choices]


def _letter_mass(own: FloatArray) -> float:
    mass = float(np.exp(own).sum())
    return mass if mass <= 1 + MEAN_WITHIN else float("nan")


def _is_letters(choices: Sequence[str]) -> bool:
    return tuple(text.strip().strip("().") for text in choices) == tuple(LETTERS[: len(choices)])


def _gold(target: Any, choices: Sequence[str], where: str, digits: str) -> int:
    """The true option: its number from 0, its text, or a letter among the options' letters.

    Digits count options; with ``digits="text"`` they are the text of one where it is there.
    """
    text = str(target).strip()
    if re.fullmatch(r"\[.*\]", text):
        try:
            listed = json.loads(text)
        except ValueError:
            listed = []
        if len(listed) == 1:
            return _gold(listed[0], choices, where, digits)
        raise InputError(f"{where}: expected one right answer in 'target', found several, {shown(text)}")
    stripped = [choice.strip() for choice in choices]
    counts = bool(re.fullmatch(r"-?\d+", text))
    in_range = counts and 0 <= int(text) < len(choices)
    if not in_range or digits == "text":
        for candidates in (stripped, [choice.strip("().") for choice in stripped]):
            if candidates.count(text) == 1:
                return candidates.index(text)
    if counts:
        return int(text)
    raise InputError(
        f"{where}: expected 'target' as an option's number from 0 or one of {shown(', '.join(stripped))}, "
        f"found {shown(target)}"
    )


def _gold_of_prompts(row: dict[str, Any], own: FloatArray, where: str) -> int:
    """The right one of several prompts with one continuation (Winogrande).

    The file's target is then the continuation and says nothing. Of two, ``acc`` tells which was right; the document's
    own answer, counted from 1, must agree where there is one.
    """
    if len(own) != 2 or "acc" not in row:
        raise InputError(
            f"{where}: expected two prompts and 'acc' where one continuation follows several prompts, found {len(own)} "
            "prompts; the file does not say which is right"
        )
    top = _top(own)
    label = top if number(row["acc"], where, "acc") == 1 else 1 - top
    written = str(row["doc"].get("answer", "")).strip()
    if written in ("1", "2") and int(written) != label + 1:
        raise InputError(
            f"{where}: expected the answer {written} of the document to be right, found acc {row['acc']} where the "
            f"log-likelihoods take {top + 1}"
        )
    return label


# ---------------------------------------------------------------- what the file claims


def _top(values: FloatArray) -> int:
    """The largest value's place, of equal ones the first, as the harness counts ``acc``."""
    return int(np.argmax(values))


def _by_length(values: FloatArray, lengths: Sequence[int]) -> int:
    with np.errstate(divide="ignore", invalid="ignore"):
        return _top(values / np.array(lengths, dtype=np.float64))


METRICS: dict[str, Callable[[FloatArray, FloatArray | None, Sequence[str]], int]] = {
    "acc": lambda own, empty, choices: _top(own),
    "acc_norm": lambda own, empty, choices: _by_length(own, [len(text) for text in choices]),
    "acc_bytes": lambda own, empty, choices: _by_length(own, [len(text.encode()) for text in choices]),
    "acc_mutual_info": lambda own, empty, choices: _top(own if empty is None else own - empty),
}
"""From a metric to the option that it takes for the model's answer."""


def _check_claims(
    row: dict[str, Any],
    own: FloatArray,
    empty: FloatArray | None,
    choices: Sequence[str] | None,
    label: int,
    where: str,
) -> None:
    for metric, answer in METRICS.items():
        if metric not in row:
            continue
        claimed = number(row[metric], where, metric)
        if claimed not in (0, 1):
            raise InputError(f"{where}: expected {metric} to be 0 or 1, found {claimed:g}")
        if choices is None and metric in ("acc_norm", "acc_bytes"):
            continue  # the lengths that were divided by are not in the file
        taken = answer(own, empty, choices or ())
        if float(taken == label) != claimed:
            raise InputError(
                f"{where}: expected {metric} {float(taken == label):g} from the log-likelihoods (option "
                f"{LETTERS[taken]} is taken, {LETTERS[label]} is right), found {claimed:g} in the file"
            )


def _check_same(first: _Sample, again: _Sample, name: str) -> None:
    a, b = first.row, again.row
    alike = a.question == b.question and np.allclose(a.logits, b.logits, rtol=0, atol=SAME_WITHIN)
    if not alike:
        raise InputError(
            f"{b.where}: expected document {name} once, or the same again, found another document or other "
            f"log-likelihoods than in {a.where}; two runs went into one file, so split it"
        )


def _told_apart(rows: Sequence[_Sample]) -> list[_Sample]:
    """Equal documents have equal hashes; the second and later ones get a number."""
    seen: dict[str, int] = {}
    told = []
    for one in rows:
        name = one.row.question.id
        seen[name] = seen.get(name, 0) + 1
        if seen[name] > 1:
            question = replace(one.row.question, id=f"{name}-{seen[name]}")
            one = replace(one, row=replace(one.row, question=question))
        told.append(one)
    return told


def _stated(means: Mapping[str, float], about: _Results | None, kept: str) -> dict[str, float]:
    """What the results file says of each metric that was recomputed."""
    found = {metric: about.claims.get(f"{metric},{kept}") for metric in means} if about else {}
    return {metric: float(value) for metric, value in found.items() if isinstance(value, (int, float))}


def _check_means(rows: Sequence[_Sample], about: _Results | None, kept: str, path: Path) -> dict[str, float]:
    """The means of the recomputed metrics; refused where ``results_*.json`` says otherwise."""
    means = {
        metric: float(np.mean([one.claims[metric] for one in rows]))
        for metric in METRICS
        if all(metric in one.claims for one in rows)
    }
    for metric, mean in means.items():
        claimed = about.claims.get(f"{metric},{kept}") if about else None
        if isinstance(claimed, (int, float)) and abs(claimed - mean) > MEAN_WITHIN:
            raise InputError(
                f"{path}: expected {metric} {claimed!r} as its results file says, found {mean!r} over {len(rows)} "
                "samples; the two are of different runs"
            )
    return means


# ---------------------------------------------------------------- results_<date>.json


def _results(path: Path, task: str, date: str | None, given: Sequence[Path]) -> _Results | None:
    beside = path.parent / f"results_{date}.json"
    candidates = [p for p in given if date is None or date in p.name]
    if not candidates:  # a file that was renamed has no date to go by
        candidates = [p for p in given if p.parent == path.parent and not DATED.search(p.name)]
    if not candidates and date is not None and beside.is_file():
        candidates = [beside]
    for candidate in candidates:
        values = json_document(candidate)
        if not isinstance(values.get("results"), dict):
            raise InputError(f"{candidate}: expected results of lm-eval, found the keys {shown(', '.join(values))}")
        if task not in values["results"]:
            continue
        config = (values.get("configs") or {}).get(task) or {}
        kind = config.get("output_type", "multiple_choice")
        if kind != "multiple_choice":
            raise InputError(
                f"{candidate}: expected a task of output_type multiple_choice, found {kind!r} for {task}; it does "
                "not say how probable each option is"
            )
        of_model = values.get("config") or {}
        dtype = str(of_model.get("model_dtype") or "").removeprefix("torch.")
        shots = (values.get("n-shot") or {}).get(task, config.get("num_fewshot"))
        return _Results(
            config=config,
            claims=values["results"][task],
            model=str(values.get("model_name") or of_model.get("model") or _model_of(path)),
            dtype=dtype if dtype in DTYPES else "float32",
            shots=shots if isinstance(shots, int) and shots >= 0 else None,
            path=candidate,
        )
    return None


def _model_of(path: Path) -> str:
    """lm-eval puts samples into a folder that is named for the model, with ``__`` for each ``/``."""
    return path.resolve().parent.name.replace("__", "/").strip("/") or "unknown"
