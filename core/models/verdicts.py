"""A juror's verdicts: the probabilities of True and of False after its prompt, a softmax over the two."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from core.conformal.probabilities import option_shares
from core.errors import InputError, RunError, RunPaused, SelfCheckError, ServerError
from core.models.engine import Engine, SelfCheck
from core.models.engine_factory import load_deciding_juror, load_engine, load_served_juror
from core.models.letter_mass import LEAST, share_text
from core.models.server.left_out import NoAnswer, missing_of
from core.models.server.spending import Spending
from core.models.server_address import TIMEOUT_S, ServedModel, served_model
from core.questions.prompting.decision import verdict_request
from core.questions.prompting.verdict import verdict_prompt
from core.records import OptionLogits, Prompt

if TYPE_CHECKING:
    from core.models.server.engine import ServerEngine

Verdict = tuple[float, float]

FEW = 8
"""How many answers show whether True and False have enough probability."""


class Judging:
    """A loaded juror. ``checked`` is its self-check: which scoring path it uses and how closely that agrees.
    ``masses`` are the probabilities of True and False (of yes and no) together, and ``contradictions`` say whether an
    answer of a server contradicts itself, both in the order of the verdicts."""

    def __init__(self, engine: Engine, prompts: Sequence[Prompt], checked: SelfCheck) -> None:
        self.engine = engine
        self.prompts = prompts
        self.checked = checked
        self.masses: list[float] = []
        self.contradictions: list[bool] = []

    @property
    def missing(self) -> Mapping[str, NoAnswer]:
        """The answers on which a server gives no verdict, by their ids."""
        return missing_of(self.engine)

    def verdicts(self) -> Iterator[tuple[str, Verdict]]:
        """The id of each answer with (p_true, p_false), batch by batch, in any order."""
        try:
            for batch in self.engine.score(self.prompts):
                self.masses += masses_of(batch)
                so_far = getattr(self.engine, "counted", {}).get("contradictions", 0)  # a decision is a batch
                self.contradictions += [so_far > sum(self.contradictions)] * len(batch.ids)
                shares, _ = option_shares(batch)
                yield from ((name, (float(p), float(q))) for name, (p, q) in zip(batch.ids, shares, strict=True))
        finally:
            _close(self.engine)


def masses_of(batch: OptionLogits) -> list[float]:
    """The probabilities of a batch's two options together; where options have shares, it is what a server tells."""
    together = np.exp(batch.logits.astype(np.float64)).sum(axis=1)
    return [float(mass) for mass in np.fmin(together, batch.letter_mass)]


def doubt(juror: str, masses: Sequence[float], contradictions: int = 0) -> str:
    """What a reader of a juror's verdicts must know if these are no answers, or contradict themselves; mostly empty.

    ``masses`` are the probabilities of both together, one for each verdict, and ``contradictions`` how many answers
    contradict themselves.
    """
    sentences = []
    mass = float(np.median(masses)) if masses else 1.0
    if mass < LEAST:
        sentences.append(
            f"{juror} gives both verdicts together {share_text(mass)} of the probability (median), so its verdicts "
            "are no answers; tune it first, or choose another juror."
        )
    if contradictions:
        sentences.append(
            f"{juror} contradicts itself in {contradictions:,} answer{'s' * (contradictions != 1)}: yes has a second "
            "probability that differs, or the choice is not the more probable of yes and no. Its verdicts go by the "
            "probability of yes."
        )
    return " ".join(sentences)


def judge(
    model: str,
    answers: Sequence[tuple[str, str, str]],
    *,
    dtype: str,
    key_variable: str = "",
    timeout_s: float = TIMEOUT_S,
    spending: Spending | None = None,
    on_wait: Callable[[str], None] = lambda reason: None,
    on_server: Callable[[ServerEngine], None] = lambda engine: None,
    decides: bool | None = None,
) -> Judging:
    """Load a juror, which may be on a server (``NAME@URL``), for answers (id, question, answer).

    A server that scores texts and also answers decisions is asked for decisions if True and False are no answers of the
    model after a text; ``decides`` says whether it was at an earlier try, whose verdicts must be of one kind with these
    (None: there was none). ``key_variable`` and what follows are the arguments of
    :func:`~core.models.engine_factory.load_served_juror`; ``on_server`` is given the engine of a model on a server
    before it is asked.

    Raises :class:`~core.errors.InputError` if it can't be loaded, or was tuned on other weights of its base model.
    """
    engine: Engine
    if there := served_model(model):
        how: dict[str, Any] = {
            "url": there.url,
            "key_variable": key_variable,
            "timeout_s": timeout_s,
            "spending": spending,
            "on_wait": on_wait,
        }
        served = engine = _served_juror(there, answers, decides=decides, how=how)
    else:
        served, engine = None, load_engine(model, dtype=dtype)
    form = served.decisions if served else ""
    prompts = [verdict_request(*each, form=form) if form else verdict_prompt(*each) for each in answers]
    try:
        if served:
            on_server(served)
        elif clause := engine.description.get("other_base"):
            raise InputError(f"{clause}; put those weights back, or tune the juror again")
        engine.prepare(prompts)
        try:
            checked = engine.self_check(prompts)
        except (ServerError, SelfCheckError) as error:
            if not form or isinstance(error, RunPaused):
                raise
            # Some servers know no yes-or-no questions, and some models hardly answer by these words.
            prompts = [verdict_request(*each, form=form, as_choice=True) for each in answers]
            engine.prepare(prompts)
            checked = engine.self_check(prompts)
        return Judging(engine, prompts, checked)
    except BaseException:
        _close(engine)
        raise


def _served_juror(
    there: ServedModel, answers: Sequence[tuple[str, str, str]], *, decides: bool | None, how: Mapping[str, Any]
) -> ServerEngine:
    """The engine of a juror on a server, by texts or for decisions (:func:`judge`)."""
    served = load_served_juror(there.name, **how)
    deciding: ServerEngine | None = None
    try:
        if served.decisions or decides is False:
            return served
        try:
            deciding = load_deciding_juror(there.name, **how)
        except ServerError:  # some servers refuse a path that they do not know as if the key were wrong
            if decides:
                raise
        if decides and not deciding:
            raise InputError(
                f"the server {there.url} answered decisions when this jury's first verdicts were given, and does not "
                "now; start it as it was, or make the jury again with another seed"
            )
        if deciding and (decides or not _answers_after_texts(served, answers)):
            served, deciding = deciding, served
    except BaseException:
        served.close()
        raise
    finally:
        if deciding:
            deciding.close()
    return served


def _answers_after_texts(engine: ServerEngine, answers: Sequence[tuple[str, str, str]]) -> bool:
    """Whether True and False have enough probability after the texts of a few answers."""
    few = [verdict_prompt(*each) for each in answers[:: max(1, len(answers) // FEW)][:FEW]]
    try:
        engine.prepare(few)
        engine.self_check(few)
        masses = [mass for batch in engine.score(few) for mass in masses_of(batch)]
    except (InputError, RunError):
        return True  # asking for all answers will fail in the same way, and says why
    return not masses or float(np.median(masses)) >= LEAST


def _close(engine: Engine) -> None:
    getattr(engine, "close", lambda: None)()  # a server's has connections
