"""The Jury page's cached data, by a jury's id and stamp (the time at which ``jury.json`` was last written)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import pandas as pd
import streamlit as st

from app.background import Computation
from app.caches.run_cache import EVERY_RUN
from core.errors import HedgeError, InputError
from core.jury.agreement import Agreement, agreement
from core.jury.experiment import Protocol
from core.jury.judgements import Judgements
from core.jury.pipeline import jury_store
from core.jury.pipeline.jury_store import JuryRecord
from core.reports import jury as reports
from core.reports.jury import Confidences, JurySplit, RulesOfJury, SetsFigures


@dataclass(frozen=True, slots=True)
class JuryKey:
    """One version of a jury: ``stamp`` is the time at which its ``jury.json`` was written, in nanoseconds."""

    jury_id: str
    stamp: int


def records() -> tuple[tuple[JuryRecord, ...], tuple[str, ...]]:
    """All juries, the latest first, and one sentence for each jury that can't be read."""
    found, problems = [], []
    for jury_id in jury_store.jury_ids():
        try:
            found.append(_record(jury_key(jury_id)))
        except HedgeError as error:
            problems.append(str(error))
    return tuple(sorted(found, key=lambda record: (-record.created, record.jury_id))), tuple(problems)


def jury_key(jury_id: str) -> JuryKey:
    """The current version of a jury. Raises :class:`InputError` if there is no such jury."""
    path = jury_store.folder_of(jury_id) / "jury.json"
    try:
        return JuryKey(path.parent.name, path.stat().st_mtime_ns)
    except OSError as error:
        raise InputError(f"jury {jury_id!r} no longer exists; choose another one") from error


def protocol(jury_id: str, judged: str, confidence: str) -> Protocol:
    """How rules are evaluated: on the source's own split if it has one, else on random halves."""
    parts = set(_judgements(jury_key(jury_id)).parts)
    own = {"calibration", "test"} <= parts
    return Protocol(share=None if own else 0.5, disagreement=judged == "disputed", confidence=confidence)


def judgements(jury_id: str) -> Judgements:
    """The judgements of a jury."""
    return _judgements(jury_key(jury_id))


def rules(jury_id: str, protocol: Protocol) -> Computation[RulesOfJury]:
    """The evaluation of every rule on a jury's answers, with intervals."""
    return _rules(jury_key(jury_id), protocol)


def rules_without_intervals(jury_id: str, protocol: Protocol) -> RulesOfJury:
    """The same figures at once, without intervals."""
    return _rules_without_intervals(jury_key(jury_id), protocol)


def first_split(jury_id: str, protocol: Protocol) -> JurySplit:
    """The split of the first seed, with the verdicts of every rule."""
    return _first_split(jury_key(jury_id), protocol)


def agreed(jury_id: str) -> Agreement:
    """The agreement of a jury, over all its answers."""
    return _agreed(jury_key(jury_id))


def left_out(jury_id: str, protocol: Protocol) -> Computation[pd.DataFrame]:
    """What each juror adds (:func:`core.reports.jury.left_out`)."""
    return _left_out(jury_key(jury_id), protocol)


def confidences(jury_id: str, protocol: Protocol) -> Computation[Confidences]:
    """How far the jurors' confidences can be trusted."""
    return _confidences(jury_key(jury_id), protocol)


def pooled_sets(jury_id: str, protocol: Protocol, alpha: int) -> SetsFigures:
    """Sets of verdicts on the pooled probability, for the split of the first seed."""
    judged = judgements(jury_id)
    return reports.pooled_sets(judged, reports.split(judged, protocol, protocol.seeds[0]), alpha)[1]


@st.cache_resource(max_entries=EVERY_RUN, show_spinner=False)  # 0.4 kB per entry; every view reads all juries
def _record(key: JuryKey) -> JuryRecord:
    return jury_store.checked_record(key.jury_id)


# 0.2 MB per entry of 2,000 answers: 2 MB in all. A view needs one.
@st.cache_resource(max_entries=8, show_spinner="Reading the jury …")
def _judgements(key: JuryKey) -> Judgements:
    return jury_store.read(key.jury_id)


# 70 kB per entry: 2 MB in all. A view needs one; a jury has one entry for each confidence scale and each of the two
# kinds of answers.
@st.cache_resource(max_entries=32, show_spinner=False)
def _rules(key: JuryKey, protocol: Protocol) -> Computation[RulesOfJury]:
    return Computation(partial(reports.rules, _judgements(key), protocol))


@st.cache_resource(max_entries=16, show_spinner="Evaluating every rule …")  # Otherwise as above
def _rules_without_intervals(key: JuryKey, protocol: Protocol) -> RulesOfJury:
    return reports.rules(_judgements(key), protocol, intervals=False)


@st.cache_resource(max_entries=16, show_spinner=False)  # 0.2 MB per entry: 3 MB in all. Otherwise as above
def _first_split(key: JuryKey, protocol: Protocol) -> JurySplit:
    return reports.bench(_judgements(key), protocol, protocol.seeds[0])


@st.cache_resource(max_entries=16, show_spinner="Comparing the jurors …")  # 0.7 kB per entry. A view needs one
def _agreed(key: JuryKey) -> Agreement:
    return agreement(_judgements(key))


@st.cache_resource(max_entries=16, show_spinner=False)  # 3 kB per entry. Otherwise as _rules
def _left_out(key: JuryKey, protocol: Protocol) -> Computation[pd.DataFrame]:
    return Computation(partial(reports.left_out, _judgements(key), protocol))


@st.cache_resource(max_entries=16, show_spinner=False)  # 6 kB per entry. Otherwise as _rules
def _confidences(key: JuryKey, protocol: Protocol) -> Computation[Confidences]:
    return Computation(partial(reports.confidences, _judgements(key), protocol))
