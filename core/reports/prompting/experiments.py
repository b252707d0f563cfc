"""Comparison of prompting methods: letters and option texts, the texts' scores normalised in several ways, with
different shots and strategies. An experiment consists of the finished runs of one model on one task that differ only in
form, shots and strategy. A :class:`Reading` is one run with one way of scoring its options. With the same shots all
readings ask the same questions in the same roles, so they are compared question by question; with more shots a few
questions become demonstrations. E and F are removed from letters, because the other forms do not offer them. So every
reading chooses among the same options.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from core.calibration.metrics import correct
from core.conformal.coverage import share_interval
from core.conformal.probabilities import top_options
from core.errors import InputError
from core.questions.prompting.strategies import STRATEGIES
from core.reports import evaluation
from core.reports.alpha_lab.view import SplitView, extra_options, look
from core.reports.compare import paired
from core.reports.compare.benchmark import SetRule, reports, run_rows
from core.reports.compare.paired import Pair
from core.reports.evaluation import Evaluation, StoredAnswers, read_answers
from core.reports.prompting.letter_answers import invalid_answers
from core.reports.scored_sets import form
from core.reports.titles import STRATEGY_TITLES, shots_title
from core.runs import store
from core.runs.model_files import served_weights
from core.runs.spec import RunSpec
from core.runs.store import RunRecord

LETTERS_METHOD = "letters"
METHODS = {
    LETTERS_METHOD: "By letter",
    "raw": "By text, raw",
    "tokens": "By text, per token (LN)",
    "characters": "By text, per character",
    "bytes": "By text, per byte",
    "unconditional": "By text, minus unconditional (UN)",
    "mutual": "By text, mutual information",
    "continued": "As continuation, raw",
    "continued-tokens": "As continuation, per token",
    "continued-characters": "As continuation, per character",
    "continued-bytes": "As continuation, per byte",
    "continued-mutual": "As continuation, mutual information",
}
"""From a method to its title, in the order of showing; those of ``continued`` are of the form ``continuation``."""

PUBLISHED = (LETTERS_METHOD, "raw", "tokens", "unconditional")
"""The methods of Robinson & Wingate 2022."""

CONTINUED = "continued"


@dataclass(frozen=True, slots=True)
class PromptingExperiment:
    """The settings that all runs of an experiment share, including the draw of their questions, so that they can be
    joined."""

    model: str
    task: str
    strategy: str
    dtype: str
    prompt_format: str
    system: str
    samples: int | None
    seed: int
    calibration_share: float
    fingerprint: str
    model_fingerprint: str = ""

    @property
    def key(self) -> str:
        """A hash of these values, ten hexadecimal digits."""
        values = astuple(self) if self.model_fingerprint else astuple(self)[:-1]  # links of older versions stay
        return hashlib.sha256(json.dumps(values).encode()).hexdigest()[:10]

    @classmethod
    def of(cls, spec: RunSpec) -> PromptingExperiment:
        """The experiment that a run belongs to."""
        return cls(
            spec.asked_model,
            spec.task,
            spec.strategy,
            spec.dtype,
            spec.prompt_format,
            spec.system,
            spec.samples,
            spec.seed,
            spec.calibration_share,
            spec.fingerprint,
            spec.model_fingerprint,
        )


@dataclass(frozen=True, slots=True)
class PromptingMethod:
    """One prompting method: a run, and how the texts of its options are scored (``raw`` for letters)."""

    run_id: str
    method: str
    shots: int
    strategy: str = "base"

    @property
    def normalisation(self) -> str:
        """As :func:`core.reports.evaluation.load` takes it."""
        if self.method == LETTERS_METHOD:
            return "raw"
        return self.method.removeprefix(CONTINUED).removeprefix("-") or "raw"

    @property
    def title(self) -> str:
        """How it asks, in words, without its shots."""
        named = self.strategy != "base"
        return f"{METHODS[self.method]}, {STRATEGY_TITLES[self.strategy]}" if named else METHODS[self.method]

    @property
    def way(self) -> str:
        """How it asks, and with how many shots, in words."""
        return f"{self.title}, {shots_title(self.shots)}"


def experiments(records: Iterable[RunRecord]) -> dict[PromptingExperiment, tuple[RunRecord, ...]]:
    """The experiments among a person's own finished runs: runs that differ only in form, shots, strategy and orders.
    Those with the most forms come first. The ``strategy`` of an experiment is the first one of its runs, in the order
    of :data:`STRATEGIES`. Perplexity runs ask no questions and belong to no experiment.
    """
    by_experiment: dict[PromptingExperiment, list[RunRecord]] = {}
    own = [entry for entry in records if entry.state == "done" and entry.is_computed and entry.spec.answers]
    served = served_weights(own)
    for record in own:
        experiment = PromptingExperiment.of(record.spec)
        if words := served[record.run_id]:
            experiment = replace(experiment, model_fingerprint=words)
        by_experiment.setdefault(replace(experiment, strategy=""), []).append(record)
    order = sorted(by_experiment, key=lambda entry: -len({r.spec.form for r in by_experiment[entry]}))
    groups = [(entry, tuple(by_experiment[entry])) for entry in order]
    return {replace(entry, strategy=strategies(group)[0]): group for entry, group in groups}


def strategies(records: Iterable[RunRecord]) -> tuple[str, ...]:
    """The strategies of these runs, in the order of :data:`STRATEGIES`."""
    return tuple(sorted({record.spec.strategy for record in records}, key=STRATEGIES.index))


def readings(records: Sequence[RunRecord]) -> list[PromptingMethod]:
    """Every reading of the runs of an experiment, by method, strategy and shots. If letters were asked twice in the
    same way, the run that was also asked in other orders counts.
    """
    richest: dict[tuple[str, int, str], tuple[int, PromptingMethod]] = {}
    for record in records:
        spec = record.spec
        richness = spec.orders * 4 + spec.rotations * 2 + bool(spec.repeats)
        for method in _methods(record):
            key = (method, spec.shots, spec.strategy)
            if key not in richest or richest[key][0] < richness:
                richest[key] = (richness, PromptingMethod(record.run_id, method, spec.shots, spec.strategy))
    order = list(METHODS)
    return sorted(
        (reading for _, reading in richest.values()),
        key=lambda reading: (order.index(reading.method), STRATEGIES.index(reading.strategy), reading.shots),
    )


def _methods(record: RunRecord) -> list[str]:
    if not record.spec.asks_texts:
        return [LETTERS_METHOD]
    names = ["raw", "tokens", "characters", "bytes", *store.bare_prompts(record.run_id)]
    if record.spec.form == "cloze":
        return names
    return [CONTINUED if name == "raw" else f"{CONTINUED}-{name}" for name in names if name != "unconditional"]


def evaluate(reading: PromptingMethod, answers: StoredAnswers | None = None) -> Evaluation:
    """The reading's probabilities, without E and F if at least two other options are left. ``answers`` are those of its
    run; without them they are read.

    Raises :class:`InputError` as :func:`core.reports.evaluation.load` does.
    """
    run = evaluation.evaluate(answers or read_answers(reading.run_id), normalisation=reading.normalisation)
    extra = extra_options(run)
    drops = bool(extra) and run.k - len(extra) >= 2 and not np.isin(run.labels, extra).any()
    return look(run, SplitView(drop_extra=True)) if drops else run


def figures(chosen: Sequence[PromptingMethod], runs: Sequence[Evaluation], rule: SetRule) -> pd.DataFrame:
    """One row per reading and score, as :func:`core.reports.compare.benchmark.run_rows`, with ``method``, its
    ``title``, ``chance``, ``against_chance`` and of letters ``invalid_rate`` and ``letter_mass`` (NaN elsewhere)."""
    rows = run_rows(runs, reports(runs, rule))
    extra = []
    for reading, run in zip(chosen, runs, strict=True):
        chance = chance_accuracy(run)
        counted = invalid_answers(reading.run_id) if reading.method == LETTERS_METHOD else None
        about = {
            "method": reading.method,
            "title": reading.title,
            "chance": chance,
            "against_chance": against_chance(run),
            "invalid_rate": counted.rate if counted else math.nan,
            "letter_mass": counted.letter_mass if counted else math.nan,
        }
        extra += [about] * len(rule.scores)
    return pd.concat([pd.DataFrame(extra), rows], axis=1)


def chance_accuracy(run: Evaluation) -> float:
    """The accuracy of guessing: the mean of 1 / number of options."""
    return float((1 / run.option_counts[run.test]).mean())


def against_chance(run: Evaluation) -> str:
    """Whether the accuracy is ``above``, ``at`` or ``below`` chance, by its 95% interval."""
    right = correct(run.probabilities[run.test], run.labels[run.test])
    low, high = share_interval(int(right.sum()), len(right))
    chance = chance_accuracy(run)
    return "above" if low > chance else "below" if high < chance else "at"


def against(
    first: PromptingMethod,
    others: Sequence[PromptingMethod],
    runs: Mapping[PromptingMethod, Evaluation],
    alpha: int,
    *,
    score: str,
) -> pd.DataFrame:
    """Each other reading minus the first, question by question: differences with intervals and p-values corrected
    together (:func:`core.reports.compare.paired.compare`); empty if there is no other. ``n`` test questions are shared,
    ``units`` of them are independent, and ``one_only`` are in one of the two readings only. ``first_accuracy``,
    ``other_accuracy``, ``first_set_size`` and ``other_set_size`` are of all test questions of a reading."""
    if not others:
        return pd.DataFrame()
    hypotheses = ("accuracy", "set_size")
    pairs = paired.compare([(runs[first], runs[other]) for other in others], alpha, score=score, hypotheses=hypotheses)
    base = _own_figures(runs[first], alpha, score, "first")
    return pd.DataFrame(
        [
            _pair_row(other, pair) | base | _own_figures(runs[other], alpha, score, "other")
            for other, pair in zip(others, pairs, strict=True)
        ]
    )


def _own_figures(run: Evaluation, alpha: int, score: str, side: str) -> dict[str, float]:
    right = correct(run.probabilities[run.test], run.labels[run.test])
    size = form(run, score, alpha).members.sum(axis=1)
    return {f"{side}_accuracy": float(right.mean()), f"{side}_set_size": float(size.mean())}


def _pair_row(reading: PromptingMethod, pair: Pair) -> dict[str, Any]:
    return {
        "method": reading.title,
        "shots": reading.shots,
        "way": reading.way,
        "n": pair.n,
        "units": pair.units,
        "one_only": sum(pair.tested) - 2 * pair.n,
        "accuracy": pair.accuracy.mean,
        "accuracy_low": pair.accuracy.low,
        "accuracy_high": pair.accuracy.high,
        "accuracy_p": pair.holm["accuracy"],
        "set_size": pair.set_size.mean,
        "set_size_low": pair.set_size.low,
        "set_size_high": pair.set_size.high,
        "set_size_p": pair.holm["set_size"],
        "only_first": pair.only_first,
        "only_other": pair.only_second,
    }


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """A reading of one question: ``probabilities`` (k,), which options its set holds, and the option it picks."""

    reading: PromptingMethod
    probabilities: tuple[float, ...]
    members: tuple[bool, ...]

    @property
    def pick(self) -> int:
        """The most probable option; of equally probable ones the last."""
        return int(top_options(np.array(self.probabilities)))


@dataclass(frozen=True, slots=True)
class MethodSets:
    """A reading's sets on its test questions, to be looked up by id: ``places`` of the ids in ``members`` (m, k)."""

    reading: PromptingMethod
    run: Evaluation
    members: Any
    places: dict[str, int]

    def side(self, question_id: str) -> QuestionSet:
        """The answer of this reading to one question."""
        at = self.places[question_id]
        row = self.run.test[at]
        k = int(self.run.option_counts[row])
        return QuestionSet(
            self.reading,
            tuple(float(p) for p in self.run.probabilities[row][:k]),
            tuple(bool(member) for member in self.members[at][:k]),
        )


def sets_of(reading: PromptingMethod, run: Evaluation, alpha: int, *, score: str) -> MethodSets:
    """The sets of a reading at ``alpha`` thousandths by ``score``."""
    ids = [str(run.ids[row]) for row in run.test]
    return MethodSets(reading, run, form(run, score, alpha).members, {name: i for i, name in enumerate(ids)})


def joined(first: MethodSets, second: MethodSets) -> pd.DataFrame:
    """The test questions that both readings asked, with the correctness and set size of each. Those on which the sizes
    differ most come first. Columns ``id``, ``group``, ``first_right``, ``second_right``, ``first_size``,
    ``second_size``."""
    shared = [name for name in first.places if name in second.places]
    if not shared:
        raise InputError(f"runs {first.run.run_id} and {second.run.run_id} share no test question")
    sides: dict[str, Any] = {"id": shared}
    rows = [first.run.test[first.places[name]] for name in shared]
    sides["group"] = first.run.groups[rows]
    for name, method in (("first", first), ("second", second)):
        at = np.array([method.places[key] for key in shared])
        test = method.run.test[at]
        sides[f"{name}_right"] = correct(method.run.probabilities[test], method.run.labels[test]).astype(bool)
        sides[f"{name}_size"] = method.members[at].sum(axis=1)
    table = pd.DataFrame(sides)
    table["change"] = table["second_size"] - table["first_size"]
    return table.sort_values("change", key=abs, ascending=False, kind="stable", ignore_index=True)


def option_scores(reading: PromptingMethod, question_id: str) -> pd.DataFrame:
    """The scores that a run of texts has for one question's options: ``option``, ``log_p``, ``tokens``, and the
    option's own score for each bare prompt. For letters, only ``option`` and the letter's ``log_p``."""
    scored = store.read_logits(reading.run_id)
    row = scored.ids.index(question_id)
    questions = store.read_questions(reading.run_id)
    options = questions["options"].to_pylist()[questions["id"].to_pylist().index(question_id)]
    table = pd.DataFrame({"option": options, "log_p": scored.logits[row][: len(options)].astype(float)})
    if scored.option_tokens is not None:
        table["tokens"] = scored.option_tokens[row][: len(options)]
        for by, scores in store.read_bare(reading.run_id).items():
            table[by] = [scores.get(f" {option.strip()}", math.nan) for option in options]
    return table


def against_guessing(rows: pd.DataFrame) -> str:
    """A sentence that compares an experiment with guessing: the best method, and those that never beat guessing. It is
    empty if all methods do. ``rows`` are those of :func:`figures` of one score."""
    chance = f"the {rows['chance'].mean():.0%} of guessing"
    above = rows[rows["against_chance"] == "above"]
    never = [title for title in dict.fromkeys(rows["title"]) if title not in set(above["title"])]
    if above.empty:
        return f"None of these ways is significantly better than {chance}."
    if not never:
        return ""
    best = above.sort_values("accuracy", kind="stable").iloc[-1]
    shots = f"{best['shots']} shot{'' if best['shots'] == 1 else 's'}"
    return (
        f"“{best['title']}” with {shots} is right on {best['accuracy']:.1%}, the most of the {len(rows)} results "
        f"and more than {chance}. {', '.join(f'“{title}”' for title in never)} "
        f"{'does' if len(never) == 1 else 'do'} not beat guessing with any number of shots here."
    )


def aggregate(rows: pd.DataFrame) -> pd.DataFrame:
    """The table of an experiment for export: one row per method, shots and score, without the columns that name the
    run."""
    columns = [
        "model",
        "task",
        "title",
        "shots",
        "score",
        "alpha",
        "n_test",
        "k",
        "accuracy",
        "accuracy_low",
        "accuracy_high",
        "coverage",
        "coverage_low",
        "coverage_high",
        "mean_set_size",
        "set_size_low",
        "set_size_high",
        "ece_excess",
        "ece_low",
        "ece_high",
        "ece",
        "ece_luck",
        "invalid_rate",
        "letter_mass",
        "chance",
        "bank",
        "run",
    ]
    return rows[columns].rename(columns={"title": "method"})
