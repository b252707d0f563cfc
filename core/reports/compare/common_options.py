"""Runs on the options that all of them offer.

Some forms add E "I don't know" and F "None of the above", and a question is the same with and without them
(:mod:`core.questions.identity`). But a set of six options is not comparable with one of four, and UAcc has the factor
√k. So where one run of a comparison lacks E and F, they are left out of the others: the remaining probabilities are
scaled to sum to 1, and thresholds are computed again.
"""

import itertools
from collections.abc import Sequence

import numpy as np
import pandas as pd

from core.errors import InputError
from core.records import IntArray
from core.reports import question_identity
from core.reports.alpha_lab.view import SplitView, extra_options, look
from core.reports.compare.shared_questions import FEWEST
from core.reports.evaluation import Evaluation


def on_common_options(
    runs: Sequence[Evaluation], rows: Sequence[IntArray]
) -> tuple[tuple[Evaluation, ...], tuple[int, ...]]:
    """The runs with the options that all of them offer for the same questions, their ``rows`` (m,); and of each the k
    of UAcc.

    Raises :class:`InputError` if the runs offer other options and these can't be left out.
    """
    if len({run.k for run in runs}) == 1:
        return tuple(runs), tuple(run.k for run in runs)
    narrowed = tuple(runs)
    counts = [run.option_counts[own] for run, own in zip(runs, rows, strict=True)]
    if any((own != counts[0]).any() for own in counts):
        fewest = np.min(counts, axis=0)
        narrowed = tuple(
            without_extra(run) if (own > fewest).any() else run for run, own in zip(runs, counts, strict=True)
        )
        counts = [run.option_counts[own] for run, own in zip(narrowed, rows, strict=True)]
    if any((own != counts[0]).any() for own in counts):
        offered = " and ".join(f"{run.run_id} offers {run.k}" for run in runs)
        raise InputError(
            f"{offered} options for the same questions, so their set sizes and UAccs can't be compared; choose runs "
            "with the same options"
        )
    return narrowed, (int(counts[0].max()),) * len(runs)


def without_extra(run: Evaluation) -> Evaluation:
    """The run without E and F, or as it is where it has none that can be left out."""
    return look(run, SplitView(drop_extra=True)) if _may_narrow(run) else run


def _may_narrow(run: Evaluation) -> bool:
    if run.letters_left_out or (run.option_counts < run.k).any():  # then E and F have no place of their own
        return False
    places = extra_options(run)
    return bool(places) and run.k - len(places) >= 2 and not np.isin(run.labels, places).any()


def wider(options: Sequence[tuple[str, int]]) -> frozenset[str]:
    """The runs, given by id and number of options, that offer more options than another one with the same questions."""
    questions = (
        {name: question_identity.asked_questions(name) for name, _ in options}
        if len({k for _, k in options}) > 1
        else {}
    )
    return frozenset(
        name
        for (name, k), (other, fewer) in itertools.permutations(options, 2)
        if k > fewer and question_identity.shared(questions[name], questions[other]) >= FEWEST
    )


def offered_alike(runs: Sequence[Evaluation]) -> list[Evaluation]:
    """Runs to be shown side by side: without E and F where another one with the same questions lacks these."""
    if len({run.k for run in runs}) == 1:
        return list(runs)
    narrow = wider([(run.run_id, run.k) for run in runs])
    return [without_extra(run) if run.run_id in narrow else run for run in runs]


def options_words(rows: pd.DataFrame) -> str:
    """Sentences on the options of runs side by side, the rows of :func:`core.reports.compare.benchmark.run_rows`: which
    ones are left out, and that set sizes are not comparable where runs on the same questions offer other options. It is
    empty where all is alike."""
    runs = rows.drop_duplicates("run")
    sentences = []
    letters = sorted(set("".join(runs["left_out"])))
    if letters:
        verb, them = ("are", "them") if len(letters) > 1 else ("is", "it")
        sentences.append(
            f"{' and '.join(letters)} {verb} left out of {int((runs['left_out'] != '').sum())} of {len(runs)} runs, "
            f"because other runs on the same questions lack {them}."
        )
    unlike = [group["k"].unique() for _, group in runs.groupby("questions") if group["k"].nunique() > 1]
    if unlike:
        sentences.append(
            f"Runs on the same questions offer {' and '.join(map(str, sorted(unlike[0])))} options: their set sizes "
            "and UAccs are not comparable."
        )
    return " ".join(sentences)
