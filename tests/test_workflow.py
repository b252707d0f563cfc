"""The hosted workflow can be read, and runs what the README and the configuration say."""

import json
import re
import tomllib
from typing import Any

import pytest
import yaml
from packaging.specifiers import SpecifierSet

from core.checks.doctor import NEWEST_PYTHON, OLDEST_PYTHON
from core.runs.store import folder_of, is_bundled
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


def test_what_runs_at_night_is_what_contributing_says():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\.venv/bin/(python -m (?:pytest -m nightly|tests\.\w+))", text, re.MULTILINE)
    nightly = "\n".join(step.get("run", "") for step in workflow()["jobs"]["nightly"]["steps"])
    assert len(listed) == 5
    assert [command for command in listed if command not in nightly] == []


def test_python_is_the_one_that_the_types_are_checked_for():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    jobs = workflow()["jobs"]
    (python,) = [step["with"] for step in jobs["check"]["steps"] if "setup-python" in step.get("uses", "")]
    assert python["python-version"] == settings["tool"]["mypy"]["python_version"]
    assert jobs["tests"]["container"]["image"].startswith(f"python:{python['python-version']}-")


def test_npm_scripts_and_markers_that_it_names_are_there():
    scripts = json.loads((ROOT / "package.json").read_bytes())["scripts"]
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    markers = {marker.split(":")[0] for marker in settings["tool"]["pytest"]["ini_options"]["markers"]}
    lines = "\n".join(commands())
    assert set(re.findall(r"npm run (\w+)", lines)) <= set(scripts)
    assert set(re.findall(r"pytest -m (\w+)", lines)) <= markers | {"hypothesis"}  # which marks its tests itself


def test_the_wheel_is_tried_with_every_python_that_it_admits():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    admitted = SpecifierSet(settings["project"]["requires-python"])
    pythons = workflow()["jobs"]["package"]["strategy"]["matrix"]["python"]
    assert pythons == [f"3.{minor}" for minor in range(30) if admitted.contains(f"3.{minor}")]
    assert pythons == [f"3.{minor}" for minor in range(OLDEST_PYTHON[1], NEWEST_PYTHON[1] + 1)]


def test_the_run_and_the_files_that_it_names_are_there():
    lines = "\n".join(commands())
    (run,) = re.findall(r"hedge report (\S+)", lines)
    assert is_bundled(folder_of(run).name)
    for name in re.findall(r"\btests/\w+\.py", lines):
        assert (ROOT / name).is_file()


def test_only_a_tag_makes_a_release_and_only_after_all_tests():
    release = workflow()["jobs"]["release"]
    assert release["if"] == "startsWith(github.ref, 'refs/tags/v')"
    assert set(release["needs"]) == {"tests", "package"}
    others = {name: job["permissions"] for name, job in workflow()["jobs"].items() if "permissions" in job}
    assert others.keys() == {"release", "site"}
    assert others["site"] == {"contents": "read", "pages": "write", "id-token": "write"}


def test_the_site_is_published_from_the_default_branch_alone():
    site = workflow()["jobs"]["site"]
    assert site["if"].endswith("&& github.ref_name == github.event.repository.default_branch")
    assert "pull_request" in site["if"]
    (written,) = re.findall(r"hedge site (\S+) --repository", "\n".join(commands()))
    (upload,) = [step for step in site["steps"] if "upload-pages-artifact" in step.get("uses", "")]
    assert upload["with"]["path"] == written


def test_nothing_beside_the_clone_is_needed():
    assert "shared" not in (ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8")
