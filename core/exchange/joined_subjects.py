"""One run of many: the subjects of a benchmark that a tool evaluates as a task each, such as the 57 of MMLU.

The questions of all subjects stand together, so that each counts once, as in the aggregate that lm-evaluation-harness
prints for a group. A question's group is its subject.
"""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from core.errors import InputError
from core.exchange.build_run import split
from core.exchange.imported import ImportedRun
from core.questions.subjects import CATEGORY_OF
from core.records import Question, Role, joined
from core.runs.spec import RunSpec

BENCHMARKS = (
    *("leaderboard_bbh", "leaderboard_gpqa", "leaderboard_musr", "mmlu_pro", "cmmlu", "kmmlu", "tmmluplus"),
    *("ceval-valid", "ceval-test", "ceval", "agieval", "bbh", "blimp", "belebele", "arabicmmlu", "turkishmmlu", "mmlu"),
)
"""Benchmarks whose tasks are named ``<benchmark>_<subject>``; of two that fit, the first counts."""
SUBJECT = re.compile(rf"^(?P<benchmark>.*?)[_:-]?(?P<subject>{'|'.join(sorted(CATEGORY_OF, key=len, reverse=True))})$")
"""A task whose name ends with a subject of MMLU."""
TASK = re.compile(rf"^(?P<benchmark>{'|'.join(BENCHMARKS)})[_:-](?P<subject>.+)$")
QWEN_FILE = re.compile(r"^(?P<subject>.+)_result$")
QWEN_FOLDER = re.compile(r"^(?P<benchmark>[a-z]+)_eval_result$")
OUT = re.compile(r"(?i)^(outs?|outputs?|results?|outs_chat|evaluation|unknown|tmp.*|hedge-.*)$")
"""Folders that are named for no model."""
ENDINGS = re.compile(r"_(test|val|dev)$")
"""What the files of MMLU's subjects end with."""


def benchmark_and_subject(task: str) -> tuple[str, str]:
    """The benchmark and the subject that a task is; both empty for any other task.

    >>> benchmark_and_subject("mmlu_high_school_us_history"), benchmark_and_subject("anatomy_test")
    (('mmlu', 'high_school_us_history'), ('mmlu', 'anatomy'))
    >>> benchmark_and_subject("cmmlu_agronomy"), benchmark_and_subject("arc_easy")
    (('cmmlu', 'agronomy'), ('', ''))
    """
    named = TASK.match(task) or SUBJECT.match(ENDINGS.sub("", task))
    return (named["benchmark"] or "mmlu", named["subject"]) if named else ("", "")


def named_by_folder(path: Path) -> dict[str, str]:
    """The model and the task of a file ``<model>/<benchmark>_eval_result/<subject>_result.csv``, as Qwen's scripts name
    them; empty for any other, and without the model where the folder above is none's.

    >>> named_by_folder(Path("/tmp/Qwen-7B/mmlu_eval_result/anatomy_result.csv"))
    {'task': 'mmlu_anatomy', 'model': 'Qwen-7B'}
    """
    subject, folder = QWEN_FILE.match(path.stem), QWEN_FOLDER.match(path.parent.name)
    if not subject or not folder:
        return {}
    above = path.resolve().parents[1].name
    model = "" if not above or OUT.match(above) else above
    return {"task": f"{folder['benchmark']}_{subject['subject']}"} | ({"model": model} if model else {})


def joined_by_benchmark(runs: Sequence[ImportedRun]) -> list[ImportedRun]:
    """The runs, where those of one model on subjects of one benchmark are one run in the place of the first. Raises
    :class:`InputError` where a model has two runs of one subject."""
    return [
        _joined(parts, benchmark_and_subject(parts[0].spec.task)[0]) if len(parts) > 1 else parts[0]
        for parts in by_benchmark(runs)
    ]


def by_benchmark(runs: Sequence[ImportedRun]) -> list[list[ImportedRun]]:
    """The runs, where those of one model on subjects of one benchmark stand together; any other run stands alone."""
    parts: dict[tuple[RunSpec, str, int], list[ImportedRun]] = {}
    for place, run in enumerate(runs):
        benchmark, _ = benchmark_and_subject(run.spec.task)
        spec = replace(run.spec, task=benchmark, fingerprint="") if benchmark else run.spec
        parts.setdefault((spec, benchmark, -1 if benchmark else place), []).append(run)
    return list(parts.values())


def _joined(runs: Sequence[ImportedRun], benchmark: str) -> ImportedRun:
    runs = sorted(runs, key=lambda run: run.spec.task)
    subjects = [benchmark_and_subject(run.spec.task)[1] for run in runs]
    twice = next((subject for subject in subjects if subjects.count(subject) > 1), "")
    if twice:
        raise InputError(f"{runs[0].spec.model} has two runs of {twice} in {benchmark}; leave out one of their files")
    ids = [question.id for run in runs for question in run.questions]
    is_unique = len(set(ids)) == len(ids)

    def name(subject: str, question_id: str) -> str:
        return question_id if is_unique else f"{subject}/{question_id}"

    pairs = list(zip(runs, subjects, strict=True))
    questions = tuple(
        replace(question, id=name(subject, question.id), task=benchmark, group=subject)
        for run, subject in pairs
        for question in run.questions
    )
    k = max(run.scored.logits.shape[1] for run in runs)
    batches = [
        replace(run.scored, ids=tuple(name(subject, row_id) for row_id in run.scored.ids)) for run, subject in pairs
    ]
    scored = joined(batches, [row_id for batch in batches for row_id in batch.ids], k=k)
    given = [batch.probabilities for batch in batches if batch.probabilities is not None]
    if len(given) == len(batches):
        scored = replace(
            scored, probabilities=np.concatenate([np.pad(part, ((0, 0), (0, k - part.shape[1]))) for part in given])
        )
    digest = hashlib.sha256("".join(run.spec.fingerprint for run in runs).encode())
    return ImportedRun(
        spec=replace(runs[0].spec, task=benchmark, fingerprint=digest.hexdigest()[:16]),
        questions=questions,
        roles=_roles(runs, questions),
        scored=scored,
        provenance=runs[0].provenance
        | {
            "subjects": subjects,
            "files": [run.provenance.get("file", "") for run in runs],
            "claims": _pooled([(run.provenance.get("claims", {}), len(run.scored.ids)) for run in runs]),
            "stated": {},
            "lacks": sorted({name for run in runs for name in run.provenance.get("lacks", ()) if name != "task"}),
        }
        | ({"bank": {"name": benchmark}} if runs[0].spec.origin == "table" else {}),  # else named for the first file
        read_as=f"{len(questions):,} questions of {len(runs)} subjects",
    )


def _roles(runs: Sequence[ImportedRun], questions: Sequence[Question]) -> tuple[Role, ...]:
    """The roles that the files give; else one split of all questions, so that no question is on both sides."""
    if any(run.provenance.get("columns", {}).get("split") for run in runs):
        return tuple(role for run in runs for role in run.roles)
    texts = all(run.provenance.get("texts", True) for run in runs)
    return split(questions, path=Path(runs[0].spec.task), texts=texts)


def _pooled(claims: Sequence[tuple[dict[str, float], int]]) -> dict[str, float]:
    """The means of the metrics that all parts have, each part with the weight of its questions."""
    total = sum(n for _, n in claims)
    shared = set.intersection(*(set(means) for means, _ in claims))
    return {metric: sum(means[metric] * n for means, n in claims) / total for metric in sorted(shared)}
