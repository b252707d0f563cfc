"""A light install, made without a network: an environment with what Hedge declares, and none of its extras."""

import tomllib
import venv
from collections.abc import Iterable, Sequence
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from core import extras
from core.settings import ROOT

needs_models = pytest.mark.skipif(not extras.has("models"), reason="Hedge's extra 'models' is not installed here")
"""For a quick test that uses a package of this extra."""
TEST_TOOLS = ("hypothesis", "pytest", "pytest-timeout", "pytest-xdist")


def dependencies() -> list[str]:
    """The requirements of the base install."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return list(project["dependencies"])


def make(folder: Path, requirements: Sequence[str]) -> Path:
    """Make an environment of the installed packages that these requirements lead to. Returns its Python.

    The packages are links to those of this environment.
    """
    venv.EnvBuilder(symlinks=True).create(folder)
    (packages,) = folder.glob("lib/python*/site-packages")
    for distribution in closure(requirements):
        # A file outside of site-packages, such as a command, begins with "..".
        for entry in {file.parts[0] for file in distribution.files or ()} - {"..", "__pycache__"}:
            link = packages / entry
            if not link.exists():
                link.symlink_to(Path(str(distribution.locate_file(entry))).resolve())
    return folder / "bin" / "python"


def closure(requirements: Iterable[str]) -> list[metadata.Distribution]:
    """The installed distributions that the requirements name, and all that these need."""
    distributions: dict[tuple[str, str], metadata.Distribution] = {}
    left = [(Requirement(line), "") for line in requirements]
    while left:
        requirement, extra = left.pop()
        if requirement.marker and not requirement.marker.evaluate({"extra": extra}):
            continue
        for wanted in ("", *requirement.extras):
            key = requirement.name.lower(), wanted
            if key not in distributions:
                distributions[key] = metadata.distribution(requirement.name)
                left += [(Requirement(line), wanted) for line in distributions[key].requires or ()]
    return list({distribution.name: distribution for distribution in distributions.values()}.values())
