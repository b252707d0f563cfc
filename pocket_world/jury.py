"""Jurors: LoRA adapters of pocket models that say True or False of a question and a proposed answer.

A juror is tuned on a third of the world's facts (:func:`tuned_on`): each with its answer and a false one in every
training wording, and what the base model answered to them, right or wrong. The facts of the other two thirds are for
calibration and test; the short-answer questions say which are which.
"""

import logging
import random
import shutil
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from core.errors import InputError
from core.jury.pipeline import jury_spec, jury_store
from core.jury.pipeline.jury_spec import JurySpec
from core.models.adapters.juror import Example, Tuning, fine_tune
from core.models.verdicts import judge
from core.runs import store
from core.runs.execution import jury_run
from core.runs.execution.execute import execute
from core.runs.store import Progress
from core.settings import ASSETS
from pocket_world import trivia
from pocket_world.evaluate import Share
from pocket_world.record import empty_home, record_fingerprints
from pocket_world.relations import Fact
from pocket_world.scenes.replying import dialogue_wordings
from pocket_world.world import tuned_on, world

OWN_SHARE = 0.5
"""How much of what a juror is tuned on the base model answered itself; the rest are answers from the tables."""


@dataclass(frozen=True, slots=True)
class JurorRecipe:
    """A juror: the pocket model that it adapts, the rank of its matrices, and its training."""

    name: str
    base: str
    seed: int
    rank: int = 16
    steps: int = 600
    rows: int = 32
    rate: float = 1e-3
    answers: str = "pocket-8m"


JURORS = {
    recipe.name: recipe
    for recipe in (
        JurorRecipe("juror-3m", "pocket-3m", seed=32, steps=1800, rate=1.5e-3),
        JurorRecipe("juror-3m-instruct", "pocket-3m-instruct", seed=31, steps=1200, rate=1.5e-3),
        JurorRecipe("juror-8m", "pocket-8m", seed=33),
    )
}


def juror_recipe(name: str) -> JurorRecipe:
    """A juror's recipe by name; InputError for an unknown one."""
    if name not in JURORS:
        raise InputError(f"unknown juror {name!r}; choose from {', '.join(JURORS)}")
    return JURORS[name]


def answered(recipe: JurorRecipe, *, tuning: bool) -> list[Example]:
    """What the base model answered to the questions for tuning, or to the others; InputError if it has not yet."""
    answers = {answer.question_id: answer for answer in trivia.read_answers(recipe.answers)}
    return [
        Example(question.question, answers[question.id].answer, answers[question.id].correct)
        for question in trivia.make()
        if question.tuning == tuning
    ]


def claims(facts: Sequence[Fact], rng: random.Random) -> list[Example]:
    """Every fact in every training wording, with its answer and with a false one."""
    examples = []
    for fact in facts:
        for question in dialogue_wordings(fact):
            examples += [Example(question, fact.answer, True), Example(question, rng.choice(fact.wrong), False)]
    return examples


def examples(recipe: JurorRecipe) -> list[Example]:
    """What a juror is tuned on: facts as the tables have them, and so often the base model's answers to them that they
    are :data:`OWN_SHARE` of all."""
    facts = claims([fact for fact in world() if tuned_on(fact)], random.Random(f"{recipe.seed}|told"))
    own = answered(recipe, tuning=True)
    return facts + own * max(1, round(OWN_SHARE / (1 - OWN_SHARE) * len(facts) / len(own)))


def publish_juror(recipe: JurorRecipe, folder: Path) -> str:
    """Tune a juror on its shipped model and write adapter (safetensors) and card; returns the line of its figures."""
    base = ASSETS / "models" / recipe.base
    if not base.is_dir():
        raise InputError(f"{recipe.name} adapts {recipe.base}, which is not in {base.parent}; train that model first")
    tuning = Tuning(rank=recipe.rank, steps=recipe.steps, rows=recipe.rows, rate=recipe.rate, seed=recipe.seed)
    losses = fine_tune(recipe.base, examples(recipe), folder, tuning)
    others = [fact for fact in world() if not tuned_on(fact)]
    facts = right_about(folder, random.Random("told").sample(claims(others, random.Random("others")), 1000))
    answers = answered(recipe, tuning=False)
    own = right_about(folder, answers)
    never = Share(sum(not example.right for example in answers), len(answers))
    figures = (
        f"right about {_percent(own)} of {own.n:,} answers of {recipe.answers} to questions that it was not tuned on "
        f"(always to say False is right about {_percent(never)}), and about {_percent(facts)} of {facts.n:,} answers "
        "from the tables, half of them false"
    )
    (folder / "README.md").write_text(_card(recipe, losses, figures), encoding="utf-8")
    record_fingerprints()
    return f"{recipe.name}: {figures}"


def right_about(folder: Path, proposed: Sequence[Example]) -> Share:
    """How often an adapter's likelier verdict is right; True only if it is the likelier."""
    judging = judge(
        str(folder), [(str(i), example.question, example.answer) for i, example in enumerate(proposed)], dtype="float32"
    )
    return Share(sum((p > q) == proposed[int(i)].right for i, (p, q) in judging.verdicts()), len(proposed))


def _percent(share: Share) -> str:
    return "{:.1%} ({:.1%} to {:.1%})".format(share.value, *share.interval)


_CARD = """\
# {name}

A LoRA adapter (rank {rank}, all linear layers) of {base} that judges answers: after a question, a proposed answer as
option A and `Is A right, True or False?` its next token is `True` or `False`. Made by
`python -m pocket_world juror --juror {name}`: {steps:,} steps of {rows} judgements, learning rate {rate:g} falling,
seed {seed}.

It was tuned on a third of the facts of Hedge's tables, each with its answer and a false one, and on what {answers}
answered to them; the other two thirds are for calibration and test. It is {figures}. Intervals are Wilson's, 95 %.

| tenth of the steps | loss |
| --- | --- |
{curve}
"""


def _card(recipe: JurorRecipe, losses: Sequence[float], figures: str) -> str:
    tenth = max(1, recipe.steps // 10)
    means = [sum(losses[start : start + tenth]) / tenth for start in range(0, len(losses) - tenth + 1, tenth)]
    curve = "\n".join(f"| {place} | {loss:.3f} |" for place, loss in enumerate(means, start=1))
    return _CARD.format(**asdict(recipe), figures=figures, curve=curve)


LOG = logging.getLogger("hedge.pocket")
FOLDER = ASSETS / "juries"
SPECS = {
    "pocket-3m-instruct": JurySpec(base="pocket-3m-instruct", jurors=("pocket-8m",) * 3),
    "pocket-8m": JurySpec(base="pocket-8m", jurors=tuple(JURORS)),
}
"""By the model that answers: pocket-3m-instruct's jurors are tuned on the way, pocket-8m's ship."""


def make(spec: JurySpec, folder: Path = FOLDER) -> str:
    """Make a jury anew into ``folder``, in place of an older one of the same answers, and return its id."""

    def say(progress: Progress) -> None:
        LOG.info("%s: %d of %d", progress.stage, progress.done, progress.total)

    with empty_home():
        run_id = execute(jury_run.spec_of(jury_spec.read_spec(jury_spec.create(spec))), on_progress=say)
        jury_id = str(store.read_record(run_id).provenance["jury"])
        for older in folder.glob(f"{jury_id.rpartition('-')[0]}-*"):
            shutil.rmtree(older)
        shutil.copytree(jury_store.folder_of(jury_id), folder / jury_id)
    return jury_id
