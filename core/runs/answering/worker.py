"""The process that loads models and answers.

The queue, in its parent, sends a :class:`CustomQuestion`, a :class:`TokenText` or a model to load, and gets an
:class:`AnswerProgress` for each piece of news.

It asks the model exactly as a finished run asked its own questions: with the run's strategy, form, format,
demonstrations and precision. Before the first question, the engine checks itself as in a run and answers a few of the
run's calibration questions again. These answers must equal those that the run recorded; otherwise the run's calibration
is not valid for this model.
"""

import math
import os
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, fields
from functools import lru_cache
from multiprocessing.connection import Connection
from typing import Any

import numpy as np
import numpy.typing as npt

from core import access, extras
from core.errors import HedgeError, InputError
from core.models.engine import Engine, SelfCheck
from core.models.letter_mass import largest_mass
from core.models.model_sources import ModelSource, resolve
from core.models.out_of_memory import is_out_of_memory, out_of_memory
from core.models.server.left_out import missing_of
from core.models.server_address import ON_SERVERS, ServedModel, served_model
from core.processes.parent import Parent
from core.processes.program import return_memory
from core.questions.rotation import answers_only
from core.records import OptionLogits, Prompt, Question
from core.runs import store
from core.runs.answering.custom_question import AnswerProgress, CustomQuestion, ModelAnswer, write_answer
from core.runs.answering.model_cache import LoadedModel, ModelCache, download_watched, files_changed
from core.runs.answering.token_text import BY_TOKEN, TokenText, write_view
from core.runs.caveats import largest_variation
from core.runs.prompts import make_prompt
from core.runs.spec import RunSpec

NICENESS = 5
"""Lower than that of the pages and higher than that of runs, because a person waits for the answer."""
COMPARED = 3
"""The number of calibration questions that are asked again."""
SERVED_AGAIN_S = 60.0
"""Seconds after which they are asked again of a model on a server."""
TIMES_TOLERANCE = 3
SMALLEST_TOLERANCE = 1e-3
"""The largest allowed difference from a recorded answer: other processors add in another order."""

Report = Callable[..., None]
"""Called with a stage and the fields of :class:`AnswerProgress` that go with it."""


def main(connection: Connection) -> None:
    """Answer until the parent has gone."""
    parent = Parent(connection)
    access.work()
    os.nice(NICENESS)
    models = ModelCache()
    while True:
        match parent.receive():
            case (model, dtype):
                try:
                    models.warm((model, dtype))
                except Exception:  # the error is reported when the model is asked
                    traceback.print_exc()
            case question:
                _answer(question, models, parent)
        return_memory()  # loading a model takes more than the model keeps


def _answer(question: CustomQuestion | TokenText, models: ModelCache, parent: Parent) -> None:
    """Answer one question, or read one text, and report the result."""

    def report(stage: Any, **values: Any) -> None:
        parent.send(AnswerProgress(question.answer_id, stage, **values))

    try:
        with extras.missing_packages_explained():
            if isinstance(question, TokenText):
                loading_s = _read(question, models, report)
            else:
                given = answer(question, models, report)
                write_answer(given)
                loading_s = given.loading_s
    except HedgeError as error:
        report("failed", message=str(error))
    except Exception as error:
        traceback.print_exc()
        if is_out_of_memory(error):
            models.clear()
            report("failed", message=out_of_memory())
        else:
            reason = f"{type(error).__name__}: {str(error)[:300]}"
            report("failed", message=f"the model stopped with {reason}; logs/answers.log has the details")
    else:
        report("answered", seconds=loading_s)


def _read(text: TokenText, models: ModelCache, report: Report) -> float:
    """Read a text token by token and keep the view. Returns the seconds that loading the model took."""
    if there := served_model(text.model):
        report("answering")
        write_view(text, _served_view(there, text))
        return 0.0
    loading = _Loading(report)
    model = models.by_token(text.model, loading=loading)
    if text.version and model.weights != text.version:
        raise files_changed(text.model)
    report("answering")
    from core.models.adapters.token_view import view_tokens  # slow to import, and not needed for questions

    view = view_tokens(model.loaded, text.text)
    models.confirm((text.model, BY_TOKEN))
    write_view(text, view)
    return loading.seconds


def _served_view(there: ServedModel, text: TokenText) -> dict[str, Any]:
    # Imported here, with its HTTP client, which other models do not need.
    from core.models.server.connect import SOON, errors_in_words
    from core.models.server.token_view import view_served_tokens

    with errors_in_words([there.url], text.key_variable), access.acting_as(access.launcher(text.asker)):
        return view_served_tokens(there, text.text, key_variable=text.key_variable, weights=text.weights, patience=SOON)


class _Loading:
    """Reports that a model is being loaded, and the download of a model of the hub; ``seconds`` is what it took."""

    def __init__(self, report: Report, source: ModelSource | None = None) -> None:
        self.report = report
        self.source = source
        self.seconds = 0.0

    @contextmanager
    def __call__(self) -> Iterator[None]:
        self.report("loading")
        start = time.perf_counter()
        with download_watched(self.source, self._downloaded) if self.source else nullcontext():
            yield
        self.seconds = time.perf_counter() - start

    def _downloaded(self, done: int, total: int) -> None:
        self.report("downloading" if done < total else "loading", done_bytes=done, total_bytes=total)


@dataclass(frozen=True, slots=True)
class RunSetup:
    """How a run asked its questions: its spec, the person who launched it, the task's name in its questions, its
    demonstrations, and a few of its calibration questions with their recorded logits (COMPARED, k)."""

    spec: RunSpec
    launched_by: str
    task: str
    demonstrations: tuple[Question, ...]
    compared: tuple[Question, ...]
    recorded: npt.NDArray[np.float32]
    varied: float = 0.0
    """How far the probabilities of identical requests for decisions lay apart at the end of the run."""


def setup_of(run_id: str) -> RunSetup:
    """How a finished run asked its questions. Raises :class:`InputError` if it has not finished, or if it was not run
    by Hedge."""
    record = store.read_record(run_id)
    if record.state != "done":
        raise InputError(
            f"run {record.run_id} is {store.STATE_WORDS[record.state]}; a set needs the calibration of a finished run"
        )
    store.check_computed(record)
    return _read_setup(record.run_id, record.ended or 0.0)


@lru_cache(maxsize=4)
def _read_setup(run_id: str, ended: float) -> RunSetup:
    """``ended`` distinguishes a repeated run from the earlier one."""
    record = store.read_record(run_id)
    rows = store.read_questions(run_id).to_pylist()
    demonstrations = [_question(row) for row in rows if row["role"] == "demonstration"]
    calibration = [_question(row) for row in rows if row["role"] == "calibration"]
    if not calibration:
        raise InputError(f"run {run_id} has no calibration questions; choose another run")
    compared = [calibration[i] for i in sorted({round(i) for i in np.linspace(0, len(calibration) - 1, COMPARED)})]
    scored = store.read_logits(run_id)
    row_of = {name: i for i, name in enumerate(scored.ids)}
    return RunSetup(
        spec=record.spec,
        launched_by=record.launched_by,
        task=calibration[0].task,
        demonstrations=tuple(demonstrations),
        compared=tuple(compared),
        recorded=scored.logits[[row_of[question.id] for question in compared]].astype(np.float32),
        varied=largest_variation(record.provenance),
    )


def _question(row: dict[str, Any]) -> Question:
    known = {field.name: row[field.name] for field in fields(Question) if field.name not in ("cluster", "ordered")}
    return Question(**known | {"options": tuple(row["options"]), "ordered": row.get("ordered") is True})


def answer(own: CustomQuestion, models: ModelCache, report: Report) -> ModelAnswer:
    """Answer one question, and report the progress to ``report(stage, **values)``. Raises a
    :class:`~core.errors.HedgeError` if it can't be answered.
    """
    asked_at = time.time()
    setup = setup_of(own.run_id)
    if setup.spec.servers or ON_SERVERS in own.model:
        with access.acting_as(access.launcher(setup.launched_by)):
            model, loading_s = _connected(own.model, setup, models, report)
        is_same = True
    else:
        source = resolve(own.model)
        loading = _Loading(report, source)
        model = models.get((own.model, setup.spec.dtype), loading=loading)
        loading_s = loading.seconds
        is_same = setup.spec.model in (own.model, source.location)
    question = own.as_question(setup.task, ordered=all(compared.ordered for compared in setup.compared))
    if setup.spec.asks_texts:
        question = answers_only(question)
    check = _checked(model, question, setup, report, compare=is_same)
    report("answering")
    start = time.perf_counter()
    with _in_words(setup.spec):
        scored, prompt, dropped = _score(model.engine, setup, question, own.model)
    milliseconds = 1000 * (time.perf_counter() - start)
    if not setup.spec.servers:
        models.confirm((own.model, setup.spec.dtype))
    return ModelAnswer(
        own=own,
        options=question.options,
        logits=tuple(float(value) for value in scored.logits[0]),
        letter_mass=float(largest_mass(scored)[0]),
        milliseconds=milliseconds,
        loading_s=loading_s,
        prompt=prompt.text,
        device=str(model.engine.description.get("device", "")),
        rung=check.rung,
        recorded_difference=model.difference,
        tolerance=max(SMALLEST_TOLERANCE, TIMES_TOLERANCE * check.tolerance) + setup.varied,
        dropped=dropped,
        asked_at=asked_at,
        weights=model.weights,
        bounded=() if scored.bounded is None or not scored.bounded.any() else tuple(map(bool, scored.bounded[0])),
        first=scored.top_tokens[0] if scored.top_tokens else "",
    )


def _connected(name: str, setup: RunSetup, models: ModelCache, report: Report) -> tuple[LoadedModel, float]:
    """A model that servers hold, and the seconds that asking what they can do took."""
    spec = setup.spec
    if name != spec.asked_model:
        raise InputError(
            f"this run asked {spec.asked_model}, and your question is for {name}; calibrate a model on "
            "a server by a run of its own"
        )
    # A connection holds a key, so it serves only runs that were allowed to use that key.
    key = (f"{name} · {spec.key_variable} · {setup.launched_by}", spec.dtype)
    loading = _Loading(report)

    def engine() -> Engine:
        from core.models.engine_factory import load_server_engine
        from core.models.server.connect import SOON

        return load_server_engine(
            spec.model,
            servers=spec.servers,
            key_variable=spec.key_variable,
            patience=SOON,
            timeout_s=spec.timeout_s,
            decisions=spec.decisions,
        )

    with _in_words(spec):
        return models.get(key, engine=engine, loading=loading), loading.seconds


@contextmanager
def _in_words(spec: RunSpec) -> Iterator[None]:
    """Errors of the run's servers, if it has any, as a person who asks one question reads them."""
    if not spec.servers:
        yield
        return
    from core.models.server.connect import errors_in_words  # imports an HTTP client that other models do not need

    with errors_in_words(spec.servers, spec.key_variable):
        yield


def _checked(model: LoadedModel, question: Question, setup: RunSetup, report: Report, *, compare: bool) -> SelfCheck:
    """Choose the engine's scoring path for prompts of this kind, once, and compare its answers to the run's own
    questions. This is done again now and then on a server, which may be restarted with other weights."""
    kind = (setup.spec.run_id, len(question.options), compare)
    is_recent = not setup.spec.servers or time.monotonic() - model.checked_at < SERVED_AGAIN_S
    if model.check and model.checked == kind and is_recent:
        return model.check
    report("checking")
    model.checked = ()
    engine = model.engine
    *others, prompt = [make_prompt(setup.spec, each, setup.demonstrations) for each in (*setup.compared, question)]
    with _in_words(setup.spec):
        engine.prepare(others)
        check = engine.self_check([*others, prompt])
    check.confirm()
    model.difference = _difference(engine, others, setup) if compare else math.nan
    model.check, model.checked, model.checked_at = check, kind, time.monotonic()
    return check


def _difference(engine: Engine, prompts: Sequence[Prompt], setup: RunSetup) -> float:
    """The largest difference in log-probability between now and then, or in probability if the run asked for decisions:
    their rounding and variation are those of a probability."""
    now = {name: row for batch in engine.score(prompts) for name, row in zip(batch.ids, batch.logits, strict=True)}
    answered = [i for i, prompt in enumerate(prompts) if prompt.question_id in now]  # a server may refuse one
    if not answered:
        return math.nan
    repeated = np.array([now[prompts[i].question_id] for i in answered], dtype=np.float64)
    recorded = setup.recorded[answered].astype(np.float64)
    if setup.spec.decisions:
        return float(np.abs(np.exp(repeated) - np.exp(recorded)).max())
    same = repeated == recorded  # the difference of two values of minus infinity is undefined
    return float(np.abs(np.where(same, 0.0, repeated - np.where(same, 0.0, recorded))).max())


def _score(engine: Engine, setup: RunSetup, question: Question, name: str) -> tuple[OptionLogits, Prompt, int]:
    """The question's scores, the prompt as it was asked, and how many demonstrations it lost.

    A run may cut a long context; a person's own question is asked whole or not at all.
    """
    shown = setup.demonstrations
    while True:
        prompt = make_prompt(setup.spec, question, shown)
        before = engine.description
        scored = next(iter(engine.score([prompt])), None)
        if scored is None:
            raise missing_of(engine)[prompt.question_id].error
        after = engine.description
        if after.get("truncated_prompts", 0) == before.get("truncated_prompts", 0):
            return scored, prompt, len(setup.demonstrations) - len(shown)
        dropped = after["dropped_demonstrations"] - before["dropped_demonstrations"]
        if not dropped:
            raise InputError(
                f"the question with its context and options is longer than the {after['context']} tokens that {name} "
                "reads at once; shorten it"
            )
        shown = shown[dropped:]
