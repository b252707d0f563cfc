"""Which tests are quick, and in which order files are handed to the processes that run them."""

from __future__ import annotations

import re
from functools import cache
from itertools import zip_longest
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

WAITING = ("tests/browser", "tests/core/runs", "tests/faults")
"""Rooms whose tests often wait for other processes, those whose files take longest first."""

COMPUTING = (
    "tests/simulation",
    "tests/pages",
    "tests/pocket_world",
    "tests/test_tools.py",
    "tests/core/inference",
    "tests/app",
    "tests/core/exchange",
    "tests/core/test_cli.py",
    "tests/core/test_doctor.py",
)
"""Rooms whose tests take a processor for long, those whose files take longest first."""


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """``-m quick`` does not even import what it leaves out: importing torch alone takes seconds."""
    if config.option.markexpr.strip() == "quick" and not _may_be_quick(collection_path):
        return True
    return None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the quick tests, and put the files into the order in which they are handed out."""
    for item in items:
        if _may_be_quick(item.path) and not SLOW_FIXTURES & set(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.quick)
    place = {path: i for i, path in enumerate(_handed_out(list(dict.fromkeys(item.path for item in items))))}
    items.sort(key=lambda item: place[item.path])  # stable: the tests of a file keep their order


def _handed_out(paths: list[Path]) -> list[Path]:
    """Long files before short ones, so that no process is left with one while the other is idle; files that wait and
    files that compute in turn, so that they share the processors."""
    waiting, computing = _of_rooms(paths, WAITING), _of_rooms(paths, COMPUTING)
    long = [path for pair in zip_longest(waiting, computing) for path in pair if path]
    return long + [path for path in paths if path not in set(long)]


def _of_rooms(paths: list[Path], rooms: tuple[str, ...]) -> list[Path]:
    return [path for room in rooms for path in paths if _inside(_name(path), room)]


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


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else path.as_posix()


def _inside(name: str, room: str) -> bool:
    return name == room or name.startswith(room + "/")
