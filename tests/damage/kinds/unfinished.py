"""Runs that were stopped and are continued: each equals one that was never stopped, whatever was damaged."""

import contextlib
import importlib
import itertools
import json
import shutil
import socket
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from unittest.mock import patch

from core.errors import RunCancelled
from core.models.perplexity import conversation_files
from core.models.perplexity.prompts import EMPTY, FITTING
from core.models.perplexity.request import Request
from core.models.server import client
from core.reports import perplexity_results
from core.runs import store
from core.runs.execution import perplexity_run
from core.runs.execution.execute import execute
from core.runs.spec import RunSpec
from core.settings import settings
from tests.core.models.server.loopback import loopback_server
from tests.damage.kinds.common import TALK, Names, other_run
from tests.damage.looks import Look, Refused, command, listed, report, run
from tests.damage.tries import Kind

FAKE = RunSpec(model="fake", task="qa", samples=130, repeats=1)


def _stopped(spec: RunSpec, cancelled: Callable[[], bool]) -> Names:
    """Execute a run, keep what it makes, and execute it once more until it is ``cancelled``."""
    execute(spec)
    undisturbed = _content(spec.run_id)
    shutil.rmtree(settings().runs / spec.run_id)
    with contextlib.suppress(RunCancelled):
        execute(spec, cancelled=cancelled)
    assert store.read_record(spec.run_id).state == "cancelled"
    return {"run": spec.run_id, "undisturbed": undisturbed, "brook": other_run()}


def _content(run_id: str) -> str:
    """All that a run is read as, but for when and where it was executed."""
    if store.read_record(run_id).spec.measures_perplexity:
        perplexities = perplexity_results.read(run_id)
        return repr((perplexities.messages, perplexities.dropped, perplexities.notes))
    scored, written = store.read_logits(run_id), store.read_written(run_id)
    values = {"logits": scored.logits.tolist(), "ids": list(scored.ids)}
    return json.dumps(values | {"written": written.to_pylist() if written else []})


def _continued(names: Names, again: Callable[[], Any]) -> list[Look]:
    """The run is continued, and equals one that was never stopped."""

    def continued() -> Any:
        again()
        return _content(names["run"]) == names["undisturbed"] or _content(names["run"])

    files = (f"{names['run']}/run.json",)
    return [Look("continued", files, continued, central=True), report(names["brook"]), listed(names["brook"])]


def _unfinished() -> Names:
    asks = itertools.count()
    written = settings().runs / FAKE.run_id / "chunks" / store.WRITTEN
    return _stopped(FAKE, lambda: next(asks) > 45 and written.is_file())


def _of_unfinished(names: Names) -> list[Look]:
    return _continued(names, lambda: execute(FAKE))


SERVED = ("run", "--model", "pocket-3m", "--task", "qa", "--samples", "60")
SOON = client.Patience(answer_s=60, gone_s=0.3, tries=2, first_pause_s=0.01, longest_pause_s=0.05)


def _served() -> Names:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    importlib.import_module("core.models.server.connect")  # makes a Patience of its own
    with loopback_server(port=port) as server, patch.object(client, "Patience", lambda: SOON):
        patch("core.models.server.engine.CHUNK", 10).start()
        (run_id,) = run(*SERVED, "--server", server.url)["runs"]
        undisturbed = _content(run_id)
        shutil.rmtree(settings().runs / run_id)
        server.reset(fault=lambda number: "cut" if number > 90 else "")
        with contextlib.suppress(Refused):
            run(*SERVED, "--server", server.url)
    assert list((settings().runs / run_id / "chunks").glob("part-*")), store.read_log(run_id)
    return {"run": run_id, "undisturbed": undisturbed, "port": str(port), "url": server.url, "brook": other_run()}


def _of_served(names: Names) -> list[Look]:
    (continued, *others) = _continued(names, command(*SERVED, "--server", names["url"]))

    def with_server() -> Any:
        with loopback_server(port=int(names["port"])):
            return continued.get()

    return [replace(continued, get=with_server), *others]


def _unfinished_perplexity() -> Names:
    talk = settings().home / "talk.txt"
    talk.parent.mkdir(parents=True, exist_ok=True)
    talk.write_text(TALK)
    talks = conversation_files.read(talk).conversations
    spec = perplexity_run.spec_of(Request((FITTING, EMPTY), tuple(talks)), "pocket-1m")
    chunks = settings().runs / spec.run_id / "chunks"
    return _stopped(spec, lambda: len(list(chunks.glob("*.parquet"))) >= 1) | {"talk": str(talk)}


def _of_unfinished_perplexity(names: Names) -> list[Look]:
    words = ("--model", "pocket-1m", "--prompt", "fitting", "empty", "--conversation", names["talk"])
    return _continued(names, command("perplexity", "run", *words))


KINDS = {
    "chunk": Kind(_unfinished, _of_unfinished, ("runs/*/chunks/*",)),
    "part": Kind(_served, _of_served, ("runs/pocket*/chunks/*",)),
    "perplexity chunk": Kind(_unfinished_perplexity, _of_unfinished_perplexity, ("runs/pocket*/chunks/*",)),
    "unfinished": Kind(_unfinished, _of_unfinished, ("runs/fake*/*.json", "runs/fake*/*.parquet")),
}
