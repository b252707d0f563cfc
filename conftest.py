"""Which tests are quick, and the order in which files are handed to the processes that run them."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent

collect_ignore = ["tests/benchmarks"]
"""Commands, not tests; they import every rival that Hedge is compared with."""

NOT_QUICK = {
    "tests/browser": "a browser and a server",
    "tests/pages": "the server's script runner",
    "tests/faults": "agents, workers and Postgres",
    "tests/simulation/test_simulation.py": "a minute of arithmetic",
    "tests/core/inference": "a model",
    "tests/core/adapters": "a model",
    "tests/pocket_world": "models and how they are trained",
    "tests/test_tools.py": "the type checker reads the whole tree",
    "core/inference": "torch",
    "core/adapters": "torch",
    "pocket_world": "torch",
}
"""Folders and files whose tests are not quick, and what they need."""

SLOW_IMPORTS = {"torch", "transformers", "safetensors", "playwright"}
"""A file that imports one of these starts a browser or loads a model."""

OWN = {"core", "app", "pocket_world", "tests"}
IMPORT = re.compile(r"^( *)(?:from +([\w.]+) +import +(?:\(([^)]*)\)|(.*))|import +([\w.]+))", re.MULTILINE)

SLOW_FIXTURES = {"engine_home", "shared_home", "postgres", "fake_home", "open_desk", "real_models", "known_folder"}
"""A test that asks for one of these starts an agent, a server or a worker, or loads a model."""

LONGEST_FIRST = (
    "tests/browser",
    "tests/core/runs",
    "tests/pocket_world",
    "tests/simulation",
    "tests/faults",
    "tests/pages",
    "tests/core/inference",
    "tests/test_tools.py",
    "tests/core/test_cli.py",
    "tests/app",
)
"""Rooms by how long their longest files take. A process that gets such a file last would leave the other one idle."""


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """``-m quick`` does not even import what it leaves out: importing torch alone takes seconds."""
    if config.option.markexpr.strip() == "quick" and not _may_be_quick(collection_path):
        return True
    return None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the quick tests; put the longest files first."""
    for item in items:
        if _may_be_quick(item.path) and not SLOW_FIXTURES & set(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.quick)
    items.sort(key=lambda item: _rank(item.path))  # a stable sort: files stay together


def _may_be_quick(path: Path) -> bool:
    """Whether neither the folder nor what the file imports says that it is slow."""
    if any(_inside(_name(path), room) for room in NOT_QUICK):
        return False
    return path.suffix != ".py" or not path.is_file() or not _loads_slow_imports(path)


@cache
def _loads_slow_imports(path: Path) -> bool:
    """Whether a file imports one of ``SLOW_IMPORTS`` anywhere, or a file of this tree that does so when imported."""
    seen, left = {path}, [path]
    while left:
        file = left.pop()
        names = _imported(file, in_functions=file == path)
        if SLOW_IMPORTS & {name.split(".")[0] for name in names}:
            return True
        found = {own for name in names if (own := _own_file(name))} - seen
        seen |= found
        left += found
    return False


@cache
def _imported(path: Path, *, in_functions: bool) -> frozenset[str]:
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


@cache
def _rank(path: Path) -> int:
    name = _name(path)
    return next((i for i, room in enumerate(LONGEST_FIRST) if _inside(name, room)), len(LONGEST_FIRST))


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else path.as_posix()


def _inside(name: str, room: str) -> bool:
    return name == room or name.startswith(room + "/")
