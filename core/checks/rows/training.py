"""A juror and an ARD-LoRA, each trained for 20 steps, stored, loaded again and used."""

import importlib.util
import math
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from core.checks.outcome import CheckOutcome, Figure, NotHereError, Place
from core.models.imports import language_models

MODEL = "pocket-1m"
STEPS = 20
ROWS = 16
TEXTS = 20
"""Texts of an ARD-LoRA: each epoch is one step of sixteen of them, so that 20 steps see the same texts and the loss
falls beyond its noise."""
RATE = 1e-2
JUDGED = 8
LAST = 5


def juror(place: Place) -> CheckOutcome:
    """A juror in float32."""
    return _juror("float32")


def qlora(place: Place) -> CheckOutcome:
    """A juror over a model in 4 bits."""
    if importlib.util.find_spec("bitsandbytes") is None:
        raise NotHereError("QLoRA needs the package bitsandbytes, which is not installed here.")
    return _juror("int4")


def _juror(dtype: str) -> CheckOutcome:
    language_models()
    from core.models.adapters.juror import Example, Tuning, fine_tune
    from core.models.verdicts import judge
    from core.questions import trivia

    known = trivia.read(trivia.BUNDLED)[: 4 * ROWS]
    right = [Example(question.question, question.normalized_aliases[0], True) for question in known]
    wrong = [
        Example(question.question, other.normalized_aliases[0], False)
        for question, other in zip(known, [*known[1:], known[0]], strict=True)
    ]
    with TemporaryDirectory() as folder:
        losses = fine_tune(MODEL, [*right, *wrong], Path(folder), Tuning(steps=STEPS, rows=ROWS), dtype=dtype)
        answers = [(str(i), question.question, question.answer) for i, question in enumerate(right[:JUDGED])]
        verdicts = dict(judge(folder, answers, dtype=dtype).verdicts())
    sums = [p + q for p, q in verdicts.values()]
    whole = len(verdicts) == JUDGED and all(abs(total - 1) < 1e-6 for total in sums)
    return trained(losses, used="" if whole else "The stored juror does not judge.", what="It judges as stored.")


def ard_lora(place: Place) -> CheckOutcome:
    """An ARD-LoRA in float32."""
    language_models()
    from core.models.adapters import token_evaluation
    from core.models.adapters.texts import load_texts, tokenize
    from core.models.adapters.train import AdapterRecipe, AdapterTrainer
    from core.models.encoding import context_of
    from core.models.model_loading import load_model
    from core.models.model_sources import canonical, resolve

    recipe = AdapterRecipe(epochs=STEPS, rows=ROWS, rate=RATE)
    texts = load_texts("trivia")[:TEXTS]
    losses: list[float] = []
    with TemporaryDirectory() as folder:
        model, tokenizer = load_model(resolve(MODEL), dtype="float32")
        rows = tokenize(texts, tokenizer, context=context_of(model.config))
        trainer = AdapterTrainer(model, rows, recipe, folder=Path(folder), base=canonical(MODEL))
        trainer.run(lambda done, total, loss: losses.append(loss))
        stored = token_evaluation.load(folder)
        lacking = "" if stored.kind == "ard-lora" and stored.ranks else "The stored adapter has no ranks."
    active = trainer.progress.rows[-1].active
    return trained(losses, used=lacking, what=f"{active} ranks are active.")


def trained(losses: Sequence[float], *, used: str, what: str) -> CheckOutcome:
    """Whether a training went well: all steps, finite losses, the last ones below the first; ``used`` says what is
    wrong with what was stored, ``what`` what is right with it."""
    figures: dict[str, Figure] = {"steps": len(losses)}
    if len(losses) != STEPS:
        return CheckOutcome(False, f"{len(losses)} steps were made and not {STEPS}.", figures)
    if not all(map(math.isfinite, losses)):
        return CheckOutcome(False, "A loss is no finite number.", figures)
    first, last = sum(losses[:LAST]) / LAST, sum(losses[-LAST:]) / LAST
    figures |= {f"loss, mean of the first {LAST}": first, f"loss, mean of the last {LAST}": last}
    if not last < first:
        return CheckOutcome(False, f"The loss did not fall: {first:.3f} at first, {last:.3f} at the end.", figures)
    if used:
        return CheckOutcome(False, used, figures)
    return CheckOutcome(True, f"{STEPS} steps: the loss fell from {first:.3f} to {last:.3f}. {what}", figures)
