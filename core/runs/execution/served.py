"""The engine of a run whose model is on servers: it says what it waits for, and what the servers were paid is kept."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

from core import access
from core.inference.engine_factory import load_server_engine
from core.inference.server.spending import Spending
from core.runs import store
from core.runs.execution.progress import ProgressReporter
from core.runs.spec import RunSpec

if TYPE_CHECKING:
    from core.inference.server.engine import ServerEngine


@contextmanager
def server_engine(spec: RunSpec, reporter: ProgressReporter, *, all_needed: bool = True) -> Iterator[ServerEngine]:
    """The engine that asks the run's servers. At its end connections are closed, and what was paid is noted.

    ``all_needed`` refuses to begin while one of the servers can't be reached.
    """
    record = store.read_record(spec.run_id)
    with access.acting_as(access.launcher(record.launched_by)):
        engine = load_server_engine(
            spec.model,
            servers=spec.servers,
            key_variable=spec.key_variable,
            spending=Spending(spec.price, record.spent),
            timeout_s=spec.timeout_s,
            all_needed=all_needed,
            on_wait=reporter.wait_for_server,
        )
    with closing(engine):
        for url, used in engine.client.corrected.items():
            reporter.log(f"the address {url} is used as {used}")
        for url in set(spec.servers) - set(engine.client.urls) - engine.client.corrected.keys():
            reporter.log(f"the server {url} can't be reached; the others do its work")
        try:
            yield engine
        finally:
            store.note(spec.run_id, spent=engine.client.spending.tokens)
