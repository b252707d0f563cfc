"""Makes the recorded runs of the pocket models, which ship in ``assets/runs`` and share their questions.

They are ordinary runs, by the same code as anyone's; ``python -m core run`` with the same words repeats them.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from core.errors import InputError
from core.models.perplexity import choices, conversations
from core.models.perplexity.prompts import SHIPPED
from core.models.perplexity.request import Request
from core.questions.prompting.strategies import STRATEGIES
from core.runs.execution import perplexity_run
from core.runs.execution.execute import execute
from core.runs.shared_questions import FOLDER as SHARED
from core.runs.shared_questions import questions_file, share
from core.runs.spec import RunSpec
from core.settings import ASSETS, settings
from pocket_world.bank import BANK_TASKS
from pocket_world.publish import record_fingerprints

FOLDER = ASSETS / "runs"
KEPT = ("run.json", "questions.parquet", "logits.parquet", "bare.parquet", "log.txt")
KEPT_OF_WORDS = ("run.json", "request.json", "losses.parquet", "log.txt")

WITH_SHOTS = "pocket-8m"
SHOTS = (1, 2, 5)


def recorded_specs(model: str, tasks: Sequence[str] = BANK_TASKS) -> tuple[RunSpec, ...]:
    """What a model is recorded for: all questions of each task by letter, and those of ``qa`` by cloze.

    :data:`WITH_SHOTS` is recorded under every strategy, with the shots of :data:`SHOTS` in both forms of ``qa``, and
    once in bfloat16. Of other models these would tell no more.
    """
    chosen = model == WITH_SHOTS
    specs = []
    for task in tasks:
        strategies = STRATEGIES if chosen else ("base",)
        specs += [RunSpec(model=model, task=task, strategy=strategy) for strategy in strategies]
        if task != "qa":
            continue
        specs.append(RunSpec(model=model, task=task, form="cloze"))
        if chosen:
            specs.append(RunSpec(model=model, task=task, dtype="bfloat16"))
            asked = [(form, shots) for form in ("letters", "cloze") for shots in SHOTS]
            specs += [RunSpec(model=model, task=task, form=form, shots=shots) for form, shots in asked]
    return tuple(specs)


def words_spec(model: str) -> RunSpec:
    """The bundled conversations and choices, word by word under every prompt that ships; its request goes into
    HEDGE_HOME."""
    request = Request(tuple(SHIPPED.values()), conversations.bundled(), choices.read(choices.BUNDLED))
    return perplexity_run.spec_of(request, model)


def record(model: str, *, tasks: Sequence[str] = BANK_TASKS, folder: Path = FOLDER) -> list[str]:
    """Execute the recorded runs of a model anew and put them into ``folder``; returns their ids.

    Raises :class:`InputError` for a task that is not in the bank.
    """
    for task in tasks:
        if task not in BANK_TASKS:
            raise InputError(f"unknown task {task!r}; choose from {', '.join(BANK_TASKS)}")
    record_fingerprints()
    with empty_home():
        ids = []
        for spec in (*recorded_specs(model, tasks), words_spec(model)):
            ids.append(execute(spec))
            target = folder / ids[-1]
            shutil.rmtree(target, ignore_errors=True)
            target.mkdir(parents=True)
            for name in KEPT if spec.answers else KEPT_OF_WORDS:
                if (settings().runs / ids[-1] / name).exists():
                    shutil.copyfile(settings().runs / ids[-1] / name, target / name)
            if spec.answers:
                share(target)
    return ids


def leave_out(model: str, *, folder: Path = FOLDER, shared: Path = SHARED) -> list[str]:
    """Delete runs of a model that it is no longer recorded for, and questions that no run shares any more."""
    with empty_home():
        kept = {spec.run_id for spec in (*recorded_specs(model), words_spec(model))}
    gone = []
    for path in sorted(folder.iterdir()):
        spec = RunSpec.from_json(json.loads((path / "run.json").read_text(encoding="utf-8"))["spec"])
        if spec.model == model and path.name not in kept:
            shutil.rmtree(path)
            gone.append(path.name)
    used = {questions_file(path).name for path in folder.iterdir()}
    for path in shared.glob("*.parquet"):
        if path.name not in used:
            path.unlink()
    return gone


@contextmanager
def empty_home() -> Iterator[None]:
    """An empty HEDGE_HOME, so that a run which was recorded before is executed again."""
    before = os.environ.get("HEDGE_HOME")
    with tempfile.TemporaryDirectory() as home:
        os.environ["HEDGE_HOME"] = home
        try:
            yield
        finally:
            os.environ.pop("HEDGE_HOME")
            if before is not None:
                os.environ["HEDGE_HOME"] = before
