"""A scorer for Inspect: prediction sets and calibration of multiple-choice tasks, from the letters' log-probabilities.

The evaluation has to ask for log-probabilities (``logprobs=True, top_logprobs=20``). The letters are read as an import
of the log reads them (:mod:`core.exchange.inspect_log`): the spellings of a letter are summed, and a letter that is not
listed gets an upper bound. A sample without log-probabilities is left unscored, and Inspect counts it.

A threshold needs all samples, so the sets are formed in the metric. The samples are put in the order of their ids and
split by a seeded draw, and every figure is of the samples that test. Of several epochs, the first scored one counts.
``docs/text/inspect.md`` shows how to use it.
"""

# ruff: noqa: E402
from typing import Any

from hedge import own_modules

own_modules.put_last()  # before the first module of core

from core import extras

extras.need("inspect")  # before the first of Inspect's

import numpy as np
from inspect_ai.scorer import CORRECT, INCORRECT, Metric, SampleScore, Score, Scorer, Target, metric, scorer
from inspect_ai.solver import TaskState

from core.conformal.alpha import thousandths
from core.conformal.probabilities import softmax, top_options
from core.conformal.scores import score_named
from core.errors import InputError
from core.exchange.build_run import check_row, padded
from core.exchange.inspect_log import ANSWER, asked_order, natural_order, read_letters, true_option, unshuffled
from core.records import LETTERS
from core.reports.array_evaluation import check_seed, check_share, of_arrays
from core.reports.report import report

KEY = "hedge"
"""Where a score's metadata holds what the metric needs."""
FIGURES = ("coverage", "mean_set_size", "threshold", "accuracy", "ece", "ece_beyond_luck", "brier")
COUNTS = ("calibration_questions", "test_questions", "bounded_questions")
"""How many questions calibrate and test, and of how many questions a letter was not listed."""
MISSING = (
    "No log-probabilities of an answer's letter: run the evaluation with logprobs and top_logprobs (20 is a good "
    "choice), on a model that returns them."
)


@metric(scores="unreduced")  # type: ignore[untyped-decorator] # Inspect is not read by mypy
def hedge_figures() -> Metric:
    """Coverage, mean set size, threshold, accuracy, ECE and Brier score of the samples that test.

    They are NaN for fewer than two scored samples.
    """

    def figures(scores: list[SampleScore]) -> dict[str, float]:
        by_sample: dict[str, dict[str, Any]] = {}
        for sample in scores:
            scored = (sample.score.metadata or {}).get(KEY)
            if scored is not None:
                by_sample.setdefault(str(sample.sample_id), scored)
        if len(by_sample) < 2:
            return dict.fromkeys((*FIGURES, *COUNTS), float("nan"))
        return _figures([by_sample[name] for name in sorted(by_sample, key=natural_order)])

    return figures


def _figures(samples: list[dict[str, Any]]) -> dict[str, float]:
    settings = samples[0]
    logits = padded([sample["logits"] for sample in samples])
    run = of_arrays(
        np.where(np.isfinite(logits), softmax(logits), np.nan),
        [sample["label"] for sample in samples],
        calibration=settings["calibration"],
        seed=settings["seed"],
    )
    run_figures = report(run, settings["alpha"], scores=(settings["score"],))
    sets = run_figures.scores[settings["score"]]
    values = (
        sets.coverage,
        sets.mean_set_size,
        sets.threshold,
        run_figures.accuracy,
        run_figures.ece,
        run_figures.ece_excess,
        run_figures.brier,
    )
    counts = (len(run.calibration), len(run.test), sum(sample["bounded"] > 0 for sample in samples))
    return dict(zip((*FIGURES, *COUNTS), (*values, *map(float, counts)), strict=True))


@scorer(metrics=[hedge_figures()])  # type: ignore[untyped-decorator]
def hedge_sets(alpha: float = 0.1, score: str = "lac", calibration: float = 0.5, seed: int = 0) -> Scorer:
    """Score the most probable letter, and keep the log-probabilities of all letters for :func:`hedge_figures`.

    ``alpha`` is the share of sets that may miss the truth, ``score`` names how sets are formed, ``calibration`` is the
    share of samples that calibrate, drawn with ``seed``. Raises :class:`InputError` if one of them can't be used, or a
    sample has no choices or several right answers.
    """
    settings = {
        "alpha": thousandths(alpha),
        "score": score_named(score).name,
        "calibration": check_share(calibration),
        "seed": check_seed(seed),
    }

    async def scored(state: TaskState, target: Target) -> Score:
        where = f"sample {state.sample_id}"
        choices = sorted(state.choices, key=lambda choice: choice.original_position)
        texts = tuple(choice.value for choice in choices)
        if not texts:
            raise InputError(f"{where} has no choices; hedge_sets scores multiple-choice tasks")
        label = true_option(list(target), texts, where)
        check_row(where, len(texts), label, texts)
        letters = read_letters(state.output.model_dump(), len(texts), where)
        if letters is None:
            return Score.unscored(reason="scoring_failed", explanation=MISSING)
        order = _order(state, texts, where)
        _check_order(state, order[letters.answered], where)
        logits = unshuffled(letters.logits, order)
        shares = softmax(np.array([logits]))
        top = int(top_options(shares)[0])
        return Score(
            value=CORRECT if top == label else INCORRECT,
            answer=LETTERS[top],
            explanation=", ".join(f"{LETTERS[j]} {100 * share:.1f}%" for j, share in enumerate(shares[0])),
            metadata={KEY: {**settings, "logits": list(logits), "label": label, "bounded": letters.bounded}},
        )

    return scored


def _order(state: TaskState, texts: tuple[str, ...], where: str) -> list[int]:
    """From the place of a choice as it was asked to its place in the sample. A finished log has it in the explanation
    of its ``choice`` score."""
    order = [choice.original_position for choice in state.choices]
    if order != sorted(order):
        return order
    return asked_order(
        {name: sample_score.model_dump() for name, sample_score in (state.scores or {}).items()}, texts, where
    )


def _check_order(state: TaskState, answered: int, where: str) -> None:
    """:class:`InputError` if the answer's letter stands for another choice in the text, which Inspect puts in order."""
    answers = [*ANSWER.finditer(state.output.completion)]
    if answers and answers[-1]["letter"].upper() != LETTERS[answered]:
        raise InputError(
            f"{where}: the choices were shuffled, and the log no longer says how; score it with --action append"
        )
