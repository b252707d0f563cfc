"""Which tests are quick: told from the folder of a test, its fixtures, what its file imports, and what it calls."""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import FunctionType
from typing import Any

from core.settings import ROOT

NOT_QUICK = {
    "tests/browser": "a browser and a server",
    "tests/pages": "the server's script runner",
    "tests/faults": "agents, workers and Postgres",
    "tests/simulation/test_simulation.py": "a minute of arithmetic",
    "tests/core/inference": "a model",
    "tests/core/adapters": "a model",
    "tests/core/verify": "models and processes of their own",
    "tests/pocket_world": "models and how they are trained",
    "tests/app/test_own_examples.py": "a model",
    "tests/app/test_precision_claim.py": "a model",
    "tests/app/test_arithmetic.py": "Node.js",
    "tests/core/answering/test_token_text.py": "a model",
    "tests/core/answering/test_model_cache.py": "a model",
    "tests/core/answering/test_worker.py": "a model",
    "tests/core/runs/execution/test_perplexity_run.py": "a model",
    "tests/core/runs/queue/test_run_queue.py": "Postgres",
    "tests/core/runs/test_backup.py": "Postgres",
    "tests/core/runs/test_engine.py": "agents and workers",
    "tests/core/confined": "processes with limits",
    "tests/core/exchange/dropped/test_apart.py": "processes with limits",
    "tests/core/shelf/test_network.py": "openssl",
    "tests/core/reports/prompting/test_experiments.py": "a model",
    "tests/core/test_cli.py": "a model",
    "tests/core/test_token_commands.py": "a model",
    "tests/core/exchange/test_lm_eval.py": "the harness and a model",
    "tests/core/exchange/test_inspect_log.py": "the harness and a model",
    "tests/hedge/test_inspect_scorer.py": "the harness",
    "tests/test_tools.py": "the type checker reads the whole tree",
    "tests/charts/test_figure_files.py": "many figures, drawn as files",
    "tests/charts/test_narrow_figures.py": "many figures, drawn as files",
    "tests/docs": "the manual is built in a process",
    "tests/core/test_exchange_commands.py": "every figure, drawn as a file",
    "tests/core/test_perplexity_commands.py": "a model",
    "core/inference": "torch",
    "core/adapters": "torch",
    "pocket_world": "torch",
}
"""Folders and files whose tests are not quick, and what they need."""

SLOW_IMPORTS = {"torch", "transformers", "safetensors", "playwright"}
"""A file that imports one of these starts a browser or loads a model."""

OWN = {"core", "app", "charts", "hedge", "pocket_world", "tests"}
IMPORT = re.compile(r"^( *)(?:from +([\w.]+) +import +(?:\(([^)]*)\)|(.*))|import +([\w.]+))", re.MULTILINE)

SLOW_FIXTURES = {
    "engine_home",
    "shared_home",
    "postgres",
    "fake_home",
    "start_server",
    "real_models",
    "real_data",
    "known_folder",
}
"""A test that asks for one of these starts an agent, a server or a worker, loads a model, or reads large files that do
not ship."""


STARTS_A_PROCESS = {"subprocess", "passed_tests"}
"""A test that uses one of these, itself or in a function of its file, starts Python, Node.js or a shell."""


def is_quick(path: Path, fixtures: set[str], test: Callable[..., Any] | None = None) -> bool:
    """Whether a test of a file, with these fixtures, needs no browser, server, worker, model or process of its own."""
    return may_be_quick(path) and not SLOW_FIXTURES & fixtures and not (test and starts_a_process(test))


def starts_a_process(test: Callable[..., Any]) -> bool:
    """Whether one of ``STARTS_A_PROCESS`` is used by a test, or by a function of its file that it calls."""
    seen, left = set(), [inspect.unwrap(test)]
    while left:
        function = left.pop()
        if not isinstance(function, FunctionType) or function in seen:
            continue
        seen.add(function)
        names = set(function.__code__.co_names)
        if names & STARTS_A_PROCESS:
            return True
        known = [function.__globals__.get(name) for name in names]
        left += [one for one in known if getattr(one, "__module__", None) == function.__module__]
    return False


@cache
def may_be_quick(path: Path) -> bool:
    """Whether neither the folder nor what the file imports says that it is slow."""
    if any(inside(path, room) for room in NOT_QUICK):
        return False
    return path.suffix != ".py" or not path.is_file() or not _loads_slow_imports(path)


@cache
def _loads_slow_imports(path: Path) -> bool:
    """Whether a file imports one of ``SLOW_IMPORTS`` anywhere, or a file of this tree that does so when imported."""
    seen, left = {path}, [path]
    while left:
        file = left.pop()
        names = imported_names(file, in_functions=file == path)
        if SLOW_IMPORTS & {name.split(".")[0] for name in names}:
            return True
        found = {own for name in names if (own := _own_file(name))} - seen
        seen |= found
        left += found
    return False


@cache
def imported_names(path: Path, *, in_functions: bool) -> frozenset[str]:
    """The dotted names that a file imports; the text is searched, for to parse every file would take seconds."""
    names = set()
    for indent, package, several, one, module in IMPORT.findall(path.read_text(encoding="utf-8")):
        if not indent or in_functions:
            of = re.findall(r"\w+", several or one)
            names |= {package or module, *(f"{package}.{name}" for name in of)}
    return frozenset(names)


@cache
def _own_file(name: str) -> Path | None:
    """The file of this tree that a dotted name stands for."""
    if name.split(".")[0] not in OWN:
        return None
    base = ROOT.joinpath(*name.split("."))
    return next((file for file in (base.with_suffix(".py"), base / "__init__.py") if file.is_file()), None)


def inside(path: Path, room: str) -> bool:
    """Whether a file or folder is a room of this tree, or lies in it."""
    base = f"{ROOT}{os.sep}{room}"  # as text: a session asks this 25,000 times
    return str(path) == base or str(path).startswith(base + os.sep)
