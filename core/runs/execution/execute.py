"""Executes one run from start to end, in this process."""

from __future__ import annotations

import errno
import platform
import time
import traceback
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import IO, Any, TypeVar

import numpy as np
import numpy.typing as npt

from core.errors import HedgeError, RunBusyError, RunCancelled, RunError, SelfCheckError
from core.files.atomic import drop_parts
from core.files.file_lock import take
from core.files.tables import drop_chunks, finished_chunks, join_chunks
from core.inference.engine import Engine, SelfCheck
from core.inference.engine_factory import load_engine
from core.inference.models import resolve
from core.inference.out_of_memory import is_out_of_memory, out_of_memory
from core.records import OptionLogits, Prompt
from core.runs import banks, store
from core.runs.agent import liveness
from core.runs.execution import perplexity_run
from core.runs.execution.eta import RunRate
from core.runs.execution.generations import write_answers
from core.runs.execution.progress import IsCancelled, OnProgress, ProgressReporter
from core.runs.execution.unconditional import score_bare
from core.runs.juries import jury_pipeline
from core.runs.prompts import draw_questions, load_data, make_prompt, prompts
from core.runs.spec import RunSpec
from core.runs.store import RunRecord
from core.settings import settings
from core.tasks import bank
from core.tasks.split import Draw

Number = TypeVar("Number", bound=np.generic)


def execute(
    spec: RunSpec,
    *,
    cancelled: IsCancelled = lambda: False,
    on_progress: OnProgress = lambda progress: None,
    worker: str = "here",
) -> str:
    """Score the run's questions and write its folder; go on where an earlier try stopped.

    Only one process executes a run at a time (a lock on the run's folder); a second one raises
    :class:`~core.errors.RunBusyError` at once and changes nothing. ``cancelled`` is asked between batches and
    around loading.

    Returns the run id. Raises :class:`~core.errors.RunCancelled` if a person stopped it, another
    :class:`~core.errors.HedgeError` where it failed; ``run.json`` says so either way, unless the disk is so full that
    it can't be written.
    """
    try:
        return _execute(spec, cancelled, on_progress, worker)
    except OSError as error:  # out of writing down how the run ended
        raise RunError(_in_words(error)) from error


def _execute(spec: RunSpec, cancelled: IsCancelled, on_progress: OnProgress, worker: str) -> str:
    folder = settings().runs / spec.run_id
    if not (folder / "run.json").exists():
        preflight(spec)
        store.create(RunRecord(spec=spec, state="queued", created=time.time()))
    with _locked(folder):
        if store.read_record(spec.run_id).state == "done":
            return spec.run_id
        reporter = ProgressReporter(folder, cancelled=cancelled, on_progress=on_progress, worker=worker)
        try:
            if spec.answers:
                _Execution(spec, folder, reporter).run()
            else:
                _end(spec, folder, "done", "", **_perform(spec, folder, reporter))
        except (RunCancelled, KeyboardInterrupt):
            _end(spec, folder, "cancelled", "Cancelled; resume it to continue with what is missing.")
            raise RunCancelled(f"run {spec.run_id} was cancelled; `resume` continues with what is missing") from None
        except HedgeError as error:
            _end(spec, folder, "failed", str(error))
            raise
        except Exception as error:
            sentence = _in_words(error)
            if not isinstance(error, OSError):
                store.log(folder, traceback.format_exc())
            _end(spec, folder, "failed", sentence)
            raise RunError(sentence) from error
    return spec.run_id


def _perform(spec: RunSpec, folder: Path, reporter: ProgressReporter) -> dict[str, Any]:
    """Execute a run of another kind. Returns its provenance for ``run.json``."""
    if spec.makes_jury:
        from core.runs.juries import jury_stages  # which brings pandas along

        return jury_stages.perform(spec, folder, reporter)
    return perplexity_run.perform(spec, folder, reporter)


def preflight(spec: RunSpec) -> None:
    """Check, before anything is written, whether the run can start.

    Raises :class:`~core.errors.InputError` for an unknown model or task, a folder that holds no model, or a split
    with an empty side. Loads no model.
    """
    if spec.answers:
        draw_questions(spec)
    elif spec.makes_jury:
        jury_pipeline.of_run(spec)
    else:
        perplexity_run.read_request(spec)
    resolve(spec.model)


def cut_short(engine: dict[str, Any]) -> str:
    """What an engine's description says about prompts that were too long for its model; empty if none was."""
    cut, dropped = engine.get("truncated_prompts", 0), engine.get("dropped_demonstrations", 0)
    if not cut:
        return ""
    return (
        f"prompts longer than the {engine['context']:,} tokens that the model reads: {cut:,}, which lost {dropped:,} "
        "demonstrations and the beginnings of their contexts; ask with fewer shots, or choose a model that reads more"
    )


class _Execution:
    """One attempt at a run."""

    def __init__(self, spec: RunSpec, folder: Path, reporter: ProgressReporter) -> None:
        self.spec = spec
        self.folder = folder
        self.data = load_data(spec)
        self.drawn = draw_questions(spec, self.data)
        self.reporter = reporter
        self.reporter.total = len(self.drawn.scored)

    def run(self) -> None:
        self._begin()
        self.reporter.report("loading the model")
        engine = load_engine(self.spec.model, dtype=self.spec.dtype, batch_size=self.spec.batch_size)
        self.reporter.stop_if_cancelled()
        asked = prompts(self.spec, self.drawn)
        if self.spec.asks_texts:
            self.reporter.report("scoring the options on their own")
            score_bare(engine, asked, self.folder, checked=self._checked, tell=self.reporter.stop_if_cancelled)
        engine.prepare(asked)
        if shortened := cut_short(engine.description):
            store.log(self.folder, shortened)
        self.reporter.report("checking itself")
        check = self._checked(engine, asked)
        seconds = self._score(engine, asked, self._chunk(engine))
        if self.spec.repeats:
            self._write(engine)
        join_chunks(self.folder, "logits.parquet")
        _end(self.spec, self.folder, "done", "", **_provenance(engine, check, self.drawn, asked, seconds))

    def _begin(self) -> None:
        drop_parts(self.folder)
        before = store.read_record(self.spec.run_id).provenance
        data = bank.fingerprint(self.drawn.questions)
        if finished_chunks(self.folder) and before.get("data_fingerprint") != data:
            drop_chunks(self.folder)
            store.drop_bare(self.folder)
            store.log(self.folder, "the questions have changed since the last try, which is dropped")
        store.update_record(
            self.spec.run_id,
            state="running",
            started=time.time(),
            ended=None,
            message="",
            provenance=before
            | {
                "data_fingerprint": data,
                "data": {
                    "source": self.data.source,
                    "left_out": self.data.left_out,
                    "alike": self.drawn.alike,
                },
                "bank": banks.described(self.spec, {}, self.drawn.questions, self.drawn.roles),
            },
        )
        store.log(self.folder, f"{self.reporter.worker} begins: {self.reporter.total} prompts")
        store.write_questions(self.folder, self.drawn.questions, self.drawn.roles)

    def _checked(self, engine: Engine, prompts: Sequence[Prompt]) -> SelfCheck:
        check = engine.self_check(prompts)
        if not check.passed:
            raise SelfCheckError(
                f"batched and one-by-one scoring of {check.questions} questions differ by "
                f"{check.largest_difference:.3g} in log-probability, more than {check.tolerance:g}; "
                "the run was stopped before its first question, and this model's scores can't be trusted here"
            )
        for reason in check.refused:
            store.log(self.folder, f"self-check refused {reason}")
        by = f" by {check.rung}" if check.rung else ""
        store.log(self.folder, f"self-check passed{by}: {check.largest_difference:.2e} of {check.tolerance:g}")
        return check

    def _chunk(self, engine: Engine) -> int:
        """Questions per chunk, which a killed worker loses at most: as in the try that this one continues."""
        before: int | None = store.read_record(self.spec.run_id).provenance.get("chunk")
        if before and finished_chunks(self.folder):
            return before
        record = store.read_record(self.spec.run_id)
        store.update_record(
            self.spec.run_id, provenance=record.provenance | {"chunk": engine.chunk, "engine": engine.description}
        )
        return engine.chunk

    def _score(self, engine: Engine, prompts: list[Prompt], size: int) -> float:
        """Score the chunks that are missing; returns the seconds it took."""
        chunks = [prompts[i : i + size] for i in range(0, len(prompts), size)]
        finished = set(finished_chunks(self.folder))
        missing = [i for i in range(len(chunks)) if i not in finished]
        self.reporter.done = sum(len(chunks[i]) for i in finished)
        if finished:
            store.log(self.folder, f"goes on after {self.reporter.done} questions that an earlier try finished")
        speed = RunRate(sum(len(p.text) for i in missing for p in chunks[i]))
        for i in missing:
            batches = []
            for batch in engine.score(chunks[i]):
                batches.append(batch)
                self.reporter.done += len(batch.ids)
                speed.add(len(batch.ids), _characters(chunks[i], batch))
                self.reporter.report("scoring", rate=speed.rate, remaining_s=speed.remaining_s)
            store.write_chunk(self.folder, i, _in_order(chunks[i], batches, k=max(p.k for p in prompts)))
        return speed.seconds

    def _write(self, engine: Engine) -> None:
        """The answers in the model's own words to the test questions."""
        test = [q for q, role in zip(self.drawn.questions, self.drawn.roles, strict=True) if role == "test"]
        asked = [(q, make_prompt(self.spec, q, self.drawn.demonstrations)) for q in test]

        def tell(done: int) -> None:
            self.reporter.report(f"writing answers, {done:,} of {len(asked):,}")

        write_answers(engine, asked, self.folder, repeats=self.spec.repeats, seed=self.spec.seed, tell=tell)


def _characters(prompts: Sequence[Prompt], batch: OptionLogits) -> int:
    ids = set(batch.ids)
    return sum(len(p.text) for p in prompts if p.question_id in ids)


def _in_order(prompts: Sequence[Prompt], batches: Sequence[OptionLogits], *, k: int) -> OptionLogits:
    """The batches of one chunk as one, in the order of its prompts, with places for k options."""
    ids = [name for batch in batches for name in batch.ids]
    at = {name: i for i, name in enumerate(ids)}
    order = np.array([at[p.question_id] for p in prompts], dtype=np.int64)
    counts = [_wide(batch.option_tokens, k, 0) for batch in batches if batch.option_tokens is not None]
    tops = [text for batch in batches for text in batch.top_tokens or ()]
    return OptionLogits(
        ids=tuple(ids[i] for i in order),
        logits=np.concatenate([_wide(batch.logits, k, -np.inf) for batch in batches])[order],
        letter_mass=np.concatenate([batch.letter_mass for batch in batches])[order],
        option_tokens=np.concatenate(counts)[order] if counts else None,
        top_tokens=tuple(tops[i] for i in order) if len(tops) == len(ids) else None,
    )


def _wide(rows: npt.NDArray[Number], k: int, fill: float) -> npt.NDArray[Number]:
    """Rows (n, few) as (n, k), with ``fill`` behind them."""
    return np.pad(rows, ((0, 0), (0, k - rows.shape[1])), constant_values=fill)


def _provenance(
    engine: Engine, check: SelfCheck, drawn: Draw, prompts: Sequence[Prompt], seconds: float
) -> dict[str, Any]:
    return {
        "engine": engine.description,
        "self_check": {
            "questions": check.questions,
            "largest_difference": check.largest_difference,
            "tolerance": check.tolerance,
            "rung": check.rung,
            "refused": list(check.refused),
        },
        "demonstrations": [q.id for q in drawn.demonstrations],
        "example_prompt": prompts[-1].text,
        "scoring_seconds": round(seconds, 3),
        "python": platform.python_version(),
        "host": platform.node(),
    }


def _end(spec: RunSpec, folder: Path, state: store.State, message: str, **provenance: Any) -> None:
    store.clear_progress(folder)  # first, for on a full disk its few bytes make room for how the run ended
    record = store.read_record(spec.run_id)
    store.write_record(
        folder,
        replace(
            record,
            state=state,
            message=message,
            ended=time.time(),
            provenance=record.provenance | provenance,
        ),
    )
    store.log(folder, f"{state}{': ' + message if message else ''}")


def _in_words(error: Exception) -> str:
    if isinstance(error, OSError) and error.errno == errno.ENOSPC:
        return "the disk is full; free some space, then resume the run"
    if isinstance(error, OSError) and error.errno in (errno.EACCES, errno.EROFS, errno.EPERM):
        return f"{error.filename} can't be written; make it writable, or set HEDGE_HOME to another folder"
    if is_out_of_memory(error):
        return out_of_memory()
    return f"the run stopped with {type(error).__name__}: {str(error)[:300]}; its log has the details"


def _locked(folder: Path) -> IO[str]:
    lock = take(liveness.run_lock(folder))
    if lock is None:
        raise RunBusyError(f"another process is working on run {folder.name}; wait for it or cancel it")
    return lock
