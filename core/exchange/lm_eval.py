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

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from core.errors import InputError
from core.exchange.build_run import assemble
from core.exchange.imported import ImportedRun, fingerprint_of
from core.exchange.lm_eval_sample import DELIMITER, METRICS, Sample, is_letters, scored
from core.inference.models import DTYPES
from core.runs.spec import RunSpec
from core.tables.safe_read import check_size, json_document, json_lines, json_list, shown

ORIGIN = "lm-eval"
NAME = re.compile(r"^samples_(?P<task>.+?)(?:_(?P<date>\d{4}-\d\d-\d\dT[\d\-.]+?))?\.jsonl?$")
DATED = re.compile(r"\d{4}-\d\d-\d\dT")
SAME_WITHIN = 1e-4
"""Two log-likelihoods of the same line that differ by at most this are equal up to rounding."""
MEAN_WITHIN = 1e-9


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
            form="letters" if all(is_letters(one.choices) for one in samples) else "cloze",
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

    samples: dict[str, dict[str, Sample]]
    repeated: int


def _by_filter(path: Path, task: str, about: _Results | None, *, digits: str) -> _Found:
    samples: dict[str, dict[str, Sample]] = {}
    repeated = 0
    delimiter = str(about.config.get("target_delimiter", DELIMITER)) if about else DELIMITER
    for where, row in _rows(path):
        for key in ("doc_id", "doc", "resps"):
            if key not in row:
                raise InputError(f"{where}: expected a sample of lm-eval with {key!r}, found {shown(', '.join(row))}")
        if not isinstance(row["doc"], dict):
            row["doc"] = {}  # some tasks' documents are bare texts; the prompt says as much
        sample = scored(row, where, task, delimiter=delimiter, digits=digits)
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


def _check_means(rows: Sequence[Sample], about: _Results | None, kept: str, path: Path) -> dict[str, float]:
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
