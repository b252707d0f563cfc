"""The figures of a run that was read but is not stored yet, for a person to check before importing it."""

from dataclasses import dataclass, replace

import numpy as np

from core.calibration import metrics
from core.conformal.bounds import score_bounds
from core.conformal.probabilities import check_labels, check_probabilities, option_shares
from core.conformal.published import top_ties_of
from core.exchange.imported import ImportedRun, is_coarser, same_figures
from core.exchange.shared_tasks import ALONE
from core.models.letter_mass import letter_mass
from core.questions import bank_names
from core.questions.identity import question_clusters
from core.questions.option_names import OF_CLASSES, class_names
from core.records import OPTION_NAMES, OptionLogits
from core.reports.bounded import BoundedRun, Ends, report_of
from core.reports.evaluation import Evaluation, calibrating, check_answers
from core.reports.repeated import questions_of
from core.reports.scored_sets import form
from core.runs import store
from core.runs.caveats import of_letters, of_record

SHOWN_ALPHA = 100
"""The alpha of the sets, in thousandths."""
SHOWN_SCORE = "lac"


@dataclass(frozen=True, slots=True)
class ImportedFigures:
    """The number of rows and of the questions that they ask, the number of test rows, and both ends of the accuracy and
    of the mean size of LAC sets at alpha 0.1, which differ where some probabilities are not known
    (:mod:`core.reports.bounded`)."""

    rows: int
    questions: int
    test: int
    accuracy: Ends
    mean_set_size: Ends


def figures(run: ImportedRun) -> ImportedFigures:
    """The figures of a run, computed from its logits as its report will compute them.

    Raises :class:`~core.errors.InputError` for labels or probabilities that can't be right, and for letters that are no
    answers.
    """
    loaded = evaluation(run)
    check_answers(run.spec.run_id, run.spec, letter_mass(run.scored, loaded.test))
    accuracy, size = _ends(loaded, run.scored)
    roles = dict(zip((question.id for question in run.questions), run.roles, strict=True))
    rows = np.flatnonzero([roles[name] != "rotation" for name in run.scored.ids])
    return ImportedFigures(
        rows=len(rows),
        questions=questions_of(loaded, rows),
        test=len(loaded.test),
        accuracy=accuracy,
        mean_set_size=size,
    )


def _ends(loaded: Evaluation, scored: OptionLogits) -> tuple[Ends, Ends]:
    """The ends of the accuracy, and of the mean size of sets."""
    if scored.bounded is not None and scored.bounded.any():
        logits = scored.logits.astype(np.float64)
        scores = {SHOWN_SCORE: score_bounds(SHOWN_SCORE, logits, scored.bounded, seed=loaded.spec.seed)}
        report = report_of(BoundedRun(loaded, logits, scored.bounded, scores), SHOWN_ALPHA)
        return report.accuracy, report.scores[SHOWN_SCORE].mean_set_size
    accuracy = metrics.accuracy(
        loaded.probabilities[loaded.test], loaded.labels[loaded.test], ties=top_ties_of("exact")
    )
    size = float(form(loaded, SHOWN_SCORE, SHOWN_ALPHA).members.sum(axis=1).mean())
    return (accuracy, accuracy), (size, size)


def evaluation(run: ImportedRun) -> Evaluation:
    """The run as arrays, equal to what :func:`core.reports.evaluation.load` reads once it is stored."""
    places = {question.id: i for i, question in enumerate(run.questions)}
    rows = [places[name] for name in run.scored.ids]
    questions = [run.questions[row] for row in rows]
    roles = np.array([run.roles[row] for row in rows])
    n, k = run.scored.logits.shape
    probabilities, log_probabilities = option_shares(run.scored)
    clusters = question_clusters(run.questions, run.roles)
    clusters = None if clusters is None else clusters[rows]
    test = np.flatnonzero(roles == "test")
    classes = bool(run.provenance.get(OF_CLASSES))
    own, left_out = calibrating(np.flatnonzero(roles == "calibration"), test, clusters, seed=run.spec.seed)
    return Evaluation(
        run_id=run.spec.run_id,
        spec=run.spec,
        ids=np.array(run.scored.ids),
        groups=np.array([row.group for row in questions]),
        probabilities=check_probabilities(probabilities),
        log_probabilities=log_probabilities,
        labels=check_labels(np.array([row.label for row in questions], dtype=np.int64), n=n, k=k),
        calibration=own,
        test=test,
        letters=class_names(questions[0].options) if classes else OPTION_NAMES[:k],
        classes=classes,
        counts=np.array([len(row.options) for row in questions], dtype=np.int64),
        bank=bank_names.bank_name(run.spec, run.provenance),
        clusters=clusters,
        left_out=left_out,
        samples=run.scored.samples,
        recorded=(
            *of_record(run.spec, run.provenance, questions=n),
            *of_letters(letter_mass(run.scored, test), run.spec),
        ),
    )


def stored_as(run: ImportedRun) -> str:
    """The id of a stored run that is the same as this one: an earlier import of it, also under its own task, or the run
    that this file was exported from. Empty if there is none."""
    for name in (run.spec.run_id, *(str(run.provenance.get(field, "")) for field in ("exported_run", ALONE))):
        if name in store.run_ids() and (name == run.spec.run_id or _same(run.scored, store.read_logits(name))):
            return name
    return ""


def is_rounded(run: ImportedRun, stored: str) -> bool:
    """Whether an earlier version stored this run under the id ``stored``, rounded to single precision."""
    return is_coarser(run.scored, store.read_logits(stored))


def _same(scored: OptionLogits, stored: OptionLogits) -> bool:
    """Whether the figures are equal, question by question."""
    if set(scored.ids) != set(stored.ids) or len(scored.ids) != len(stored.ids):
        return False
    places = {name: i for i, name in enumerate(stored.ids)}
    rows = [places[name] for name in scored.ids]
    given = None if stored.probabilities is None else stored.probabilities[rows]
    samples = None if stored.samples is None else stored.samples[rows]
    ordered = replace(
        stored,
        ids=scored.ids,
        logits=stored.logits[rows],
        probabilities=given,
        samples=samples,
        bounded=None,
        option_tokens=None,
    )
    return same_figures(scored, ordered)
