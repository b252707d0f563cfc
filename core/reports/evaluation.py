"""A finished run as arrays, ready for scores and sets."""

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from core.conformal.draws import one_each
from core.conformal.probabilities import (
    check_labels,
    check_probabilities,
    log_softmax,
    option_shares,
    row_blocks,
    softmax,
)
from core.errors import InputError
from core.models.letter_mass import LetterMass, letter_mass, unanswered, way_out
from core.questions import bank_names
from core.questions.identity import question_clusters
from core.questions.option_names import OF_CLASSES, class_names
from core.questions.prompting.cloze import OptionTexts, normalised, option_text
from core.records import OPTION_NAMES, BoolArray, FloatArray, IntArray, LogitArray, OptionLogits, Question
from core.runs import shared_questions, store
from core.runs.caveats import Caveats, of_letters, of_other_orders, of_record
from core.runs.shared_questions import FILE
from core.runs.spec import RunSpec
from core.storage.parquet_columns import array_of, texts
from core.storage.sealed import DamagedError
from core.storage.tables import read_table

ABOUT_PICTURES = ("vlm-uncertainty-bench",)
"""Sources whose older imports hold the texts of questions without the pictures that they are about."""
ROUNDING = 1e-9
"""The largest allowed difference between a probability and the exponential of its log-probability."""

AnyType = TypeVar("AnyType", bound=np.generic)


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The option probabilities of one finished run, n questions in file order. All arrays are read-only.

    ``probabilities`` (n, k) float64 are a softmax of the run's logits, or those that its source gave
    (:func:`~core.conformal.probabilities.option_shares`). ``log_probabilities`` (n, k) are their logarithms; those of a
    softmax stay finite where a probability is too small for a float64. ``labels`` (n,) are 0-based, ``ids`` and
    ``groups`` (n,) text; ``calibration`` and ``test`` are row numbers. Demonstrations are in neither.
    ``letters`` are those of the k options, or the names of a classifier's ``classes``
    (:mod:`core.questions.option_names`). ``normalisation`` is how option texts were scored
    (:mod:`core.questions.prompting.cloze`); letters have only ``raw``. Questions may have fewer options than k:
    ``counts`` (n,) says how many (None: all k), and the remaining places have probability 0. ``bank`` names the bank of
    the questions (:mod:`core.questions.bank_names`). ``clusters`` (n,) numbers the question that each row asks
    (:mod:`core.conformal.clusters`); None: each row asks another one. One row of each question calibrates; ``left_out``
    are the other rows of the calibration side (:func:`calibrating`). ``letters_left_out`` has those of options that a
    view has left out, and ``places`` (k,) then the places of the others in their questions (empty: all).
    ``unanswered`` says of questions, by their ids, why their letters are no answer (:mod:`core.models.letter_mass`).
    ``samples`` (n,) is the number of picks of each question, where probabilities are frequencies of picks.
    ``ordered`` says that the options of all questions are ordered levels.
    ``recorded`` are the caveats that do not depend on the view of the run (:mod:`core.reports.caveats`).

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
    letters: Sequence[str]
    counts: IntArray | None = None
    normalisation: str = "raw"
    bank: str = ""
    clusters: IntArray | None = None
    left_out: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    letters_left_out: Sequence[str] = ()
    places: tuple[int, ...] = ()
    classes: bool = False
    unanswered: Mapping[str, str] = field(default_factory=dict)
    samples: IntArray | None = None
    ordered: bool = False
    recorded: Caveats = ()

    def __post_init__(self) -> None:
        p, logs = self.probabilities, self.log_probabilities
        if p.shape != logs.shape or any(
            np.abs(np.exp(logs[rows]) - p[rows]).max(initial=0) > ROUNDING for rows in row_blocks(len(p), self.k)
        ):
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
        if (self.option_counts == self.k).all():
            return values
        return np.where(self.real, values, np.nan)

    @property
    def option_places(self) -> tuple[int, ...]:
        """The places of the k options in the run's questions, from 0."""
        return self.places or tuple(range(self.k))

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


ANSWERED_COLUMNS = ("id", "group", "options", "label", "role", "cluster")


def calibrating(
    calibration: IntArray, test: IntArray, clusters: IntArray | None, *, seed: int
) -> tuple[IntArray, IntArray]:
    """Of the rows ``calibration``, those that calibrate, and the others.

    Rows of one question are not exchangeable with rows of others, so the rank of a threshold among them promises less
    than 1 − alpha. One random row of each question calibrates ("subsampling once", Dunn, Wasserman & Ramdas 2023,
    arXiv 1809.07441). A question that is also tested does not calibrate.
    """
    if clusters is None:
        return calibration, calibration[:0]
    free = calibration[~np.isin(clusters[calibration], clusters[test])]
    own = free[one_each(free, clusters[free], seed=seed)]
    return own, np.setdiff1d(calibration, own)


def load(run_id: str, *, normalisation: str = "raw", with_bounds: bool = False) -> Evaluation:
    """Read a run that has ended successfully. Its option texts are scored by one of the
    :data:`~core.questions.prompting.cloze.NORMALISATIONS`; the probabilities are a softmax of these scores.

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
            f"run {record.run_id} is {store.STATE_WORDS[record.state]}; its figures are shown once it has finished "
            "successfully"
        )
    if record.spec.makes_jury:
        raise InputError(f"run {record.run_id} made a jury and has no answers of its own; see the Jury page")
    if not record.spec.answers:
        raise InputError(f"run {record.run_id} scored words and has no answers; see the Perplexity page")
    if record.bounded and not with_bounds:
        raise InputError(
            f"{record.bounded_because} for {record.bounded:,} question{'s' * (record.bounded != 1)}, so its figures "
            "are ranges; `hedge report` prints them"
        )
    questions = store.read_questions(run_id, columns=ANSWERED_COLUMNS)
    scored = store.read_logits(run_id)
    order = pc.index_in(texts(scored.ids), questions["id"])
    if order.null_count or len(set(scored.ids)) != len(scored.ids):
        with store.reading(run_id, store.LOGITS):
            raise DamagedError("it fits no question of the run, or one of them twice")
    return StoredAnswers(record, questions.take(order), scored)


def evaluate(answers: StoredAnswers, *, normalisation: str = "raw") -> Evaluation:
    """The run's probabilities, with its option texts scored by one of the
    :data:`~core.questions.prompting.cloze.NORMALISATIONS`.

    Raises :class:`InputError` if the run does not have that normalisation, its logits do not fit its questions, or its
    letters have almost no probability (:mod:`core.models.letter_mass`).
    """
    record, picked, scored = answers.record, answers.questions, answers.scored
    roles, groups = _texts_of(picked["role"]), _texts_of(picked["group"])
    n, k = scored.logits.shape
    classes = bool(record.provenance.get(OF_CLASSES))
    clusters = _clusters(answers)
    calibrates, test = np.flatnonzero(roles == "calibration"), np.flatnonzero(roles == "test")
    mass = letter_mass(scored, test)
    check_answers(record.run_id, record.spec, mass)
    own, left_out = calibrating(calibrates, test, clusters, seed=record.spec.seed)
    if normalisation == "raw":
        probabilities, log_probabilities = option_shares(scored)
    else:
        logits = _normalised(answers, normalisation)
        probabilities, log_probabilities = softmax(logits), log_softmax(logits)
    with store.reading(record.run_id, FILE):
        labels = check_labels(array_of(picked["label"]).astype(np.int64), n=n, k=k)
    with store.reading(record.run_id, store.LOGITS):
        probabilities, counts = check_probabilities(probabilities), _counts(picked, scored.logits)
    return Evaluation(
        run_id=record.run_id,
        spec=record.spec,
        ids=_frozen(np.array(scored.ids)),
        groups=_frozen(groups),
        probabilities=_frozen(probabilities),
        log_probabilities=_frozen(log_probabilities),
        labels=_frozen(labels),
        calibration=_frozen(own),
        test=_frozen(test),
        letters=class_names(picked["options"][0].as_py()) if classes else OPTION_NAMES[:k],
        counts=_frozen(counts),
        normalisation=normalisation,
        bank=bank_names.bank_name(record.spec, record.provenance),
        clusters=clusters,
        left_out=_frozen(left_out),
        classes=classes,
        unanswered=unanswered(scored),
        samples=None if scored.samples is None else _frozen(scored.samples),
        ordered=record.ordered,
        recorded=(
            *of_record(record.spec, record.provenance, questions=n),
            *of_letters(mass, record.spec),
            *of_other_orders(np.array(scored.ids)[roles == "rotation"]),
        ),
    )


def check_answers(run_id: str, spec: RunSpec, mass: LetterMass | None) -> None:
    """Raise :class:`InputError` if the letters have so little probability that the run has no figures."""
    if mass is not None and mass.is_no_answer:
        raise InputError(
            f"run {run_id} has no answers, so it has no figures: {mass.without}; "
            f"{way_out(mass.first, chat=spec.prompt_format == 'chat', decides=bool(spec.decisions))}"
        )


def _clusters(answers: StoredAnswers) -> IntArray | None:
    """The number of the question of each answer, (n,); None if each asks another one. Files of older versions do not
    say it, and no bundled run repeats a question."""
    questions = answers.questions
    if "cluster" in questions.column_names:
        return _frozen(array_of(questions["cluster"]).astype(np.int64))
    if "clusters" in {key.decode() for key in questions.schema.metadata or {}}:
        return None
    path = store.questions_path(answers.record.run_id)
    has_texts = answers.record.provenance.get("texts") is not False and answers.record.spec.origin not in ABOUT_PICTURES
    if path.parent == shared_questions.FOLDER or not has_texts:
        return None
    numbers = _clusters_of(path, path.stat().st_mtime_ns)
    return None if numbers is None else _frozen(np.array([numbers[name] for name in answers.scored.ids]))


@functools.lru_cache(maxsize=64)
def _clusters_of(path: Path, stamp: int) -> Mapping[str, int] | None:
    """The number of the question of each row, by its id, from a file that does not say it."""
    question_texts = read_table(path, columns=["question"])["question"]
    if pc.count_distinct(question_texts).as_py() == len(question_texts):
        return None
    table = read_table(path)
    rows = table.to_pylist()
    questions = [
        Question(q["id"], q["task"], q["group"], q["context"], q["question"], tuple(q["options"]), q["label"])
        for q in rows
    ]
    clusters = question_clusters(questions, [row["role"] for row in rows])
    return None if clusters is None else dict(zip(table["id"].to_pylist(), clusters.tolist(), strict=True))


def _texts_of(column: pa.ChunkedArray) -> npt.NDArray[np.str_]:
    """A column (n,) with few different texts as an array; each text is converted to a Python string only once."""
    encoded = column.combine_chunks().dictionary_encode()
    unique_texts: npt.NDArray[np.str_] = np.array(encoded.dictionary.to_pylist(), dtype=np.str_)[
        array_of(encoded.indices)
    ]
    return unique_texts


def _normalised(answers: StoredAnswers, normalisation: str) -> npt.NDArray[np.float64]:
    if answers.scored.option_tokens is None:
        raise InputError(
            f"run {answers.record.run_id} asked for letters, which have nothing to normalise; take a run with "
            "--form cloze"
        )
    return normalised(answers.scored.logits, answers.texts, by=normalisation)


def option_texts(options: pa.ListArray, scored: OptionLogits, bare: Mapping[str, Mapping[str, float]]) -> OptionTexts:
    """Other facts about the options' texts besides their raw scores, as rows of the same shape."""
    shape = scored.logits.shape
    characters, sizes, tokens = np.ones(shape), np.ones(shape), np.ones(shape)
    alone = {by: np.zeros(shape) for by in bare}
    # Several questions offer the same option, so each of d different texts is measured once: (d,), spread to (n, k).
    offered = options.flatten().dictionary_encode()
    texts, which = offered.dictionary.to_pylist(), array_of(offered.indices)
    real = np.arange(shape[1]) < array_of(options.value_lengths())[:, None]
    stripped = [text.strip() for text in texts]
    characters[real] = np.array([len(text) for text in stripped])[which]
    sizes[real] = np.array([len(text.encode()) for text in stripped])[which]
    for by, scores in bare.items():
        alone[by][real] = np.array([scores.get(option_text(text), np.nan) for text in texts])[which]
    if scored.option_tokens is not None:
        tokens = np.maximum(scored.option_tokens, 1).astype(np.float64)
    return OptionTexts(
        tokens, characters, sizes, {by: values for by, values in alone.items() if not np.isnan(values).any()}
    )


def _counts(questions: pa.Table, logits: LogitArray) -> IntArray:
    """How many options each question has; the logits behind them must be those of no option."""
    counts = array_of(pc.list_value_length(questions["options"])).astype(np.int64)
    behind = np.arange(logits.shape[1]) >= counts[:, None]
    if (counts > logits.shape[1]).any() or np.isfinite(logits[behind]).any():
        raise DamagedError("it does not fit the options of the run's questions")
    return counts


def _frozen(array: npt.NDArray[AnyType]) -> npt.NDArray[AnyType]:
    array.setflags(write=False)
    return array
