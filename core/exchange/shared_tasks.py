"""One task for one set of questions, whatever the files are called that hold its results.

A table that names no task stands for one with its file's name. Where several tables have the same questions, that name
is shared: the words that their files' names have in common, or the number of questions. A table whose questions are
those of a stored run joins the task of that run.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePath

from core.exchange.imported import ImportedRun, renamed
from core.questions.bank_names import bank_name, source_of
from core.questions.identity import set_digest, unpublished
from core.runs import store
from core.runs.store import RunRecord

ALONE = "alone"
"""The field of a run's provenance with the id that its file has when it is imported alone."""
WORDS = re.compile(r"[^\W_]+")
COMMON = frozenset(
    ("results", "result", "predictions", "preds", "probs", "probabilities", "logits", "output", "outputs")
)
"""Words that say nothing about questions."""


def with_shared_tasks(runs: Sequence[ImportedRun]) -> list[ImportedRun]:
    """The runs of one import; those with the same questions have one task and one bank, unless they name others."""
    groups: dict[str, list[int]] = {}
    sizes = Counter(len(run.questions) for run in runs)
    for i, run in enumerate(runs):
        if sizes[len(run.questions)] > 1 and (digest := _questions(run)):
            groups.setdefault(digest, []).append(i)
    shared = list(runs)
    for members in groups.values():
        files = {str(runs[i].provenance["file"]) for i in members}
        named = {runs[i].spec.task for i in members if not _lacks_task(runs[i])}
        if len(files) > 1 and len(named) <= 1:
            task = next(iter(named), "") or _common_name(sorted(files), len(runs[members[0]].questions))
            for i in members:
                shared[i] = _in_task(runs[i], task, bank=task)
    return shared


def with_stored_tasks(runs: Sequence[ImportedRun]) -> list[ImportedRun]:
    """The runs; those whose files name no task are in that of a stored run with the same test questions."""
    lacking = [_lacks_task(run) and _has_texts(run) for run in runs]
    tables = _stored_tables() if any(lacking) else []
    return [_joined(run, tables) if lacks else run for run, lacks in zip(runs, lacking, strict=True)]


def with_stored_banks(runs: Sequence[ImportedRun]) -> list[ImportedRun]:
    """The runs; each is in the bank of a stored run of the same task with the same test questions."""
    new = [run.spec.origin == "table" and "exported_run" not in run.provenance for run in runs]
    tables = _stored_tables() if any(new) else []
    return [
        _joined(run, [record for record in tables if record.spec.task == run.spec.task]) if is_new else run
        for run, is_new in zip(runs, new, strict=True)
    ]


def _joined(run: ImportedRun, tables: Sequence[RunRecord]) -> ImportedRun:
    """The run in the task and bank of the first of ``tables`` with its test questions; itself if there is none."""
    digest = source_of(run.spec, run.provenance).test_digest(_rows(run)) if tables else ""
    same = [record for record in tables if record.provenance["bank"].get("test_questions") == digest]
    if not same:
        return run
    first = min(same, key=lambda record: record.created)
    return _in_task(run, first.spec.task, bank=bank_name(first.spec, first.provenance))


def _stored_tables() -> list[RunRecord]:
    """The stored runs that were tables, with what they say about their questions."""
    return [
        record
        for record in store.readable()
        if record.spec.origin == "table" and isinstance(record.provenance.get("bank"), dict)
    ]


def _lacks_task(run: ImportedRun) -> bool:
    return run.spec.origin == "table" and "task" in run.provenance.get("lacks", ())


def _has_texts(run: ImportedRun) -> bool:
    return run.provenance.get("texts") is not False and not any(unpublished(q.options) for q in run.questions)


def _questions(run: ImportedRun) -> str:
    """The identity of all questions of a table; empty for one without their texts, and for a bank that is named."""
    if run.spec.origin != "table" or "bank" in run.provenance or not _has_texts(run):
        return ""
    return set_digest(source_of(run.spec, run.provenance).identities(_rows(run)).values())


def _rows(run: ImportedRun) -> list[tuple[str, str, str, Sequence[str], int, str]]:
    return [
        (q.id, q.context, q.question, q.options, q.label, role)
        for q, role in zip(run.questions, run.roles, strict=True)
    ]


def _in_task(run: ImportedRun, task: str, *, bank: str) -> ImportedRun:
    alone = run.provenance.get(ALONE, run.spec.run_id)
    moved = renamed(run, task=task)
    more = {"bank": {"name": bank}} | ({ALONE: alone} if moved.spec.run_id != alone else {})
    return replace(moved, provenance=moved.provenance | more)


def _common_name(files: Sequence[str], questions: int) -> str:
    """The words that the names of all files have in common, or the number of questions.

    >>> _common_name(["mmlu_phi.csv", "mmlu-yi.csv"], 60), _common_name(["modelA.csv", "modelB.csv"], 1200)
    ('mmlu', '1,200 questions')
    """
    names = [WORDS.findall(PurePath(file).stem) for file in files]
    common = [word for word in names[0] if all(word in words for words in names) and word.lower() not in COMMON]
    return " ".join(common) if any(not word.isdecimal() for word in common) else f"{questions:,} questions"
