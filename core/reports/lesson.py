"""Lessons: steps of text, each with a guess, and the data from which their figures are computed in the browser.

A lesson is a TOML file in ``assets/lessons``. It has a ``title``, a ``short`` one for lists, a ``subtitle`` and steps.
A step has a ``name``, a ``title``, a ``text``, an ``answer`` that is shown after the guess, a line on what was
``learned``, a ``guess``, what a lecturer may ``say``, and perhaps a text ``without`` for a run that has no answer
to it. A figure in a text is a ``{name}``. The browser computes it, because it changes while a person drags alpha: for
prediction sets from :func:`lesson_tables` (``app/components/learn/facts.js``), and for the other lessons from the
tables of :mod:`core.reports.course`.
"""

import tomllib
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from string import Formatter
from typing import Any

import numpy as np
import pyarrow as pa

from core.conformal.curve import thresholds
from core.conformal.mondrian import least_covered_p_values
from core.conformal.scores import score, true_scores
from core.errors import InputError
from core.records import FloatArray, IntArray
from core.reports.alpha_lab.covariate_shift import SEARCHED_AT, Search, Shifted
from core.reports.evaluation import Evaluation
from core.reports.frames import lab_tables, sample_for_lab
from core.settings import ASSETS

LESSONS = {
    name: ASSETS / "lessons" / f"{file}.toml"
    for name, file in {
        "sets": "prediction-sets",
        "calibration": "calibration",
        "juries": "juries",
        "asking": "asking",
    }.items()
}
"""The file of each lesson by its name in links, in the order of the course."""
LESSON = LESSONS["sets"]
NEEDED = ("name", "title", "text", "answer", "learned", "guess")
KINDS = ("share", "score", "options", "points", "votes", "temperature", "choice")
"""The kinds of guesses: a percentage, a score from 0 to 1, a number of options, percentage points, a number of votes, a
temperature, one of several."""
DRAWS = 999
FEWEST_DRAWS = 199
MOST_WORK = 20_000_000
"""The budget of the p-values: test questions × subjects × draws. The fewest draws are made in any case."""
EXAMPLES = 30
"""The calibration questions, and the test questions, whose texts a lesson can show."""
DRAWN = 90
"""The questions of each side that are drawn at random; the examples are those with the shortest texts."""


@dataclass(frozen=True, slots=True)
class Guess:
    """A guess that a person makes before the answer: ``kind`` is one of :data:`KINDS`, ``of`` names the true value.

    ``moves`` says whether the true value depends on alpha.
    """

    question: str
    kind: str
    of: str
    choices: tuple[str, ...] = ()
    moves: bool = True


@dataclass(frozen=True, slots=True)
class Step:
    """One step. Its texts contain names of figures."""

    name: str
    title: str
    text: str
    answer: str
    learned: str
    guess: Guess
    without: str = ""
    say: str = ""

    @property
    def texts(self) -> tuple[str, ...]:
        """All texts of the step that may contain names of figures."""
        return self.title, self.text, self.answer, self.learned, self.guess.question, self.without, self.say


@dataclass(frozen=True, slots=True)
class Lesson:
    """A title, a subtitle that says what the lesson answers, the steps, and a short title for lists."""

    title: str
    subtitle: str
    steps: tuple[Step, ...]
    short: str = ""


def load(path: Path = LESSON) -> Lesson:
    """Read a lesson. An :class:`InputError` names the file and the step that is incomplete."""
    try:
        return _lesson(tomllib.loads(path.read_text(encoding="utf-8")), path)
    except InputError:
        raise
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        reason = f"{type(error).__name__}: {error}"
        raise InputError(f"the lesson {path} can't be read ({reason}); install Hedge again") from error


def _lesson(content: dict[str, Any], path: Path) -> Lesson:
    steps = []
    for place, step in enumerate(content.get("step", []), start=1):
        lacks = [name for name in NEEDED if name not in step]
        if lacks:
            raise InputError(f"step {place} of the lesson {path} lacks {', '.join(lacks)}")
        steps.append(Step(**{**step, "guess": _guess(step["guess"], f"step {place} of the lesson {path}")}))
    if not steps or "title" not in content or "subtitle" not in content:
        raise InputError(f"the lesson {path} needs a title, a subtitle and at least one step")
    return Lesson(content["title"], content["subtitle"], tuple(steps), content.get("short", ""))


def readable(name: str) -> Lesson | None:
    """A lesson of the course by its name; None if its file is damaged, so that the others stay."""
    with suppress(InputError):
        return load(LESSONS[name])
    return None


def _guess(content: dict[str, Any], where: str) -> Guess:
    if content.get("kind") not in KINDS:
        raise InputError(f"{where} has a guess of the kind {content.get('kind')!r}; choose from {', '.join(KINDS)}")
    return Guess(
        content["question"],
        content["kind"],
        content["of"],
        tuple(content.get("choices", ())),
        content.get("moves", True),
    )


def names(text: str) -> tuple[str, ...]:
    """The names of figures in a text."""
    return tuple(name for _, name, _, _ in Formatter().parse(text) if name)


def lesson_tables(run: Evaluation, shift: Shifted | None, search: Search | None) -> dict[str, Any]:
    """The data of a lesson's figures, sent to the browser once.

    ``rows``, ``group_names``, ``extra`` and ``seed`` are those of :func:`core.reports.frames.lab_tables`; ``questions``
    has the texts of at most 30 calibration and 30 test questions (:func:`_examples`), and ``examples`` their rows.
    ``least_covered`` has a p-value for each alpha from 1 to 999 thousandths (:func:`least_covered_by_alpha`). ``shift``
    describes the two subjects that ``search`` names, and ``curves`` has coverage and mean set size at each alpha.
    ``shift`` is None, and there are no curves, for a run without two subjects that are large enough.
    """
    run = sample_for_lab(run)
    tables = lab_tables(run)
    examples = _examples(tables["questions"], tables["rows"]["own"].to_numpy(), seed=run.spec.seed)
    least, _ = least_covered_by_alpha(run)
    return {
        **tables,
        "questions": tables["questions"].take(examples),
        "examples": pa.table({"row": examples.astype(np.int32)}),
        "least_covered": pa.table({"p_value": least}),
        **(_shift_tables(shift, search) if shift and search else {"shift": None}),
    }


def least_covered_by_alpha(run: Evaluation) -> tuple[FloatArray, int]:
    """How likely some subject is covered as little as the least covered one where all are alike, and the draws made.

    The p-values (999,) are for LAC's sets at each alpha from 1 to 999 thousandths, each valid for its own alpha
    (:func:`core.conformal.mondrian.least_covered_p_values`).
    """
    scores = score("lac", run.option_probabilities, seed=run.spec.seed)
    true = true_scores(scores, run.labels)
    limits = thresholds(true[run.calibration])
    _, codes, tested = np.unique(run.groups[run.test], return_inverse=True, return_counts=True)
    by_group = [np.sort(true[run.test][codes == code]) for code in range(len(tested))]
    hits = np.stack([np.searchsorted(rising, limits, side="right") for rising in by_group], axis=1)  # (999, G)
    draws = max(FEWEST_DRAWS, min(DRAWS, MOST_WORK // (len(codes) * len(tested))))
    rng = np.random.default_rng([run.spec.seed, 0x1EA])
    return least_covered_p_values(hits, tested, rng=rng, draws=draws), draws


def _examples(questions: pa.Table, own: IntArray, *, seed: int) -> IntArray:
    """Row numbers of the questions with the shortest texts in a seeded sample of each side, rising.

    ``own`` is 1 for the rows that calibrate. Short texts leave room for the figures.
    """
    texts = zip(questions["context"].to_pylist(), questions["question"].to_pylist(), strict=True)
    lengths = np.array([len(context) + len(question) for context, question in texts])
    rng = np.random.default_rng([seed, 0xE8A])
    drawn = [rng.permutation(np.flatnonzero(own == side))[:DRAWN] for side in (0, 1)]
    return np.sort(np.concatenate([rows[np.argsort(lengths[rows], kind="stable")][:EXAMPLES] for rows in drawn]))


def _shift_tables(shift: Shifted, search: Search) -> dict[str, Any]:
    return {
        "shift": {
            "source": shift.source,
            "target": shift.target,
            "n": shift.n,
            "m": shift.m,
            "pairs": search.pairs,
            "p_value": search.p_value,
            "searched_at": SEARCHED_AT,
        },
        "curves": pa.table(
            {
                "coverage": shift.coverage,
                "size": shift.mean_set_size,
                "weighted_coverage": shift.weighted_coverage,
                "weighted_size": shift.weighted_mean_set_size,
            }
        ),
    }
