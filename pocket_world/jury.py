"""Jurors: LoRA adapters of pocket models that say True or False of a question and a proposed answer.

A juror is tuned on a third of the world's facts (:func:`tuned_on`): each with its answer and a false one in every
training wording, and what pocket-8m answered to them, right or wrong. The facts of the other two thirds are for
calibration and test; the short-answer questions say which are which.
"""

import random
import shutil
from collections.abc import Sequence
from pathlib import Path

from core.jury.pipeline import jury_spec, jury_store
from core.jury.pipeline.jury_spec import JurySpec
from core.models.adapters.juror import Example, Tuning, fine_tune
from core.models.verdicts import judge
from core.questions.trivia import BUNDLED, read
from core.reports import jury_figures
from core.runs import store
from core.runs.execution import jury_run
from core.runs.execution.execute import execute
from core.settings import ASSETS
from pocket_world import trivia
from pocket_world.record import empty_home, record_fingerprints
from pocket_world.relations import Fact
from pocket_world.world import tuned_on, world

JURORS = {
    "juror-3m": ("pocket-3m", Tuning(rank=16, steps=1800, rate=1.5e-3, seed=32)),
    "juror-3m-instruct": ("pocket-3m-instruct", Tuning(rank=16, steps=1200, rate=1.5e-3, seed=31)),
    "juror-8m": ("pocket-8m", Tuning(rank=16, steps=600, rate=1e-3, seed=33)),
}
"""The base model and the tuning of each juror that ships."""

FOLDER = ASSETS / "juries"
SPECS = {
    "pocket-3m-instruct": JurySpec(base="pocket-3m-instruct", jurors=("pocket-8m",) * 3),
    "pocket-8m": JurySpec(base="pocket-8m", jurors=tuple(JURORS)),
}
"""By the model that answers: pocket-3m-instruct's jurors are tuned on the way, pocket-8m's ship."""


def answered(*, tuning: bool) -> list[Example]:
    """The recorded answers to the questions for tuning, or to the others."""
    answers = {answer["question_id"]: answer for answer in trivia.read_answers()}
    return [
        Example(question.question, answers[question.id]["answer"], answers[question.id]["correct"])
        for question in read(BUNDLED)
        if question.tuning == tuning
    ]


def claims(facts: Sequence[Fact], rng: random.Random) -> list[Example]:
    """Every fact in every training wording, with its answer and with a false one."""
    examples = []
    for fact in facts:
        for question in fact.training_questions:
            examples += [Example(question, fact.answer, True), Example(question, rng.choice(fact.wrong), False)]
    return examples


def tuning_examples(seed: int) -> list[Example]:
    """Facts as the tables have them, and about as many recorded answers, each repeated."""
    facts = claims([fact for fact in world() if tuned_on(fact)], random.Random(f"{seed}|told"))
    own = answered(tuning=True)
    return facts + own * round(len(facts) / len(own))


def right_about(folder: Path, proposed: Sequence[Example]) -> int:
    """The number of examples about which an adapter's verdict is right; True has to be the more likely one."""
    claims_to_judge = [(str(i), example.question, example.answer) for i, example in enumerate(proposed)]
    verdicts = judge(str(folder), claims_to_judge, dtype="float32").verdicts()
    return sum((p_true > p_false) == proposed[int(i)].right for i, (p_true, p_false) in verdicts)


def make_juror(name: str, folder: Path | None = None) -> str:
    """Tune a juror on its shipped model, to ship unless a ``folder`` is given; returns how often it is right about
    other answers."""
    folder = folder or ASSETS / "adapters" / name
    base, tuning = JURORS[name]
    fine_tune(base, tuning_examples(tuning.seed), folder, tuning)
    record_fingerprints()
    others = answered(tuning=False)
    right, true = right_about(folder, others) / len(others), sum(example.right for example in others) / len(others)
    return f"{name}: right about {right:.1%} of {len(others):,} answers, {true:.1%} of them are right"


def make_jury(base: str) -> str:
    """Make a jury again in :data:`FOLDER`, in place of an older one of the same answers, and return its id."""
    with empty_home():
        run_id = execute(jury_run.spec_of(jury_spec.read_spec(jury_spec.create(SPECS[base]))))
        jury_id = str(store.read_record(run_id).provenance["jury"])
        for older in FOLDER.glob(f"{jury_id.rpartition('-')[0]}-*"):
            shutil.rmtree(older)
        shutil.copytree(jury_store.folder_of(jury_id), FOLDER / jury_id)
    jury_figures.write(jury_id)
    return jury_id


def write_figures() -> None:
    """Compute the figures of the juries that ship again, beside them."""
    for folder in sorted(FOLDER.iterdir()):
        jury_figures.write(folder.name)
