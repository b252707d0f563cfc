"""Executes one run from start to end, in this process."""

from __future__ import annotations

import errno
import platform
import time
import traceback
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from core import access, extras
from core.errors import (
    BudgetReachedError,
    HedgeError,
    InputError,
    RunBusyError,
    RunCancelled,
    RunError,
    RunPaused,
)
from core.models import letter_mass, memory_estimate
from core.models.devices.fitting import check_fits
from core.models.devices.scorers import DeviceScorer
from core.models.devices.shared_scoring import SharedScoring, shared_devices
from core.models.devices.slots import Slot, slots
from core.models.engine import CUT_COUNTS, DatedEngine, Engine, RepeatableEngine, SelfCheck, cut_short
from core.models.engine_factory import load_engine
from core.models.model_sources import FAKE_MODEL, ModelSource, resolve
from core.models.out_of_memory import is_out_of_memory, out_of_memory
from core.models.server import permission
from core.models.server.left_out import UNANSWERED, missing_of
from core.models.server_address import check_key, served_model
from core.models.unconditional import score_bare
from core.questions import bank, bank_names
from core.questions.option_names import of_order
from core.questions.split import Draw, without
from core.records import OptionLogits, Prompt, joined
from core.runs import store
from core.runs.agent import liveness
from core.runs.caveats import PICKS, VARIATION, picked
from core.runs.execution import jury_run, perplexity_run
from core.runs.execution.chunks import ChunkPlan, ChunksAtWork
from core.runs.execution.progress import HERE, IsCancelled, OnProgress, ProgressReporter
from core.runs.execution.served import note_progress, server_engine
from core.runs.execution.written_run import write_answers
from core.runs.model_files import identified, resolved, unchanged
from core.runs.prompts import draw_questions, load_data, prompts
from core.runs.shared_questions import FILE as QUESTIONS_FILE
from core.runs.spec import JURY, PERPLEXITY, RunSpec
from core.runs.store import RunRecord
from core.settings import settings
from core.storage.file_lock import take
from core.storage.sealed import DamagedError, digest_of
from core.storage.tables import drop_chunks, finished_chunks, join_chunks, sound_chunks

if TYPE_CHECKING:
    from core.models.server.engine import ServerEngine


def execute(
    spec: RunSpec,
    *,
    cancelled: IsCancelled = lambda: False,
    on_progress: OnProgress = lambda progress: None,
    worker: str = "here",
) -> str:
    """Score the run's questions and write its folder, continuing where an earlier try stopped.

    Only one process executes a run at a time (a lock on the run's folder); a second one raises
    :class:`~core.errors.RunBusyError` at once and changes nothing. ``cancelled`` is called between batches and before
    and after loading.

    Returns the run id. Raises :class:`~core.errors.RunCancelled` if a person stopped it, :class:`RunPaused` if its
    server is gone or its budget is spent, another :class:`~core.errors.HedgeError` where it failed; ``run.json`` says
    so either way, unless the disk is so full that it can't be written.
    """
    try:
        return _execute(spec, cancelled, on_progress, worker)
    except OSError as error:  # raised while recording how the run ended
        raise RunError(in_words(error)) from error


def _execute(spec: RunSpec, cancelled: IsCancelled, on_progress: OnProgress, worker: str) -> str:
    folder = settings().runs / spec.run_id
    if not (folder / "run.json").exists():
        source = resolved(spec)
        (spec,) = identified([spec], source=source)
        folder = settings().runs / spec.run_id
        if not (folder / "run.json").exists():
            preflight(spec, source)
            check_memory(spec, slots(), source)
            store.create(RunRecord(spec=spec, state="queued", created=time.time()))
    lock = take(liveness.run_lock(folder))
    if lock is None:
        raise RunBusyError(f"another process is working on run {folder.name}; wait for it or cancel it")
    with lock:
        record = store.read_record(spec.run_id)
        if not access.is_worker():  # a person has just asked for this run, and named its servers
            store.check_same(spec, record)
            permission.check(spec.servers, spec.key_variable, launched_by=record.launched_by)
        if record.state == "done":
            drop_chunks(folder)  # of a worker that was killed right after it had recorded the end
            return spec.run_id
        if record.spec.to_json() != spec.to_json():  # budget and key may differ from those of the earlier try
            store.update_record(spec.run_id, spec=spec)
        reporter = ProgressReporter(folder, cancelled=cancelled, on_progress=on_progress, worker=worker)
        try:
            with extras.missing_packages_explained(), unchanged(spec, folder, reporter):
                provenance = kind_of(spec).perform(spec, folder, reporter)
            store.end(spec.run_id, "done", **provenance, python=platform.python_version(), host=platform.node())
            drop_chunks(folder)
        except (RunCancelled, KeyboardInterrupt):
            store.end(spec.run_id, "cancelled", store.CANCELLED)
            raise RunCancelled(f"run {spec.run_id} was cancelled; `resume` continues with what is missing") from None
        except RunPaused as error:
            reached = {"budget_reached": spec.budget} if isinstance(error, BudgetReachedError) else {}
            store.end(spec.run_id, "paused", str(error), **reached)
            raise
        except HedgeError as error:
            store.end(spec.run_id, "failed", str(error))
            raise
        except Exception as error:
            sentence = in_words(error)
            if not isinstance(error, OSError):
                store.log(folder, traceback.format_exc())
            store.end(spec.run_id, "failed", sentence)
            raise RunError(sentence) from error
    return spec.run_id


def preflight(spec: RunSpec, source: ModelSource | None = None) -> None:
    """Check, before anything is written, whether the run can start.

    Raises :class:`~core.errors.InputError` for an unknown model or task, a folder that holds no model, a split with an
    empty side, or a model of this machine where Hedge is installed without models. Loads no model. ``source`` is the
    resolved model, if the caller has it.
    """
    kind_of(spec).check(spec)
    if spec.picks and not spec.servers:
        raise InputError(
            "picks are for models on a server (--server): a model that is loaded here gives the probability of every "
            "option"
        )
    if spec.decisions and not spec.servers:
        raise InputError(f"the format {spec.decisions} is one of servers; give the server's address (--server)")
    if spec.servers:
        check_key(spec.key_variable)
    # The base model of a jury may be on a server, too.
    elif not served_model(spec.model) and (source or resolve(spec.model)).location != FAKE_MODEL:
        extras.need("models")


def check_memory(spec: RunSpec, devices: Sequence[Slot], source: ModelSource | None = None) -> float:
    """The GiB of memory that the run needs. Raises :class:`~core.errors.InputError` if none of these devices can hold
    it, or not the named one."""
    needed = memory_gib(spec, ask=True, source=source)
    check_fits(
        spec.model_name,
        devices,
        dtype=spec.dtype,
        device=spec.device,
        needs_gib=lambda dtype: needed if dtype == spec.dtype else memory_gib(replace(spec, dtype=dtype), ask=True),
    )
    return needed


def memory_gib(spec: RunSpec, *, ask: bool = False, source: ModelSource | None = None) -> float:
    """The GiB that the run's device must have; 0 if the model's size is unknown until it is loaded, or a server has
    it. ``ask`` lets the hub be asked for a size that is not known here."""
    if spec.servers:
        return 0.0
    return memory_estimate.memory_gib(kind_of(spec).models(spec), dtype=spec.dtype, ask=ask, source=source)


WATCHED = 4
"""The first questions whose letter mass is looked at."""


class _Execution:
    """One attempt at a run that answers questions."""

    def __init__(self, spec: RunSpec, folder: Path, reporter: ProgressReporter) -> None:
        self.spec = spec
        self.folder = folder
        self.data = load_data(spec)
        self.drawn = draw_questions(spec, self.data)
        self.reporter = reporter
        self.reporter.total = len(self.drawn.scored)
        self.first: list[OptionLogits] = []
        self.served: ServerEngine | None = None
        self.missing: dict[str, list[str]] = {}
        self.shared: SharedScoring | None = None
        self.plan = ChunkPlan((), 1, missing=self.missing, turned=False)

    def run(self) -> dict[str, Any]:
        self._begin()
        self.reporter.report("asking the server" if self.spec.servers else "loading the model")
        with self._loaded() as engine:
            return self._ask(engine)

    @contextmanager
    def _loaded(self) -> Iterator[Engine]:
        """The engine that scores the run."""
        spec = self.spec
        begun = (self.folder / "chunks").exists()
        earlier = store.read_record(spec.run_id).provenance.get("engine", {}) if begun else {}
        if not spec.servers:
            with self._shared() as self.shared:
                engine = load_engine(
                    spec.model,
                    dtype=spec.dtype,
                    batch_size=spec.batch_size,
                    device=self.shared.here if self.shared else self.reporter.device_of(spec),
                    fingerprint=spec.model_fingerprint,
                    report=self.reporter.report,
                )
                if isinstance(engine, DatedEngine):
                    engine.take_date(earlier)
                if self.shared:
                    self.shared.loaded()
                yield engine
            return
        with server_engine(spec, self.reporter) as engine:
            self.served = engine
            if self.spec.picks:
                engine.options = {question.id: question.options for question in self.drawn.scored}
                requests = len(self.drawn.scored) * self.spec.picks
                self.reporter.log(f"{self.spec.picks} picks a question are {requests:,} requests")
            yield engine

    def _shared(self) -> AbstractContextManager[SharedScoring | None]:
        """The devices that share the run's questions. A worker of the queue has one slot's devices."""
        if self.reporter.worker != HERE:
            return nullcontext()
        spec, devices = self.spec, slots()
        return shared_devices(
            spec.device,
            devices,
            self.reporter,
            start=partial(
                DeviceScorer,
                model=spec.model,
                dtype=spec.dtype,
                batch_size=spec.batch_size,
                fingerprint=spec.model_fingerprint,
            ),
            needs_gib=lambda: memory_gib(spec, ask=True),
            busy=lambda: liveness.busy_slots(devices),
        )

    def _note_progress(self) -> None:
        if self.served:
            note_progress(self.spec.run_id, self.served)

    def _ask(self, engine: Engine) -> dict[str, Any]:
        self.reporter.stop_if_cancelled()
        run_prompts = prompts(self.spec, self.drawn)
        self._prepare(engine, run_prompts)
        described = engine.description  # writing answers reads these prompts once more
        counts = {"asked": len(run_prompts)} | {name: described[name] for name in CUT_COUNTS if name in described}
        if shortened := cut_short(described, prompts=len(run_prompts)):
            self.reporter.log(shortened)
        self.reporter.report("checking itself")
        check = self._checked(engine, run_prompts)
        turned = bool(self.spec.rotations or self.spec.orders)
        self.plan = ChunkPlan(run_prompts, self._chunk(engine), missing=self.missing, turned=turned)
        measured = self._score(engine)
        self._note_missing(run_prompts)
        if self.spec.repeats:
            write_answers(
                engine,
                self.spec,
                self.drawn,
                self.folder,
                self.reporter,
                note=self._note_progress,
                left_out=self.served.left_out if self.served else None,
                missing=self.missing,
            )
            self._note_missing(run_prompts)
        self._join(engine, run_prompts)
        self._leave_out()
        measured |= self._varied(engine, run_prompts)
        return _provenance(engine, check, self.drawn, run_prompts) | {"prompts": counts} | measured | self._notes()

    def _prepare(self, engine: Engine, run_prompts: Sequence[Prompt]) -> None:
        """Prepare the engine for the prompts, and score their options on their own if that is missing or damaged."""
        if self.spec.asks_texts and not self._has_bare(run_prompts):
            self.reporter.report("scoring the options on their own")
            if bare := score_bare(engine, run_prompts, checked=self._checked, reporter=self.reporter):
                store.write_bare(self.folder, bare)
        engine.prepare(run_prompts)

    def _has_bare(self, run_prompts: Sequence[Prompt]) -> bool:
        """Whether the scores of the options on their own are there and right. A server may have left some out."""
        if not (self.folder / store.BARE).is_file():
            return False
        try:
            texts = {text for prompt in run_prompts for text in prompt.continuations}
            known = store.read_bare(self.spec.run_id).values()
            if self.spec.servers or (known and all(texts <= scores.keys() for scores in known)):
                return True
            reason = "it lacks options"
        except InputError as error:
            reason = getattr(error, "reason", str(error))
        self.reporter.log(f"{store.BARE} is damaged ({reason}); it is scored again")
        return False

    def _join(self, engine: Engine, run_prompts: Sequence[Prompt]) -> None:
        """Make one file of the chunks. A part that was damaged while the run was running is made again."""

        def repair() -> None:
            self.shared = None  # the few questions are scored by this process
            self._score(engine)
            self._note_missing(run_prompts)

        if (self.folder / store.BARE).is_file() and not self._has_bare(run_prompts):
            self._prepare(engine, run_prompts)
        try:
            digest_of(self.folder / QUESTIONS_FILE)
        except (OSError, DamagedError):
            store.write_questions(self.folder, self.drawn.questions, self.drawn.roles)
        join_chunks(self.folder, store.LOGITS, self.plan.answered(), fits=self.plan.misfit, repair=repair)

    def _notes(self) -> dict[str, Any]:
        """How many questions have letters with only an upper bound from the server, and the letter mass of the test
        questions if it is small."""
        scored = store.read_logits(self.spec.run_id)
        tests = {q.id for q, role in zip(self.drawn.questions, self.drawn.roles, strict=True) if role == "test"}
        notes = letter_mass.noted(scored, np.flatnonzero([name in tests for name in scored.ids]))
        if scored.bounded is not None:
            notes["bounded_questions"] = int(scored.bounded.any(axis=1).sum())
        if scored.samples is not None:
            notes[PICKS] = picked(scored.samples, unread=int((self.spec.picks - scored.samples).sum()))
        return notes

    def _varied(self, engine: Engine, run_prompts: Sequence[Prompt]) -> dict[str, Any]:
        """How much the answers of a server that decides vary between identical requests."""
        if not isinstance(engine, RepeatableEngine):
            return {}
        again = "asking some questions again"
        self.reporter.report(again)
        varied = engine.variation(
            [prompt for prompt in run_prompts if prompt.question_id not in self.missing],
            report=lambda done, total: self.reporter.report(f"{again}, {done} of {total} requests"),
        )
        self._note_progress()
        return {VARIATION: varied}

    def _note_missing(self, run_prompts: Sequence[Prompt]) -> None:
        """Note which questions the server did not answer, with the kind and the reason. A later try asks those again
        whose chunk is not finished yet."""
        missing = {
            name: [missing_answer.kind, missing_answer.reason]
            for name, missing_answer in missing_of(self.served).items()
        }
        for name, reason in (missing | self._without_options(run_prompts, missing)).items():
            question = self.plan.question(name)
            if question not in self.missing:
                self.reporter.log(f"question {name} is left out ({reason[0]}): {reason[1]}")
                self.missing[question] = reason
        if self.missing:
            store.note(self.spec.run_id, missing=dict(sorted(self.missing.items())))  # not in the order of arrival

    def _without_options(self, run_prompts: Sequence[Prompt], missing: Collection[str]) -> dict[str, list[str]]:
        """The other questions with an option that the server does not score on its own."""
        known = store.read_bare(self.spec.run_id).values() if self.served and self.spec.asks_texts else ()
        return {
            prompt.question_id: [UNANSWERED, "the server does not score one of its options on its own"]
            for prompt in run_prompts
            if prompt.question_id not in missing
            and any(text not in scores for scores in known for text in prompt.continuations)
        }

    def _leave_out(self) -> None:
        """Leave out the questions that the server did not answer, each with all orders of its options.

        Raises :class:`~core.errors.InputError` if no question is left on a side of the split.
        """
        if not self.missing:
            return
        self.drawn = without(self.drawn, self.missing)
        store.write_questions(self.folder, self.drawn.questions, self.drawn.roles)
        store.keep_logits(self.folder, [question.id for question in self.drawn.scored])

    def _begin(self) -> None:
        before = store.read_record(self.spec.run_id).provenance
        self.missing = dict(before.get("missing", {})) if finished_chunks(self.folder) else {}
        data = bank.fingerprint(self.drawn.questions)
        if (self.folder / "chunks").exists() and before.get("data_fingerprint") != data:
            drop_chunks(self.folder)
            (self.folder / store.BARE).unlink(missing_ok=True)
            self.missing = {}
            self.reporter.log("the questions have changed since the last try, which is dropped")
        self.reporter.begin(
            f"{self.reporter.total} prompts",
            data_fingerprint=data,
            data={"source": self.data.source, "left_out": self.data.left_out, "alike": self.drawn.alike},
            bank=bank_names.bank_record(self.spec, {}, self.drawn.questions, self.drawn.roles),
        )
        store.write_questions(self.folder, self.drawn.questions, self.drawn.roles)

    def _checked(self, engine: Engine, prompts: Sequence[Prompt]) -> SelfCheck:
        check = engine.self_check(prompts)
        check.confirm()
        for line in check.lines():
            self.reporter.log(line)
        return check

    def _chunk(self, engine: Engine) -> int:
        """Questions per chunk, the most that a killed worker loses; a continued run keeps this number."""
        before: int | None = store.read_record(self.spec.run_id).provenance.get("chunk")
        if before and finished_chunks(self.folder):
            return before
        store.note(self.spec.run_id, chunk=engine.chunk, engine=engine.description)
        return engine.chunk

    def _score(self, engine: Engine) -> dict[str, Any]:
        """Score the chunks that are missing or damaged; returns the seconds it took, and how much one device scored.

        A model that is here gets one chunk at a time. A server gets everything that is missing, because its requests
        in flight would run out at the end of each chunk. If a try stops, its results of unfinished chunks are kept.
        Devices that share the questions get everything that is missing, too, and none of them waits for another.
        """
        chunks = self.plan.chunks
        finished = set(sound_chunks(self.folder, fits=self.plan.misfit, log=self._say_damaged))
        missing = [i for i in range(len(chunks)) if i not in finished]
        look: dict[str, Any] = {"fits": self.plan.part_misfit, "log": self._say_damaged}
        begun = {i: part for i in missing if self.spec.servers and (part := store.read_part(self.folder, i, **look))}
        known = {name for part in begun.values() for name in part.ids}
        waiting = {i: [p for p in chunks[i] if p.question_id not in known] for i in missing}
        self.reporter.done = sum(map(len, chunks)) - sum(map(len, waiting.values()))
        if self.reporter.done:
            self.reporter.log(f"continues after {self.reporter.done} questions that an earlier try finished")
        self.reporter.expect(sum(len(p.text) for i in missing for p in waiting[i]))
        for together in [missing] if self.spec.servers or self.shared else [[i] for i in missing]:
            chunk_prompts = {i: chunks[i] for i in together}
            scoring = ChunksAtWork(
                self.folder, chunk_prompts, k=self.plan.k, begun=begun, served=bool(self.spec.servers)
            )
            try:
                characters = {p.question_id: len(p.text) for i in together for p in waiting[i]}
                for batch in self._scores(engine, [waiting[i] for i in together]):
                    if scoring.add(batch):
                        self._note_progress()
                    self._watch(batch)
                    self.reporter.devices = self.shared.device_count if self.shared else 1
                    self.reporter.advance(len(batch.ids), sum(characters[name] for name in batch.ids))
                scoring.finish()
            finally:
                if self.spec.servers:
                    scoring.keep()
        rate = self.reporter.rate
        measured: dict[str, Any] = {"scoring_seconds": round(rate.seconds, 3)}
        if self.shared is None:
            return measured | {"scored": {"questions": rate.questions, "characters": rate.read}}
        by_device = {"devices": dict(self.shared.questions)} if len(self.shared.questions) > 1 else {}
        return measured | {"scored": self.shared.scored_here} | by_device

    def _say_damaged(self, what: str) -> None:
        self.reporter.log(f"{what}; its questions are scored again")

    def _watch(self, batch: OptionLogits) -> None:
        """Look at the letter mass of the first questions: stop if the model begins with its reasoning, and say in the
        log if the letters are no answers. A server's has been looked at by the self-check, before it is paid."""
        if self.spec.servers or sum(len(earlier.ids) for earlier in self.first) >= WATCHED:
            return
        self.first.append(batch)
        names = [name for earlier in self.first for name in earlier.ids]
        mass = letter_mass.letter_mass(joined(self.first, names, k=self.plan.k)) if len(names) >= WATCHED else None
        if mass and mass.reasons_first:
            letter_mass.check_first(mass, chat=self.spec.prompt_format == "chat")
        if mass and mass.is_no_answer:
            self.reporter.log(f"the run will have no figures: {mass.without}")

    def _scores(self, engine: Engine, chunks: Sequence[Sequence[Prompt]]) -> Iterator[OptionLogits]:
        """The scores of these chunks, batch by batch, from one device or from several."""
        if self.shared:
            return self.shared.score(engine, chunks)
        return engine.score([prompt for chunk in chunks for prompt in chunk])


def _provenance(engine: Engine, check: SelfCheck, drawn: Draw, prompts: Sequence[Prompt]) -> dict[str, Any]:
    return {
        "engine": engine.description,
        "self_check": asdict(check),
        "demonstrations": [q.id for q in drawn.demonstrations],
        "example_prompt": prompts[-1].text,
        **of_order(drawn.scored),
    }


@dataclass(frozen=True, slots=True)
class RunKind:
    """A kind of run. ``check`` raises :class:`~core.errors.InputError` for what can't be executed, ``perform`` executes
    it and returns its provenance for ``run.json``, and ``models`` are those that it loads, one after another."""

    check: Callable[[RunSpec], object]
    perform: Callable[[RunSpec, Path, ProgressReporter], dict[str, Any]]
    models: Callable[[RunSpec], Sequence[str]] = lambda spec: [spec.model]


QUESTIONS = RunKind(draw_questions, lambda spec, folder, reporter: _Execution(spec, folder, reporter).run())
KINDS = {
    PERPLEXITY: RunKind(perplexity_run.read_request, perplexity_run.perform),
    JURY: RunKind(jury_run.read_request, jury_run.perform, lambda spec: jury_run.read_request(spec).models),
}
"""The kind of each form that answers no questions."""


def kind_of(spec: RunSpec) -> RunKind:
    """The kind of a run."""
    return KINDS.get(spec.form, QUESTIONS)


def in_words(error: Exception) -> str:
    """Why a run failed, as a sentence."""
    if isinstance(error, OSError) and error.errno == errno.ENOSPC:
        return "the disk is full; free some space, then resume the run"
    if isinstance(error, OSError) and error.errno in (errno.EACCES, errno.EROFS, errno.EPERM):
        return f"{error.filename} can't be written; make it writable, or set HEDGE_HOME to another folder"
    if is_out_of_memory(error):
        return out_of_memory()
    return f"the run stopped with {type(error).__name__}: {str(error)[:300]}; its log has the details"
