"""Pinned packages are imported, imported packages are pinned, and the pins lie within the package's ranges."""

import ast
import re
import sys
import tomllib
from functools import cache
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement

from core.extras import EXTRAS
from tests.syntax import imports

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("core", "app", "charts", "docs", "hedge", "pages", "pocket_world", "tests")
NOT_IMPORTED = {
    "authlib": "Streamlit uses it for logins",
    "hatchling": "a command: tests/test_package.py builds the wheel with it",
    "mypy": "a command",
    "pandas-stubs": "types of pandas, for mypy",
    "pre-commit": "a command",
    "pre-commit-hooks": "pre-commit runs it: .pre-commit-config.yaml",
    "pytest-cov": "pytest loads it: --cov",
    "pytest-timeout": "pytest loads it: --timeout in pyproject.toml",
    "pytest-xdist": "pytest loads it: -n in pyproject.toml",
    "ruff": "a command",
}
"""Pinned, but imported by nothing of ours, and why."""
RIVALS = ("crepes", "krippendorff", "netcal", "relplot", "torchcp", "torchmetrics")
"""Only tests/golden/make_*.py import these. You run them in environments of their own to write golden files again; each
of them lists the versions that it needs."""


def pinned() -> set[str]:
    """The distributions that the requirements name, in lower case with dashes."""
    lines = [
        line.strip()
        for name in ("requirements.txt", "requirements-notebook.txt", "requirements-dev.txt")
        for line in (ROOT / name).read_text(encoding="utf-8").splitlines()
    ]
    return {normal(re.split(r"[\[=<>~! ]", line)[0]) for line in lines if line and line[0] not in "#-"}


packages_distributions = cache(metadata.packages_distributions)


def normal(distribution: str) -> str:
    return re.sub(r"[-_.]+", "-", distribution).lower()


@cache
def imported() -> dict[str, Path]:
    """Each module of others that any file imports, wherever in the file, and one of those files."""
    ours = {*FOLDERS, *sys.stdlib_module_names}
    modules: dict[str, Path] = {}
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.py")):
            for node in imports(path):
                if isinstance(node, ast.Import):
                    names = [alias.name for alias in node.names]
                else:
                    names = [node.module or ""] if node.level == 0 else []
                modules.update({name.split(".")[0]: path for name in names if name.split(".")[0] not in ours})
    return modules


def test_whatever_is_pinned_is_imported():
    distributions = packages_distributions()
    used = {normal(distribution) for module in imported() for distribution in distributions.get(module, ())}
    assert pinned() - used - NOT_IMPORTED.keys() == set()
    assert NOT_IMPORTED.keys() & used == set(), "imported after all: they need no exception"
    assert NOT_IMPORTED.keys() <= pinned()


def test_whatever_is_imported_is_pinned():
    distributions, known = packages_distributions(), pinned()
    missing = {
        module: str(path.relative_to(ROOT))
        for module, path in imported().items()
        if not (module in RIVALS and path.match("tests/golden/make_*.py"))
        and not known & {normal(distribution) for distribution in distributions.get(module, ())}
    }
    assert missing == {}


def ranges() -> dict[str, list[Requirement]]:
    """The requirements of the package: those of the base install under "", and those of each extra."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lists = {"": project["dependencies"], **project["optional-dependencies"]}
    return {extra: [Requirement(line) for line in lines] for extra, lines in lists.items()}


def test_the_versions_that_tests_run_with_lie_within_the_ranges_of_the_package():
    lines = [
        Requirement(line)
        for name in ("requirements.txt", "requirements-notebook.txt", "requirements-dev.txt")
        for line in (ROOT / name).read_text(encoding="utf-8").splitlines()
        if line and line[0] not in "#-"
    ]
    pins = {normal(line.name): line.specifier for line in lines}
    for requirement in (requirement for requirements in ranges().values() for requirement in requirements):
        (pin,) = pins[normal(requirement.name)]
        assert pin.operator == "==", f"{requirement.name} is not pinned"
        assert requirement.specifier.contains(pin.version), f"{requirement} does not admit {pin}"


def test_requirements_txt_has_the_base_and_the_extras_of_a_server_with_models():
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    locked = {normal(Requirement(line).name) for line in lines if line and line[0] != "#"}
    declared = ranges()
    assert locked == {normal(line.name) for extra in ("", "models", "server") for line in declared[extra]}


def test_each_extra_brings_the_modules_that_errors_look_for():
    declared = ranges()
    del declared[""]
    assert {extra: {normal(line.name) for line in lines} for extra, lines in declared.items()} == {
        extra: {normal(module) for module in modules} for extra, modules in EXTRAS.items()
    }
