"""The bundles that are checked in are those of the components' scripts and styles."""

import re
import subprocess
from pathlib import Path

import pytest

from charts.bundles import BUNDLES, COMPONENTS
from core.settings import ROOT
from tests import needs
from tests.app.javascript import node


def bundled(folder: Path) -> subprocess.CompletedProcess[str]:
    """Bundle into ``folder`` with esbuild."""
    if not (ROOT / "node_modules" / "esbuild").is_dir():
        needs.missing("ESLint, axe-core and esbuild")
    return subprocess.run([node(), "bundle.js", str(folder)], cwd=ROOT, capture_output=True, text=True, check=False)


def test_the_bundles_are_those_of_the_sources(tmp_path: Path):
    done = bundled(tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    built, committed = ({path.name: path.read_bytes() for path in folder.iterdir()} for folder in (tmp_path, BUNDLES))
    assert built.keys() == committed.keys(), "npm run bundle"
    assert [name for name in built if built[name] != committed[name]] == [], "npm run bundle"


@pytest.mark.quick
def test_a_bundle_needs_nothing_else():
    for path in BUNDLES.glob("*.js"):
        assert not re.search(r"\bimport\b *[{(*\"']", path.read_text(encoding="utf-8")), path.name
    for path in BUNDLES.glob("*.css"):
        assert "@import" not in path.read_text(encoding="utf-8"), path.name


@pytest.mark.quick
def test_no_line_begins_with_a_per_cent_sign():
    """A number and its per cent sign are joined, or by a space that no line breaks at."""
    for path in (*COMPONENTS.rglob("*.js"), *COMPONENTS.rglob("*.html")):
        lines = path.read_text(encoding="utf-8").splitlines()
        shown = [re.sub(r"// .*", "", line) for line in lines if not line.lstrip().startswith("//")]
        assert not [line for line in shown if re.search(r"[\d}] %", line)], path.name
