"""lm-evaluation-harness: its samples, and what it says of the whole evaluation (:mod:`core.exchange.lm_eval_results`).

A sample is one document under one filter: ``resps`` holds for each option ``[log-likelihood, greedy]``, natural
logarithms summed over the option's tokens. ``acc`` takes the largest, ``acc_norm`` the largest after division by the
option's characters, ``acc_bytes`` by its UTF-8 bytes, both without the delimiter that joins it to the prompt;
``acc_mutual_info`` takes the likelihoods of the same options after an empty prompt off, which are then the second half
of the requests. All four are recomputed for every sample, and a file that disagrees with itself is refused.

A question's id is its document's hash, so that letters and option texts of the same documents meet. Where a sample
stands twice, because the files are opened for appending, it counts once. Three forms of files are read:

- ``samples_<task>_<date>.jsonl``, a line a sample; in versions of mid-2024 ``.json``, with such lines or one list
- ``pretrained__<model>_<task>.jsonl`` of versions 0.4.0 to 0.4.2, one JSON list
- a document that ``simple_evaluate()`` returned, whose ``samples`` have a list for each task
- ``<task>_write_out_info.json`` of 2023, a list with the prompt and the log-likelihood of each option
"""

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from core.errors import InputError
from core.exchange import lm_eval_picks, lm_eval_results
from core.exchange.build_run import assemble
from core.exchange.imported import ImportedRun, fingerprint_of
from core.exchange.lm_eval_results import Results
from core.exchange.lm_eval_sample import (
    METRICS,
    Sample,
    delimiters,
    has_several_right,
    is_letters,
    of_write_out,
    scored,
)
from core.runs.spec import RunSpec
from core.storage.json_text import loads
from core.tables.read_as import counted, line
from core.tables.safe_read import LONGEST_LINE, check_size, json_document, json_lines, json_list, shown

ORIGIN = "lm-eval"
SAME_WITHIN = 1e-4
"""Two log-likelihoods of the same line that differ by at most this are equal up to rounding."""
MEAN_WITHIN = 1e-9
WRITE_OUT = {"doc_id", "prompt_0", "logit_0"}
Rows = Callable[[], Iterable[tuple[str, dict[str, Any]]]]
"""Gives the samples of a task, each with its place, from the first at each call."""


def read(path: Path, given: Sequence[Path] = ()) -> list[ImportedRun]:
    """The runs of a file of samples, one for each task, with a line each that says how it was read. The results are in
    the file, among the ``given`` or beside it. Raises :class:`InputError` that names the file, the line, what was
    expected and what was found."""
    return [replace(run, read_as=_line(run)) for run in _read_file(path, given)]


def _line(run: ImportedRun) -> str:
    about = run.provenance
    repeated, filters, others = about.get("repeated_lines", 0), about.get("filters", ()), about.get("left_out", ())
    return line(
        run.questions,
        {"letters": "asked by letter", "cloze": "options scored as texts"}.get(run.spec.form, ""),
        f"{counted(repeated, 'line')} twice" if repeated else "",
        f"one of {len(filters)} filters" if len(filters) > 1 else "",
        f"tasks without options left out: {shown(', '.join(others))}" if others else "",
    )


def _read_file(path: Path, given: Sequence[Path]) -> list[ImportedRun]:
    check_size(path)
    begin, first = _beginning(path)
    if begin == "{" and "doc_id" not in first:
        return _read_document(json_document(path), path)
    about = lm_eval_results.find(path, given)
    task = about.task if about else lm_eval_results.named_parts(path)[1]
    if begin == "[":
        entries = json_list(path)
        return [_read_task(path, task, about, lambda: _entries(entries, str(path)))]
    return [_read_task(path, task, about, lambda: ((f"{path}, line {n}", row) for n, row in json_lines(path)))]


def _beginning(path: Path) -> tuple[str, dict[str, Any]]:
    """A file's first character, and the object on its first line; a damaged line stands for a sample."""
    with path.open("rb") as file:
        text = file.readline(LONGEST_LINE).removeprefix(b"\xef\xbb\xbf").lstrip()
    character = text[:1].decode("ascii", "replace")
    try:
        value = loads(text)
    except ValueError:
        over_lines = text.rstrip().endswith((b"{", b"[", b",")) or len(text) == LONGEST_LINE
        return character, {} if over_lines else {"doc_id": None}
    return character, value if isinstance(value, dict) else {}


def is_sample(row: dict[str, Any]) -> bool:
    """Whether the first object of JSON lines or of a list is a sample, of any version."""
    return any(keys <= row.keys() for keys in ({"doc_id", "resps"}, {"doc_id", "doc", "arguments"}, WRITE_OUT))


def is_document(values: Any) -> bool:
    """Whether a JSON document holds samples by task, as ``simple_evaluate()`` returns them."""
    samples = values.get("samples", values) if isinstance(values, dict) else None
    return isinstance(samples, dict) and any(
        isinstance(rows, list) and rows and isinstance(rows[0], dict) and {"doc_id", "arguments"} <= set(rows[0])
        for rows in samples.values()
    )


def _read_document(values: dict[str, Any], path: Path) -> list[ImportedRun]:
    """The run of every multiple-choice task of a document; a task that can't be read counts if none can."""
    if not is_document(values):
        raise InputError(f"{path}: expected a list of samples for each task, found the keys {shown(', '.join(values))}")
    runs: list[ImportedRun] = []
    left_out: dict[str, InputError] = {}
    for task, rows in values.get("samples", values).items():
        try:
            if not isinstance(rows, list):
                raise InputError(f"{path}: expected a list of samples of {shown(task)}, found {shown(rows)}")
            about = lm_eval_results.of_task(values, task, path) if "samples" in values else None
            entries = lambda rows=rows, task=task: _entries(rows, f"{path}, {task}")  # noqa: E731
            runs.append(_read_task(path, task, about, entries))
        except InputError as error:
            left_out[task] = error
    if not runs:
        raise next(iter(left_out.values()))
    return [replace(run, provenance=run.provenance | {"left_out": sorted(left_out)}) for run in runs]


def _entries(rows: Sequence[Any], where: str) -> Iterator[tuple[str, dict[str, Any]]]:
    for place, row in enumerate(rows, start=1):
        if not isinstance(row, dict):
            raise InputError(f"{where}, entry {place}: expected a sample of lm-eval, found {shown(row)}")
        yield f"{where}, entry {place}", row


def _read_task(path: Path, task: str, about: Results | None, rows: Rows) -> ImportedRun:
    """The run of a task's samples. Raises :class:`InputError` that names the file, the line and what is wrong."""
    certain = about is not None and about.certain
    spec = RunSpec(
        model=(about.model if about else "") or lm_eval_results.model_of(path),
        task=task,
        shots=(about.shots or 0) if about else 0,
        dtype=about.dtype if about else "float32",
        origin=ORIGIN,
        fingerprint=fingerprint_of(path, *([about.path] if about and about.path != path else [])),
    )
    described: dict[str, Any] = {
        "file": path.name,
        "lacks": [] if about and certain and about.model else ["model"],
    }
    if lm_eval_picks.is_sampled(next(iter(rows()), ("", {}))[1]):
        return lm_eval_picks.read(rows(), spec=spec, path=path, provenance=described)
    by_filter = _by_filter(path, task, about, rows)
    if not by_filter.samples:
        raise InputError(f"{path}: expected samples of multiple-choice questions, found none")
    filter_name = "none" if "none" in by_filter.samples else next(iter(by_filter.samples))
    samples = _told_apart(list(by_filter.samples[filter_name].values()))
    claims = _check_means(samples, about if certain else None, filter_name, path)
    form = "letters" if all(is_letters(sample.choices) for sample in samples) else "cloze"
    described |= {
        "repeated_lines": by_filter.repeated,
        "filters": sorted(by_filter.samples),
        "recomputed": sorted({metric for sample in samples for metric in sample.claims}),
        "claims": claims,
        "stated": _stated(claims, about if certain else None, filter_name),
    }
    return assemble(path, [sample.row for sample in samples], replace(spec, form=form), described)


@dataclass(frozen=True, slots=True)
class _Found:
    """The samples of a task by filter and document, and how many stood there again."""

    samples: dict[str, dict[str, Sample]]
    repeated: int


def _by_filter(path: Path, task: str, about: Results | None, rows: Rows) -> _Found:
    """The samples under the first reading with which every claim of the file agrees. A target like "3" is an option's
    number, or the text of one. The delimiter before the options is a blank unless the task's configuration says
    otherwise; without that, it can be what all options of the first sample begin with."""
    config = about.config if about else {}
    stated = config.get("target_delimiter")
    tried = [str(stated)] if stated is not None else delimiters(next(iter(rows()), ("", {}))[1])
    first: InputError | None = None
    for delimiter, digits in itertools.product(tried, ("number", "text")):
        try:
            return _samples(task, rows, delimiter=delimiter, digits=digits)
        except InputError as error:
            first = first or error
    if has_several_right(row for _, row in rows()):
        raise InputError(
            f"{path}: its questions have several right answers each, as the metrics of {shown(task)} say; sets need "
            "questions with one right answer, such as those of truthfulqa_mc1 in place of truthfulqa_mc2"
        )
    if len(tried) > 1 and "expected acc_" in str(first):
        raise InputError(
            f"{first}; if the task has a target_delimiter of its own, import its results_….json too"
        ) from None
    raise first or InputError(f"{path}: expected samples of lm-eval, found none")


def _samples(task: str, rows: Rows, *, delimiter: str, digits: str) -> _Found:
    samples: dict[str, dict[str, Sample]] = {}
    repeated = 0
    for where, given in rows():
        row = of_write_out(given) if given.keys() >= WRITE_OUT else given
        for key in ("doc_id", "doc", "resps"):
            if key not in row:
                raise InputError(f"{where}: expected a sample of lm-eval with {key!r}, found {shown(', '.join(row))}")
        if not isinstance(row["doc"], dict):
            row["doc"] = {}  # some tasks' documents are bare texts; the prompt says as much
        sample = scored(row, where, task, delimiter=delimiter, digits=digits)
        same_filter = samples.setdefault(str(row.get("filter", "none")), {})
        name = str(row["doc_id"])
        if name not in same_filter:
            same_filter[name] = sample
            continue
        _check_same(same_filter[name], sample, name)
        repeated += 1
    return _Found(samples, repeated)


# ---------------------------------------------------------------- what the file claims


def _check_same(first: Sample, again: Sample, name: str) -> None:
    a, b = first.row, again.row
    alike = a.question == b.question and np.allclose(a.logits, b.logits, rtol=0, atol=SAME_WITHIN)
    if not alike:
        raise InputError(
            f"{b.where}: expected document {name} once, or the same again, found another document or other "
            f"log-likelihoods than in {a.where}; two runs went into one file, so split it"
        )


def _told_apart(rows: Sequence[Sample]) -> list[Sample]:
    """Equal documents have equal hashes; the second and later ones get a number."""
    seen: dict[str, int] = {}
    renamed = []
    for sample in rows:
        name = sample.row.question.id
        seen[name] = seen.get(name, 0) + 1
        if seen[name] > 1:
            question = replace(sample.row.question, id=f"{name}-{seen[name]}")
            sample = replace(sample, row=replace(sample.row, question=question))
        renamed.append(sample)
    return renamed


def _stated(means: Mapping[str, float], about: Results | None, filter_name: str) -> dict[str, float]:
    """What the results file says of each metric that was recomputed."""
    stated = {metric: about.claims.get(f"{metric},{filter_name}") for metric in means} if about else {}
    return {metric: float(value) for metric, value in stated.items() if isinstance(value, (int, float))}


def _check_means(rows: Sequence[Sample], about: Results | None, filter_name: str, path: Path) -> dict[str, float]:
    """The means of the recomputed metrics; refused where ``results_*.json`` says otherwise."""
    means = {
        metric: float(np.mean([sample.claims[metric] for sample in rows]))
        for metric in METRICS
        if all(metric in sample.claims for sample in rows)
    }
    for metric, mean in means.items():
        claimed = about.claims.get(f"{metric},{filter_name}") if about else None
        if isinstance(claimed, (int, float)) and abs(claimed - mean) > MEAN_WITHIN:
            raise InputError(
                f"{path}: expected {metric} {claimed!r} as its results file says, found {mean!r} over {len(rows)} "
                "samples; the two are of different runs"
            )
    return means
