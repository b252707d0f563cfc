"""The hosted workflow can be read, and runs what the README and the configuration say."""

from __future__ import annotations

import json
import re
import tomllib
from typing import Any

import pytest
import yaml

from core.settings import ROOT

pytestmark = pytest.mark.quick


def workflow() -> dict[str, Any]:
    read: dict[str, Any] = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8"))
    return read


def commands() -> list[str]:
    """Every command line of every step."""
    steps = [step for job in workflow()["jobs"].values() for step in job["steps"]]
    return [line for step in steps for line in step.get("run", "").strip().splitlines()]


def test_the_whole_suite_is_the_readmes_line():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    line = re.search(r"<!-- tests -->\n```sh\n(.+)\n```", readme)
    assert line is not None
    assert line[1] in commands()


def test_python_is_the_one_that_the_types_are_checked_for():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    jobs = workflow()["jobs"]
    (python,) = [step["with"] for step in jobs["check"]["steps"] if "setup-python" in step.get("uses", "")]
    assert python["python-version"] == settings["tool"]["mypy"]["python_version"]
    assert jobs["tests"]["container"]["image"].startswith(f"python:{python['python-version']}-")


def test_npm_scripts_and_markers_that_it_names_are_there():
    scripts = json.loads((ROOT / "package.json").read_bytes())["scripts"]
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    markers = {of.split(":")[0] for of in settings["tool"]["pytest"]["ini_options"]["markers"]}
    said = "\n".join(commands())
    assert set(re.findall(r"npm run (\w+)", said)) <= set(scripts)
    assert set(re.findall(r"pytest -m (\w+)", said)) <= markers


def test_nothing_beside_the_clone_is_needed():
    assert "shared" not in (ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8")
