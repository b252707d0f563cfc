"""Makes the recorded runs of the pocket models, which ship in ``assets/runs`` and share their questions.

They are ordinary runs, by the same code as anyone's; ``python -m core run`` with the same words repeats them.
"""

import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from core.conformal.probabilities import top_options
from core.models.model_fingerprint import SHIPPED as FINGERPRINTS
from core.models.model_fingerprint import fingerprint, shipped
from core.models.model_sources import bundled_adapters, bundled_models
from core.models.perplexity import choices, conversations
from core.models.perplexity.prompts import SHIPPED
from core.models.perplexity.request import Request
from core.questions.prompting.strategies import STRATEGIES
from core.reports import evaluation
from core.runs.execution import perplexity_run
from core.runs.execution.execute import execute
from core.runs.shared_questions import FOLDER as SHARED
from core.runs.shared_questions import questions_file, share
from core.runs.spec import RunSpec
from core.settings import ASSETS, settings
from pocket_world.bank import BANK_TASKS
from pocket_world.recipes import HUMBLE

FOLDER = ASSETS / "runs"
SHIPPED_FILES = (
    "run.json",
    "request.json",
    "questions.parquet",
    "logits.parquet",
    "bare.parquet",
    "losses.parquet",
    "log.txt",
)


def recorded_specs(model: str, tasks: Sequence[str] = BANK_TASKS) -> list[RunSpec]:
    """What a model is recorded for: all questions of each task by letter, and those of ``qa`` by cloze.

    pocket-8m is recorded under every strategy, with demonstrations in both forms of ``qa``, and once in bfloat16. Of
    other models these would tell no more. :data:`HUMBLE` differs from it in letters alone, and is recorded for these.
    """
    every_form = model == "pocket-8m"
    strategies = STRATEGIES if every_form else ("base",)
    specs = [RunSpec(model=model, task=task, strategy=strategy) for task in tasks for strategy in strategies]
    if "qa" in tasks and model != HUMBLE:
        forms = [(form, shots) for form in ("letters", "cloze") for shots in ((0, 1, 2, 5) if every_form else (0,))]
        specs += [RunSpec(model=model, task="qa", form=form, shots=shots) for form, shots in forms[1:]]
    if every_form:
        specs.append(RunSpec(model=model, task="qa", dtype="bfloat16"))
    return specs


def words_spec(model: str) -> RunSpec:
    """The bundled conversations and choices, word by word under every prompt that ships; its request goes into
    HEDGE_HOME."""
    request = Request(tuple(SHIPPED.values()), conversations.bundled(), choices.read(choices.BUNDLED))
    return perplexity_run.spec_of(request, model)


def record(model: str, *, folder: Path = FOLDER, shared: Path = SHARED) -> list[str]:
    """Execute the recorded runs of a model into ``folder``, in place of all that are there; returns their ids.

    Of the questions in ``shared`` those go that no run in ``folder`` has any more.
    """
    record_fingerprints()
    for path in folder.iterdir():
        if RunSpec.from_json(json.loads((path / "run.json").read_text(encoding="utf-8"))["spec"]).model == model:
            shutil.rmtree(path)
    with empty_home():
        words = [] if model == HUMBLE else [words_spec(model)]
        ids = [execute(spec) for spec in (*recorded_specs(model), *words)]
        for run_id in ids:
            executed, target = settings().runs / run_id, folder / run_id
            others = {path.name for path in executed.iterdir()} - {*SHIPPED_FILES}
            shutil.copytree(executed, target, ignore=shutil.ignore_patterns(*others))
            if (target / "questions.parquet").exists():
                share(target, shared=shared)
    used = {questions_file(path).name for path in folder.iterdir()}
    for path in shared.glob("*.parquet"):
        if path.name not in used:
            path.unlink()
    return ids


def record_all(model: str) -> str:
    """Execute all recorded runs of a model into ``assets/runs``; returns the accuracy of each."""
    record(model)
    runs = {spec.run_id: evaluation.load(spec.run_id) for spec in recorded_specs(model)}
    right = {run_id: (top_options(run.probabilities) == run.labels).mean() for run_id, run in runs.items()}
    return "\n".join(f"{run_id}: {accuracy:.1%}" for run_id, accuracy in right.items())


def record_fingerprints() -> None:
    """Write the fingerprints of the models and adapters that ship, by which a run notices that one was changed."""
    fingerprints = {name: fingerprint(name) for name in (*bundled_models(), *bundled_adapters())}
    if fingerprints != shipped():
        (ASSETS / "models" / FINGERPRINTS).write_text(json.dumps(fingerprints, indent=1) + "\n", encoding="utf-8")
        shipped.cache_clear()


@contextmanager
def empty_home() -> Iterator[None]:
    """An empty HEDGE_HOME, so that a run which was recorded before is executed again."""
    before = dict(os.environ)
    with tempfile.TemporaryDirectory() as home:
        os.environ["HEDGE_HOME"] = home
        try:
            yield
        finally:
            os.environ.clear()
            os.environ.update(before)
