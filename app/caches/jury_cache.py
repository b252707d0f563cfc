"""The Jury page's cached data, by a jury's id and stamp (the time at which ``jury.json`` was last written)."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from app.background import Computation
from app.caches.by_version import by_version
from app.caches.run_cache import EVERY_RUN
from core.errors import HedgeError, InputError
from core.jury.agreement import Agreement, agreement
from core.jury.experiment import Protocol
from core.jury.judgements import Judgements
from core.jury.label_draw import JudgedAnswers, sample_of
from core.jury.pipeline import jury_store
from core.jury.pipeline.jury_store import JuryRecord
from core.jury.selection import JudgedSides, in_order
from core.jury.selection import judged_sides as sides_of
from core.reports import jury as reports
from core.reports import jury_figures, label_budget
from core.reports.jury import Confidences, JurySplit, RulesOfJury, SetsFigures
from core.reports.jury_figures import JuryFigures
from core.reports.label_budget import JudgeUse


@dataclass(frozen=True, slots=True)
class JuryKey:
    """One version of a jury: ``stamp`` is the time at which its ``jury.json`` was written, in nanoseconds."""

    jury_id: str
    stamp: int


def records() -> tuple[tuple[JuryRecord, ...], tuple[str, ...]]:
    """All juries, the latest first, and one sentence for each jury that can't be read."""
    juries, problems = [], []
    for jury_id in jury_store.jury_ids():
        try:
            juries.append(_record(jury_key(jury_id)))
        except HedgeError as error:
            problems.append(str(error))
    return tuple(sorted(juries, key=lambda record: (-record.created, record.jury_id))), tuple(problems)


def jury_key(jury_id: str) -> JuryKey:
    """The current version of a jury. Raises :class:`InputError` if there is no such jury."""
    path = jury_store.folder_of(jury_id) / "jury.json"
    try:
        return JuryKey(path.parent.name, path.stat().st_mtime_ns)
    except OSError as error:
        raise InputError(f"jury {jury_id!r} no longer exists; choose another one") from error


def protocol(jury_id: str, judged: str, confidence: str) -> Protocol:
    """How rules are evaluated (:func:`core.reports.jury_figures.protocol_of`)."""
    return jury_figures.protocol_of(judgements(jury_id), judged, confidence)


# 0.2 MB per entry of 2,000 answers: 2 MB in all. A view needs one.
@by_version(jury_key, max_entries=8, show_spinner="Reading the jury …")
def judgements(jury_id: str) -> Judgements:
    """The judgements of a jury."""
    return jury_store.read(jury_id)


@by_version(jury_key, max_entries=4)  # 0.1 MB per entry, and there are few juries that ship
def kept_figures(jury_id: str, protocol: Protocol) -> JuryFigures | None:
    """The figures that ship with a jury (:mod:`core.reports.jury_figures`)."""
    return jury_figures.read(jury_id, protocol)


def _kept_or_computed(
    name: str, compute: Callable[[Judgements, Protocol], Any], jury_id: str, protocol: Protocol
) -> Computation[Any]:
    kept = kept_figures(jury_id, protocol)
    return Computation.of(getattr(kept, name)) if kept else Computation(partial(compute, judgements(jury_id), protocol))


# 70 kB per entry: 2 MB in all. A view needs one; a jury has one entry for each confidence scale and each of the two
# kinds of answers.
@by_version(jury_key, max_entries=32)
def rules(jury_id: str, protocol: Protocol) -> Computation[RulesOfJury]:
    """The evaluation of every rule on a jury's answers, with intervals."""
    return _kept_or_computed("rules", reports.rules, jury_id, protocol)


@by_version(jury_key, max_entries=16, show_spinner="Evaluating every rule …")  # Otherwise as above
def rules_without_intervals(jury_id: str, protocol: Protocol) -> RulesOfJury:
    """The same figures at once, without intervals."""
    return reports.rules(judgements(jury_id), protocol, intervals=False)


@by_version(jury_key, max_entries=16)  # 0.2 MB per entry: 3 MB in all. Otherwise as above
def first_split(jury_id: str, protocol: Protocol) -> JurySplit:
    """The split of the first seed, with the verdicts of every rule."""
    return reports.bench(judgements(jury_id), protocol, protocol.seeds[0])


@by_version(jury_key, max_entries=16, show_spinner="Comparing the jurors …")  # 0.7 kB per entry. A view needs one
def agreed(jury_id: str) -> Agreement:
    """The agreement of a jury, over all its answers."""
    return agreement(judgements(jury_id))


@by_version(jury_key, max_entries=16)  # 3 kB per entry. Otherwise as rules
def left_out(jury_id: str, protocol: Protocol) -> Computation[pd.DataFrame]:
    """What each juror adds (:func:`core.reports.jury.left_out`)."""
    return _kept_or_computed("left_out", reports.left_out, jury_id, protocol)


@by_version(jury_key, max_entries=16)  # 6 kB per entry. Otherwise as rules
def confidences(jury_id: str, protocol: Protocol) -> Computation[Confidences]:
    """How far the jurors' confidences can be trusted."""
    kept = kept_figures(jury_id, protocol)
    return (
        Computation.of(kept.confidences)
        if kept
        else Computation(partial(reports.confidences, judgements(jury_id), protocol))
    )


def judge_uses(jury_id: str) -> tuple[JudgeUse, ...]:
    """What an estimate can use of each judge (:func:`core.reports.label_budget.judge_uses`)."""
    return label_budget.judge_uses(judgements(jury_id))


# 30 kB per entry; a jury has up to two entries for each juror
@by_version(jury_key, max_entries=16, show_spinner="Estimating for each number of labels …")
def label_curve(jury_id: str, use: str) -> pd.DataFrame:
    """The estimates of a label budget by the number of labels (:func:`core.reports.label_budget.curve`)."""
    judged = JudgedAnswers.of(judgements(jury_id))
    chosen = next(each for each in label_budget.judge_uses(judged.judgements) if each.key == use)
    return label_budget.curve(judged, sample_of(judged, seed=0), chosen)


def pooled_sets(jury_id: str, protocol: Protocol, alpha: int) -> SetsFigures:
    """Sets of verdicts on the pooled probability, for the split of the first seed."""
    judged = judgements(jury_id)
    return reports.pooled_sets(judged, reports.split(judged, protocol, protocol.seeds[0]), alpha)[1]


@by_version(jury_key, max_entries=16)  # 48 bytes per answer and judge: 0.3 MB per entry of 2,000 answers
def judged_sides(jury_id: str, judges: tuple[str, ...]) -> JudgedSides:
    """The answers of these judges, in this order, that calibrate their thresholds and that judge them."""
    return sides_of(in_order(judgements(jury_id), judges))


@st.cache_resource(max_entries=EVERY_RUN, show_spinner=False)  # 0.4 kB per entry; every view reads all juries
def _record(key: JuryKey) -> JuryRecord:
    return jury_store.checked_record(key.jury_id)
