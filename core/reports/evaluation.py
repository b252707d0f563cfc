"""A finished run as arrays, ready for scores and sets."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from core.conformal.probabilities import check_labels, check_probabilities, log_softmax, softmax
from core.errors import InputError
from core.files.parquet_columns import texts
from core.prompting.cloze import OptionTexts, normalised, said
from core.records import LETTERS, BoolArray, FloatArray, IntArray, OptionLogits
from core.runs import store
from core.runs.caveats import Caveats, of_letters, of_record
from core.runs.spec import RunSpec
from core.tasks import bank_names

ROUNDING = 1e-9
"""The largest allowed difference between a probability and the exponential of its log-probability."""

AnyType = TypeVar("AnyType", bound=np.generic)


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The option probabilities of one finished run, n questions in file order. All arrays are read-only.

    ``probabilities`` (n, k) float64, a softmax of the run's logits; ``log_probabilities`` (n, k), their logarithms
    computed from the logits, which stay finite where a probability is too small for a float64; ``labels`` (n,) 0-based;
    ``ids`` and ``groups`` (n,) text; ``calibration`` and ``test`` are row numbers. Demonstrations are in neither.
    ``letters`` are those of the k options. ``normalisation`` is how option texts were scored
    (:mod:`core.prompting.cloze`); letters have only ``raw``. Questions may have fewer options than k: ``counts`` (n,)
    says how many (None: all k), and the remaining places have probability 0. ``bank`` names the bank of the questions
    (:mod:`core.tasks.bank_names`). ``clusters`` (n,) numbers the question that each row asks (:mod:`core.clusters`);
    None: each row asks another one. ``recorded`` are the caveats that do not depend on the view of the run
    (:mod:`core.reports.caveats`).

    Raises :class:`InputError` if the log-probabilities are not those of the probabilities.
    """

    run_id: str
    spec: RunSpec
    ids: npt.NDArray[np.str_]
    groups: npt.NDArray[np.str_]
    probabilities: FloatArray
    log_probabilities: FloatArray
    labels: IntArray
    calibration: IntArray
    test: IntArray
    letters: str
    counts: IntArray | None = None
    normalisation: str = "raw"
    bank: str = ""
    clusters: IntArray | None = None
    recorded: Caveats = ()

    def __post_init__(self) -> None:
        p, logs = self.probabilities, self.log_probabilities
        if p.shape != logs.shape or np.abs(np.exp(logs) - p).max(initial=0) > ROUNDING:
            raise InputError(
                f"run {self.run_id}: log-probabilities of shape {logs.shape} are not the logarithms of probabilities "
                f"of shape {p.shape}; give both of the same logits"
            )

    @property
    def real(self) -> BoolArray:
        """Which of the k options each question has, (n, k): the first ``counts`` of them. Sets hold only these."""
        return np.arange(self.k) < self.option_counts[:, None]

    @property
    def option_probabilities(self) -> FloatArray:
        """``probabilities`` as scores expect them, (n, k): NaN, not 0, for an option that a question lacks."""
        return self.lacking(self.probabilities)

    def lacking(self, values: FloatArray) -> FloatArray:
        """Values (n, k), NaN for an option that a question lacks."""
        real = self.real
        return values if real.all() else np.where(real, values, np.nan)

    @property
    def option_counts(self) -> IntArray:
        """How many options each question has, (n,)."""
        return np.full(len(self.labels), self.k, dtype=np.int64) if self.counts is None else self.counts

    @property
    def k(self) -> int:
        """The largest number of options of a question."""
        return int(self.probabilities.shape[1])


@dataclass(frozen=True)
class StoredAnswers:
    """The contents of the files of a finished run, before its option texts are scored by a normalisation.

    ``questions`` has a row for each of the n questions, in the order of ``scored``, with the columns
    :data:`ANSWERED_COLUMNS`.
    """

    record: store.RunRecord
    questions: pa.Table
    scored: OptionLogits

    @functools.cached_property
    def texts(self) -> OptionTexts:
        """The lengths of the options' texts and what they score on their own."""
        bare = store.read_bare(self.record.run_id)
        return option_texts(self.questions["options"].combine_chunks(), self.scored, bare)


ANSWERED_COLUMNS = ("id", "group", "options", "label", "role")


def load(run_id: str, *, normalisation: str = "raw", with_bounds: bool = False) -> Evaluation:
    """Read a run that has ended successfully. Its option texts are scored by one of the
    :data:`~core.prompting.cloze.NORMALISATIONS`; the probabilities are a softmax of these scores.

    ``with_bounds`` admits a run in which only an upper bound of some letters is known, and takes the bounds as values.

    Raises :class:`InputError` as :func:`read_answers` and :func:`evaluate` do.
    """
    return evaluate(read_answers(run_id, with_bounds=with_bounds), normalisation=normalisation)


def read_answers(run_id: str, *, with_bounds: bool = False) -> StoredAnswers:
    """Read the files of a run that has ended successfully.

    ``with_bounds`` admits a run in which only an upper bound of some letters is known, and takes the bounds as values.

    Raises :class:`InputError` for an unknown run, a run that has not ended (its figures are not shown), a run whose
    files contradict each other, and, unless ``with_bounds``, a run in which only an upper bound of some letters is
    known.
    """
    record = store.read_record(run_id)
    if record.state != "done":
        raise InputError(
            f"run {record.run_id} is {record.state}; its figures are shown once it has finished successfully"
        )
    if record.spec.makes_jury:
        raise InputError(f"run {record.run_id} made a jury and has no answers of its own; see the Jury page")
    if not record.spec.answers:
        raise InputError(f"run {record.run_id} scored words and has no answers; see the Perplexity page")
    if record.bounded and not with_bounds:
        raise InputError(
            f"the server of run {record.run_id} gave only an upper bound of some letters for {record.bounded:,} "
            "questions, so its figures are ranges; `hedge report` prints them"
        )
    questions = store.read_questions(run_id, columns=ANSWERED_COLUMNS)
    scored = store.read_logits(run_id)
    order = pc.index_in(texts(scored.ids), questions["id"])
    if order.null_count or len(set(scored.ids)) != len(scored.ids):
        raise InputError(f"run {record.run_id} has logits that fit no question or fit one twice; repeat the run")
    return StoredAnswers(record, questions.take(order), scored)


def evaluate(answers: StoredAnswers, *, normalisation: str = "raw") -> Evaluation:
    """The run's probabilities, with its option texts scored by one of the :data:`~core.prompting.cloze.NORMALISATIONS`.

    Raises :class:`InputError` if the run does not have that normalisation, or its logits do not fit its questions.
    """
    record, picked, scored = answers.record, answers.questions, answers.scored
    roles, groups = _texts_of(picked["role"]), _texts_of(picked["group"])
    n, k = scored.logits.shape
    logits = scored.logits if normalisation == "raw" else _normalised(answers, normalisation)
    test = np.flatnonzero(roles == "test")
    return Evaluation(
        run_id=record.run_id,
        spec=record.spec,
        ids=_frozen(np.array(scored.ids)),
        groups=_frozen(groups),
        probabilities=_frozen(check_probabilities(softmax(logits))),
        log_probabilities=_frozen(log_softmax(logits)),
        labels=_frozen(check_labels(picked["label"].to_numpy().astype(np.int64), n=n, k=k)),
        calibration=_frozen(np.flatnonzero(roles == "calibration")),
        test=_frozen(test),
        letters=LETTERS[:k],
        counts=_frozen(_counts(picked, scored.logits, record.run_id)),
        normalisation=normalisation,
        bank=bank_names.bank_name(record.spec, record.provenance),
        recorded=(
            *of_record(record.spec, record.provenance, questions=n),
            *of_letters(scored.letter_mass[test]),
        ),
    )


def _texts_of(column: pa.ChunkedArray) -> npt.NDArray[np.str_]:
    """A column (n,) with few different texts as an array; each text is converted to a Python string only once."""
    encoded = column.combine_chunks().dictionary_encode()
    found: npt.NDArray[np.str_] = np.array(encoded.dictionary.to_pylist(), dtype=np.str_)[encoded.indices.to_numpy()]
    return found


def _normalised(answers: StoredAnswers, normalisation: str) -> npt.NDArray[np.float64]:
    if answers.scored.option_tokens is None:
        raise InputError(
            f"run {answers.record.run_id} asked for letters, which have nothing to normalise; take a run with "
            "--form cloze"
        )
    return normalised(answers.scored.logits, answers.texts, by=normalisation)


def option_texts(options: pa.ListArray, scored: OptionLogits, bare: Mapping[str, Mapping[str, float]]) -> OptionTexts:
    """What else is known about the options' texts besides their raw scores, as rows of the same shape."""
    shape = scored.logits.shape
    characters, sizes, tokens = np.ones(shape), np.ones(shape), np.ones(shape)
    alone = {by: np.zeros(shape) for by in bare}
    # Several questions offer the same option, so each of d different texts is measured once: (d,), spread to (n, k).
    offered = options.flatten().dictionary_encode()
    texts, which = offered.dictionary.to_pylist(), offered.indices.to_numpy()
    real = np.arange(shape[1]) < options.value_lengths().to_numpy()[:, None]
    stripped = [text.strip() for text in texts]
    characters[real] = np.array([len(text) for text in stripped])[which]
    sizes[real] = np.array([len(text.encode()) for text in stripped])[which]
    for by, scores in bare.items():
        alone[by][real] = np.array([scores.get(said(text), np.nan) for text in texts])[which]
    if scored.option_tokens is not None:
        tokens = np.maximum(scored.option_tokens, 1).astype(np.float64)
    return OptionTexts(tokens, characters, sizes, {by: of for by, of in alone.items() if not np.isnan(of).any()})


def _counts(questions: pa.Table, logits: npt.NDArray[np.float32], run_id: str) -> IntArray:
    """How many options each question has; the logits behind them must be those of no option."""
    counts = np.asarray(pc.list_value_length(questions["options"]).to_numpy(), dtype=np.int64)
    behind = np.arange(logits.shape[1]) >= counts[:, None]
    if (counts > logits.shape[1]).any() or np.isfinite(logits[behind]).any():
        raise InputError(f"run {run_id} has logits that do not fit its questions' options; repeat the run")
    return counts


def _frozen(array: npt.NDArray[AnyType]) -> npt.NDArray[AnyType]:
    array.setflags(write=False)
    return array
