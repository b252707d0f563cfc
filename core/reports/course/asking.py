"""The data of the lesson on asking: what one model picked by letter and by text, with examples and without."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from core.conformal.curve import AlphaCurve, alpha_curve
from core.conformal.probabilities import top_options
from core.conformal.scores import score, true_scores
from core.errors import InputError
from core.records import IntArray
from core.reports.compare import paired
from core.reports.evaluation import Evaluation
from core.reports.prompting import experiments
from core.reports.prompting.experiments import LETTERS_METHOD, PromptingMethod
from core.runs import store

WAYS = (LETTERS_METHOD, "raw")
"""The ways of asking that the lesson compares, as :data:`core.reports.prompting.experiments.METHODS` names them."""
DEFAULT_ALPHA = 100
"""The alpha, in thousandths, of the intervals of differences, which the browser does not recompute."""
EXAMPLES = 12
"""The questions that are shown: those with the shortest texts."""


def asking_tables(runs: Mapping[PromptingMethod, Evaluation]) -> dict[str, Any]:
    """The data of an experiment's runs by letter and by text.

    ``readings`` has for each of :data:`WAYS` and each number of shots its ``way`` and ``shots``, and ``k``, the number
    of options. ``picks`` has a row for each reading and test question: ``reading`` (its place), ``pick`` and ``truth``.
    The rows of two ways without shots are in the same order. ``curves`` has for reading i ``coverage_i`` and ``size_i``
    of the LAC sets at each alpha from 1 to 999 thousandths. ``paired`` has the differences of :func:`differences`, and
    ``cases`` a few questions with ``options``, ``truth`` and both ways' probabilities.

    Raises :class:`InputError` if a way has no run without shots, or if these two runs test different questions.
    """
    chosen = sorted(
        (reading for reading in runs if reading.method in WAYS),
        key=lambda reading: (WAYS.index(reading.method), reading.shots),
    )
    letters, texts = (_without_shots(chosen, way) for way in WAYS)
    rows = {reading: run.test for reading, run in runs.items()}
    rows[texts] = _in_order_of(runs[letters], runs[texts])
    parts: list[dict[str, Any]] = []
    curves: dict[str, Any] = {}
    for place, reading in enumerate(chosen):
        run = runs[reading]
        picks = top_options(run.probabilities[rows[reading]])
        truths = run.labels[rows[reading]]
        parts.append({"reading": np.full(len(picks), place), "pick": picks, "truth": truths})
        curve = lac_curve(run)
        curves |= {f"coverage_{place}": curve.coverage, f"size_{place}": curve.mean_set_size}
    columns = {name: np.concatenate([part[name] for part in parts]).astype(np.uint8) for name in parts[0]}
    return {
        "readings": [{"way": reading.method, "shots": reading.shots, "k": runs[reading].k} for reading in chosen],
        "picks": pa.table(columns),
        "curves": pa.table(curves),
        "paired": differences(runs),
        "paired_alpha": DEFAULT_ALPHA,
        "cases": _cases(runs[letters], runs[texts], rows[texts]),
    }


def differences(runs: Mapping[PromptingMethod, Evaluation]) -> dict[str, Any]:
    """Paired differences with 95% intervals, computed as the Prompting page computes them.

    ``ways`` is texts minus letters, both without shots: ``n``, and the mean, low and high of ``accuracy`` and
    ``set_size`` (:func:`core.reports.prompting.experiments.against`). ``shots`` has for each number above 0
    its ``shots``, ``n`` and ``accuracy`` with its ends, of texts with them minus texts without.
    """
    letters, texts = (_without_shots(runs, way) for way in WAYS)
    table = experiments.against(letters, [texts], runs, DEFAULT_ALPHA, score="lac")
    (row,) = table.to_dict("records")
    ends = [f"{name}{end}" for name in ("accuracy", "set_size") for end in ("", "_low", "_high")]
    shots = []
    for reading in sorted(
        (reading for reading in runs if reading.method == texts.method and reading.shots),
        key=lambda reading: reading.shots,
    ):
        n, difference = paired.accuracy_difference(runs[texts], runs[reading])
        ways = {"accuracy": difference.mean, "accuracy_low": difference.low, "accuracy_high": difference.high}
        shots.append({"shots": reading.shots, "n": n, **ways})
    return {"ways": {"n": int(row["n"]), **{name: float(row[name]) for name in ends}}, "shots": shots}


def _without_shots(runs: Iterable[PromptingMethod], way: str) -> PromptingMethod:
    for reading in runs:
        if (reading.method, reading.shots) == (way, 0):
            return reading
    raise InputError(f"the experiment has no run asked “{experiments.METHODS[way]}” without shots; run it first")


def lac_curve(run: Evaluation) -> AlphaCurve:
    """Coverage and mean size of the run's LAC sets at each alpha."""
    scores = score("lac", run.option_probabilities, seed=run.spec.seed)
    own, test = run.calibration, run.test
    return alpha_curve(true_scores(scores[own], run.labels[own]), scores[test], run.labels[test])


def _in_order_of(first: Evaluation, second: Evaluation) -> IntArray:
    """The second run's test rows in the order of the first run's test questions."""
    places = {str(second.ids[row]): int(row) for row in second.test}
    names = [str(first.ids[row]) for row in first.test]
    if set(names) != set(places):
        raise InputError(
            f"runs {first.run_id} and {second.run_id} test different questions; choose runs with the same draw"
        )
    return np.array([places[name] for name in names], dtype=np.int64)


def _cases(letters: Evaluation, texts: Evaluation, beside: IntArray) -> list[dict[str, Any]]:
    table = store.read_questions(letters.run_id)
    known = {row["id"]: row for row in table.select(["id", "question", "options"]).to_pylist()}
    questions = [known[str(letters.ids[row])] for row in letters.test]
    shortest = sorted(range(len(questions)), key=lambda place: len(questions[place]["question"]))[:EXAMPLES]
    cases = []
    for place in shortest:
        row, other, question = letters.test[place], beside[place], questions[place]
        k = min(letters.k, texts.k, len(question["options"]))
        cases.append(
            {
                "question": question["question"].strip(),
                "options": [option.strip() for option in question["options"][:k]],
                "truth": int(letters.labels[row]),
                "letters": letters.probabilities[row][:k].tolist(),
                "texts": texts.probabilities[other][:k].tolist(),
            }
        )
    return cases
