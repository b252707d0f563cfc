"""Mutation testing: how many small faults planted in a module do its tests notice?

    python -m tests.mutation core/conformal core/calibration core/jury

mutmut makes the mutants, a changed operator, number, argument or condition each, and the switch that chooses one of
them. ``mutmut run`` starts pytest for each mutant, which takes seconds. Here the tests are collected once, and each
mutant has a forked process that runs the tests that reach its function, the quickest first, until one fails. Tests that
take longer than a second are left out, and so is what is beyond ``--seconds`` (4) for one mutant. Caches are taken off,
so that no value from before the mutation is kept.

Mutants that change no behaviour are left out where a rule can say so (:func:`changes_nothing`). Text between functions
and properties is not mutated.
"""

import argparse
import ast
import difflib
import gc
import json
import os
import re
import resource
import shutil
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SLOWEST = 1.0
"""Seconds of processor time of the slowest test that is used."""
NUMPY_DEFAULTS = {"np.searchsorted": "side='left'", "np.sort": "axis=1"}
"""Arguments that say what numpy does anyway; every array that is sorted along axis 1 has two."""
CACHED = re.compile(r"^@(functools\.)?lru_cache.*\n", re.MULTILINE)


@dataclass
class Module:
    """A mutated module: its dotted ``name``, and its mutants' texts beside those of the functions they are of."""

    name: str
    mutants: dict[str, tuple[str, str]] = field(default_factory=dict)


def modules(paths: list[str]) -> Iterator[Path]:
    """The Python files at paths below the root, folders with all that they hold."""
    for path in map(Path, paths):
        here = ROOT / path
        yield from (file.relative_to(ROOT) for file in (sorted(here.rglob("*.py")) if here.is_dir() else [here]))


def tests_of(room: str) -> str:
    """The folder or the file of a room's tests, which mirror the tree."""
    if (ROOT / "tests" / room).is_dir():
        return f"tests/{room}"
    return f"tests/{Path(room).parent}/test_{Path(room).stem}.py"


def mutate(file: Path, folder: Path) -> Module:
    """Write a module with all its mutants into the folder."""
    from mutmut.mutation.file_mutation import mutate_file_contents

    source = CACHED.sub("", (ROOT / file).read_text(encoding="utf-8"))
    mutated = mutate_file_contents(str(file), source)
    (folder / file).write_text(mutated.code, encoding="utf-8")
    module = Module(".".join(file.with_suffix("").parts))
    functions = {
        node.name: ast.unparse(node)
        for node in ast.walk(ast.parse(mutated.code))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    for name in mutated.mutant_names:
        short = name.rpartition(".")[2]
        base = short.rpartition("__mutmut_")[0]
        original = functions[f"{base}__mutmut_orig"].replace(f"{base}__mutmut_orig", base)
        mutant = functions[short].replace(short, base)
        if not changes_nothing(original, mutant):
            module.mutants[short] = (original, mutant)
    return module


class _Behaviour(ast.NodeTransformer):
    """Takes off what a function says and promises but does not do."""

    def visit_Raise(self, node: ast.Raise) -> ast.AST:
        for part in ast.walk(node):
            if isinstance(part, ast.Constant) and isinstance(part.value, str):
                part.value = ""
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        called = ast.unparse(node.func)
        if called == "zip":
            node.keywords = [keyword for keyword in node.keywords if keyword.arg != "strict"]
        if called == "np.asarray":
            node.keywords = [keyword for keyword in node.keywords if keyword.arg != "dtype"]
        if called in NUMPY_DEFAULTS:
            node.keywords = [keyword for keyword in node.keywords if ast.unparse(keyword) != NUMPY_DEFAULTS[called]]
        if called.endswith(".astype") and node.args and ast.unparse(node.args[0]) == "np.float64":
            node.args[0] = ast.Constant(None)
        if (
            called == "float"
            and node.args
            and isinstance(node.args[0], ast.Constant)
            and isinstance(node.args[0].value, str)
        ):
            node.args[0].value = node.args[0].value.lower()
        return node


def changes_nothing(original: str, mutant: str) -> bool:
    """Whether two functions differ only in what changes no behaviour.

    That is an error's wording, ``strict`` of a ``zip`` whose parts are equally long, the ``dtype`` of ``np.asarray``,
    which is there for the type checker, an argument that is numpy's default, or how ``float("inf")`` is written.
    """
    return ast.dump(_Behaviour().visit(ast.parse(original))) == ast.dump(_Behaviour().visit(ast.parse(mutant)))


class Mutants:
    """A pytest plugin that runs each mutant's tests in a fork of the session that collected them."""

    def __init__(self, modules: list[Module], only: str, seconds: float) -> None:
        self.made, self.only, self.seconds = modules, only, seconds
        self.survivors: list[tuple[str, str]] = []

    def pytest_configure(self) -> None:
        import hypothesis
        from hypothesis import Phase

        hypothesis.settings.register_profile(  # no shrinking: that it fails is enough
            "mutation",
            deadline=None,
            max_examples=30,
            derandomize=True,
            database=None,
            phases=[Phase.explicit, Phase.generate],
        )
        hypothesis.settings.load_profile("mutation")

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        reached, seconds = self._reached(session)
        gc.freeze()  # a collection in a fork would copy all that it visits
        killed = total = 0
        for module in self.made:
            begun = time.monotonic()
            dead = [
                name
                for name in module.mutants
                if re.search(self.only, name) and self._dies(session, module, name, reached, seconds)
            ]
            chosen = [name for name in module.mutants if re.search(self.only, name)]
            for name in chosen:
                if name not in dead:
                    self._show(module, name)
            killed, total = killed + len(dead), total + len(chosen)
            share = len(dead) / len(chosen) if chosen else 1
            print(
                f"{module.name}: {len(dead)} of {len(chosen)} killed, {share:.1%}, {time.monotonic() - begun:.0f} s",
                flush=True,
            )
        print(f"all: {killed} of {total} killed, {killed / max(total, 1):.1%}", flush=True)
        return True

    def _reached(self, session: pytest.Session) -> tuple[dict[str, list[int]], list[float]]:
        """Which tests reach each function, by their numbers, the quickest first; and how long each takes."""
        from mutmut.mutation import trampoline

        reader, writer = os.pipe()
        child = os.fork()
        if not child:
            hits: set[str] = set()
            trampoline.record_trampoline_hit = lambda name, caller=None: hits.add(name)
            os.environ["MUTANT_UNDER_TEST"] = "stats"
            killers, seconds = {}, []
            for number, item in enumerate(session.items):
                hits.clear()
                begun = time.process_time()
                passed = _passes(item, session.items[number + 1] if number + 1 < len(session.items) else None)
                seconds.append(time.process_time() - begun if passed else float("inf"))
                if not passed:
                    print(f"left out, as it fails without any mutant: {item.nodeid}", flush=True)
                for name in hits:
                    killers.setdefault(name, []).append(number)
            with os.fdopen(writer, "w") as out:
                json.dump([killers, seconds], out)
            os._exit(0)
        os.close(writer)
        with os.fdopen(reader) as into:
            content = into.read()
        if os.waitpid(child, 0)[1] or not content:
            raise SystemExit("the tests must pass before mutants are tried")
        killers, seconds = json.loads(content)
        return {name: _quickest(numbers, seconds, self.seconds) for name, numbers in killers.items()}, seconds

    def _dies(
        self, session: pytest.Session, module: Module, name: str, reached: dict[str, list[int]], seconds: list[float]
    ) -> bool:
        tests = reached.get(f"{module.name}.{name.rpartition('__mutmut_')[0]}", [])
        items = [session.items[i] for i in tests]
        child = os.fork()
        if not child:
            os.environ["MUTANT_UNDER_TEST"] = f"{module.name}.{name}"
            limit = int(2 + 2 * sum(seconds[i] for i in tests))  # an endless loop is noticed too
            resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
            with suppress(BaseException):
                os._exit(0 if all(_passes(*pair) for pair in pairwise([*items, None])) else 1)
            os._exit(1)
        return os.waitpid(child, 0)[1] != 0

    def _show(self, module: Module, name: str) -> None:
        lines = [text.splitlines() for text in module.mutants[name]]
        changed = [
            line for line in difflib.unified_diff(*lines, n=0, lineterm="") if line[:2] not in ("--", "++", "@@")
        ]
        print("\n".join([f"survived: {module.name}.{name}", *(f"    {line}" for line in changed)]), flush=True)


def _quickest(numbers: list[int], seconds: list[float], most: float) -> list[int]:
    rising = sorted((i for i in numbers if seconds[i] <= SLOWEST), key=seconds.__getitem__)
    together = accumulate(seconds[i] for i in rising)
    return [i for i, so_far in zip(rising, together, strict=True) if so_far <= most]


def _passes(item: pytest.Item, following: pytest.Item | None = None) -> bool:
    """Run a test without pytest's reports, which take longer than most tests; a warning is an error here too."""
    state = item.session._setupstate
    item._initrequest()  # type: ignore[attr-defined]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            state.setup(item)
            item.runtest()
    except pytest.skip.Exception:
        return True
    except BaseException:
        return False
    finally:
        with suppress(BaseException):
            state.teardown_exact(following)
    return True


def main() -> None:
    """Mutate the modules named on the command line and print how many mutants their tests kill."""
    parser = argparse.ArgumentParser(description="Mutation testing of core's rooms.")
    parser.add_argument("paths", nargs="+", help="modules or folders, such as core/conformal")
    parser.add_argument("--only", default="", help="mutants whose name has a match of this regular expression")
    parser.add_argument("--seconds", type=float, default=4.0, help="processor time of a mutant's tests at most")
    parser.add_argument("--tests", nargs="+", help="test files or folders; those of the modules' rooms unless given")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for part in ("core", "tests", "pyproject.toml"):
            here = ROOT / part
            if here.is_dir():
                shutil.copytree(here, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(here, folder / part)
        mutated = [mutate(file, folder) for file in modules(options.paths)]
        rooms = sorted({str(Path(*file.parts[:2])) for file in modules(options.paths)})
        tests = options.tests or [*rooms, *map(tests_of, rooms)]
        os.chdir(folder)
        sys.path.insert(0, str(folder))
        for name in [name for name in sys.modules if name == "tests" or name.startswith("core")]:
            del sys.modules[name]
        arguments = [
            "-q",
            "-s",
            "--assert=plain",
            "--override-ini=addopts=--import-mode=importlib --doctest-modules",
            "-p",
            "no:cacheprovider",
            "-p",
            "no:xdist",
            "-m",
            "not simulation",
        ]
        raise SystemExit(pytest.main([*arguments, *tests], plugins=[Mutants(mutated, options.only, options.seconds)]))


if __name__ == "__main__":
    main()
