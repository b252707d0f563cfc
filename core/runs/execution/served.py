"""Runs whose model is on servers: their engine, and whether a server still holds the weights of a finished run."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

from core import access
from core.errors import HedgeError, InputError, UnreadableRunError
from core.models.engine_factory import load_server_engine
from core.models.server.spending import Spending
from core.models.server_address import ServedWeights
from core.runs import store
from core.runs.caveats import largest_variation
from core.runs.execution.progress import ProgressReporter
from core.runs.model_files import recorded_weights
from core.runs.spec import RunSpec

if TYPE_CHECKING:
    from core.models.server.engine import ServerEngine


def check_finished(specs: Sequence[RunSpec]) -> list[str]:
    """Raise :class:`~core.errors.InputError` if one of these runs is done and its servers now hold other weights under
    the same name, because the stored figures are not theirs. Each model is asked once. Returns a sentence for each
    model that could not be asked.
    """
    stored, now, notes = set(store.run_ids()), dict[object, ServedWeights | None](), []
    for spec in specs:
        if not spec.servers or spec.run_id not in stored:
            continue
        try:
            record = store.read_record(spec.run_id)
        except UnreadableRunError:  # executing it says so, and the others are executed
            continue
        before = recorded_weights(record)
        if record.state != "done" or before is None:
            continue
        model = spec.asked_model, spec.key_variable
        if model not in now:
            from core.models.server.connect import (
                abilities_of,
            )  # imports aiohttp, which runs without a server don't need

            try:
                now[model] = abilities_of(
                    spec.model,
                    spec.servers,
                    key=spec.key_variable,
                    lists_needed=not spec.picks,
                    decisions=spec.decisions,
                ).weights
            except HedgeError as error:
                now[model] = None
                notes.append(
                    f"run {record.run_id} is done, and whether {spec.servers[0]} still holds the same weights of "
                    f"{spec.model} can't be checked: {error}"
                )
        if weights := now[model]:
            before.check_still(
                weights.moved(before, largest_variation(record.provenance)),
                model=spec.model,
                url=spec.servers[0],
                since=f"run {record.run_id} asked it",
                way_out="delete that run first, or take another seed (--seed)",
            )
    return notes


@contextmanager
def _picks_offered(spec: RunSpec) -> Iterator[None]:
    """Names the other way to ask a server that gives no log-probabilities."""
    from core.models.server.abilities import NoListsError

    try:
        yield
    except NoListsError as error:
        if spec.form != "letters":
            raise
        raise InputError(
            f"{error}; or ask it for picks (--picks 20), whose frequencies stand for probabilities"
        ) from error


@contextmanager
def server_engine(spec: RunSpec, reporter: ProgressReporter) -> Iterator[ServerEngine]:
    """The engine that asks the run's servers. At its end connections are closed, and what was paid is noted.

    A run begins only when all of its servers can be reached. At its end they must still hold the weights of its
    beginning, or its answers are deleted. Raises :class:`~core.errors.InputError` if an earlier try
    has results of other weights.
    """
    record = store.read_record(spec.run_id)
    begun = (store.folder_of(spec.run_id) / "chunks").exists()
    with access.acting_as(access.launcher(record.launched_by)), _picks_offered(spec):
        engine = load_server_engine(
            spec.model,
            servers=spec.servers,
            key_variable=spec.key_variable,
            spending=Spending(spec.price, record.spent),
            timeout_s=spec.timeout_s,
            all_needed=not begun,
            picks=spec.picks,
            decisions=spec.decisions,
            on_wait=reporter.wait_for_server,
        )
    with closing(engine):
        for url, used in engine.client.corrected.items():
            reporter.log(f"the address {url} is used as {used}")
        for url in set(spec.servers) - set(engine.client.urls) - engine.client.corrected.keys():
            reporter.log(f"the server {url} can't be reached; the others do its work")
        if begun:
            earlier = record.provenance.get("engine", {})
            engine.check_weights(earlier)
            engine.take_counted(earlier)
        else:
            store.note(spec.run_id, engine=engine.description)
        try:
            yield engine
            try:
                engine.check_same_weights()
            except InputError:
                shutil.rmtree(store.folder_of(spec.run_id) / "chunks", ignore_errors=True)
                (store.folder_of(spec.run_id) / store.BARE).unlink(missing_ok=True)
                raise
        finally:
            note_progress(spec.run_id, engine)


def note_progress(run_id: str, engine: ServerEngine) -> None:
    """Note what was paid, and what is counted for caveats: a later try continues from it."""
    described = store.read_record(run_id).provenance.get("engine", {}) | engine.counted
    store.note(run_id, spent=engine.client.spending.tokens, **({"engine": described} if described else {}))
