"""Caches of ways of asking: what the Prompting page reads of runs. Shared by every session: read, never write."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from app import data
from app.data import RunKey, run_key
from core.records import Question
from core.reports import evaluation as evaluations
from core.reports import frames
from core.reports.compare.benchmark import SetRule
from core.reports.evaluation import Evaluation
from core.reports.prompting import experiments as prompting
from core.reports.prompting import letter_answers
from core.reports.prompting.experiments import MethodSets, PromptingExperiment, PromptingMethod
from core.reports.prompting.letter_answers import Invalid, Spread
from core.reports.prompting.option_order import OptionOrder, option_order
from core.runs.store import RunRecord


def experiments() -> dict[PromptingExperiment, tuple[RunRecord, ...]]:
    """The experiments that finished runs make."""
    return prompting.experiments(data.runs().finished)


def evaluation(reading: PromptingMethod) -> Evaluation:
    """A reading's probabilities."""
    return _evaluation(run_key(reading.run_id), reading)


def figures(chosen: tuple[PromptingMethod, ...], asked: SetRule) -> pd.DataFrame:
    """A row a reading and score (:func:`core.reports.prompting.experiments.figures`)."""
    return _figures(tuple(run_key(one.run_id) for one in chosen), chosen, asked)


def against(first: PromptingMethod, others: tuple[PromptingMethod, ...], alpha: int, score: str) -> pd.DataFrame:
    """Each other reading less the first, with paired tests."""
    return _against(tuple(run_key(one.run_id) for one in (first, *others)), first, others, alpha, score)


def sets_of(reading: PromptingMethod, alpha: int, score: str) -> MethodSets:
    """A reading's sets."""
    return _sets(run_key(reading.run_id), reading, alpha, score)


def invalid(run_id: str) -> Invalid:
    """A run's answers by letters that are none."""
    return _invalid(run_key(run_id))


def orders(run_id: str, alpha: int, score: str) -> OptionOrder | None:
    """What the options' order changes in a run; None where it was asked in one alone."""
    return _orders(run_key(run_id), alpha, score)


def spread(run_id: str) -> Spread | None:
    """How much a run's written answers differ; None where there are none."""
    return _spread(run_key(run_id))


def question(reading: PromptingMethod, question_id: str) -> Question:
    """A test question as the reading asked it."""
    run = evaluation(reading)
    row = next(int(row) for row in run.test if str(run.ids[row]) == question_id)
    return frames.question(run, row)


@st.cache_resource(max_entries=96, show_spinner="Reading the runs …")
def _evaluation(key: RunKey, reading: PromptingMethod) -> Evaluation:
    return prompting.evaluate(reading)


@st.cache_resource(max_entries=64, show_spinner="Comparing the ways of asking …")
def _figures(keys: tuple[RunKey, ...], chosen: tuple[PromptingMethod, ...], asked: SetRule) -> pd.DataFrame:
    return prompting.figures(chosen, [evaluation(one) for one in chosen], asked)


@st.cache_resource(max_entries=64, show_spinner="Testing the differences …")
def _against(
    keys: tuple[RunKey, ...], first: PromptingMethod, others: tuple[PromptingMethod, ...], alpha: int, score: str
) -> pd.DataFrame:
    return prompting.against(first, others, {one: evaluation(one) for one in (first, *others)}, alpha, score=score)


@st.cache_resource(max_entries=64, show_spinner=False)
def _sets(key: RunKey, reading: PromptingMethod, alpha: int, score: str) -> MethodSets:
    return prompting.sets_of(reading, evaluation(reading), alpha, score=score)


@st.cache_resource(max_entries=64, show_spinner=False)
def _invalid(key: RunKey) -> Invalid:
    return letter_answers.invalid_answers(key.run_id)


@st.cache_resource(max_entries=64, show_spinner=False)
def _orders(key: RunKey, alpha: int, score: str) -> OptionOrder | None:
    return option_order(evaluations.load(key.run_id), alpha, scores=(score,))


@st.cache_resource(max_entries=64, show_spinner=False)
def _spread(key: RunKey) -> Spread | None:
    return letter_answers.spread(key.run_id)
