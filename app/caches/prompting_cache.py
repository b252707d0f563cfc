"""The Prompting page's cached data: experiments, and the figures of each prompting method."""

from functools import partial

import pandas as pd
import streamlit as st

from app.background import Computation
from app.caches import run_cache
from app.caches.by_version import by_version
from app.caches.run_cache import RunKey, run_key
from core.questions.prompting.strategies import STRATEGIES
from core.records import Question
from core.reports import evaluation as evaluations
from core.reports import frames
from core.reports.compare.benchmark import SetRule
from core.reports.evaluation import Evaluation, StoredAnswers
from core.reports.prompting import experiments as prompting
from core.reports.prompting import letter_answers
from core.reports.prompting.experiments import METHODS, MethodSets, PromptingExperiment, PromptingMethod
from core.reports.prompting.letter_answers import Invalid, Spread
from core.reports.prompting.option_order import OptionOrder, option_order
from core.runs.spec import MAX_SHOTS
from core.runs.store import RunRecord

MOST_METHODS = len(METHODS) * (MAX_SHOTS + 1) * len(STRATEGIES)
"""The most methods that an experiment can have: every prompt form with every number of shots and every strategy. A view
needs all of them."""


def experiments() -> dict[PromptingExperiment, tuple[RunRecord, ...]]:
    """The experiments that the finished runs form."""
    return prompting.experiments(run_cache.runs().finished)


def _version(method: PromptingMethod) -> tuple[RunKey, PromptingMethod]:
    return run_key(method.run_id), method


# 0.4 MB per entry: 3 MB for the 7 of the experiment that ships, 245 MB for the largest possible one.
@by_version(_version, max_entries=MOST_METHODS, show_spinner="Reading the runs …")
def evaluation(method: PromptingMethod) -> Evaluation:
    """The probabilities of a method."""
    return prompting.evaluate(method, _answers(method.run_id))


# 11 kB per entry: 0.7 MB in all. A view needs two, and two more for each alpha.
@by_version(_version, max_entries=64, show_spinner="Comparing the ways of asking …")
def figures(chosen: tuple[PromptingMethod, ...], rule: SetRule) -> pd.DataFrame:
    """One row per method and score (:func:`core.reports.prompting.experiments.figures`)."""
    runs = {
        method: evaluation(method) for method in sorted(chosen, key=lambda method: method.run_id)
    }  # reads each run once
    return prompting.figures(chosen, [runs[method] for method in chosen], rule)


def against(
    first: PromptingMethod, others: tuple[PromptingMethod, ...], alpha: int, score: str
) -> Computation[pd.DataFrame]:
    """The difference of each other method from the first, with paired tests."""
    return _against(tuple(run_key(method.run_id) for method in (first, *others)), first, others, alpha, score)


# 0.4 MB per entry, most of it shared with evaluation. A view needs two, and two more for each alpha.
@by_version(_version, max_entries=32)
def sets_of(method: PromptingMethod, alpha: int, score: str) -> MethodSets:
    """The sets of a method."""
    return prompting.sets_of(method, evaluation(method), alpha, score=score)


@by_version(run_key, max_entries=64)  # 0.1 kB each. A view needs one per number of shots, at most 17
def invalid(run_id: str) -> Invalid:
    """The answers of a run whose letters are not among the options."""
    return letter_answers.invalid_answers(run_id)


@by_version(run_key, max_entries=64)  # 1 kB per entry. As above, and one more for each alpha
def orders(run_id: str, alpha: int, score: str) -> OptionOrder | None:
    """The effect of the options' order in a run. None if the run asked in only one order."""
    return option_order(evaluations.load(run_id), alpha, scores=(score,))


@by_version(run_key, max_entries=64)  # 0.1 kB per entry. Otherwise as invalid
def spread(run_id: str) -> Spread | None:
    """How much a run's written answers differ. None if it has none."""
    return letter_answers.spread(run_id)


def question(method: PromptingMethod, question_id: str) -> Question:
    """A test question as the method asked it."""
    run = evaluation(method)
    row = next(int(row) for row in run.test if str(run.ids[row]) == question_id)
    return frames.question(run, row)


# 0.5 MB per entry. One run answers for several methods, which figures asks for one after another.
@by_version(run_key, max_entries=4)
def _answers(run_id: str) -> StoredAnswers:
    return evaluations.read_answers(run_id)


# 2 kB per entry. A view needs one, and one more for each alpha.
@st.cache_resource(max_entries=64, show_spinner=False)
def _against(
    keys: tuple[RunKey, ...], first: PromptingMethod, others: tuple[PromptingMethod, ...], alpha: int, score: str
) -> Computation[pd.DataFrame]:
    runs = {method: evaluation(method) for method in (first, *others)}
    return Computation(partial(prompting.against, first, others, runs, alpha, score=score))
