"""The scripts of each component, joined into the one module that a browser gets."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from charts import lab_outside
from charts.scripts import COMPONENTS, DEFAULT_EXPORT, bundle, scripts
from tests.app.javascript import node


def _ends_a_module(path: Path) -> bool:
    text = path.read_text(encoding="utf-8")
    return (
        re.search(r"^export default (function|mounted)\b", text, re.M) is not None
        or DEFAULT_EXPORT.search(text) is not None
    )


ENTRIES = [path for path in sorted(COMPONENTS.rglob("*.js")) if _ends_a_module(path)]
"""Streamlit mounts the default export of a module, so a script with one is the entry of a component."""


@pytest.mark.quick
def test_every_component_is_found():
    mounted = [path for path in COMPONENTS.rglob("*.py") if "components.v2.component(" in path.read_text("utf-8")]
    folders = {path.parent for path in mounted}
    assert len(folders) >= 14
    assert folders <= {path.parent for path in ENTRIES}


@pytest.mark.parametrize(
    "entry", [*ENTRIES, lab_outside.SCRIPT], ids=lambda entry: entry.relative_to(COMPONENTS).as_posix()
)
def test_a_components_scripts_are_parts_of_one_module(entry: Path, tmp_path: Path):
    """No two declare the same name, and none is left out."""
    joined = tmp_path / "joined.mjs"
    text = bundle(entry)
    joined.write_text(text, encoding="utf-8")
    done = subprocess.run([node(), "--check", str(joined)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert not re.search(r"^import\b", text, re.MULTILINE)
    for script in scripts(entry):
        for names in re.findall(r"^import \{([^}]*)\}", script.read_text(encoding="utf-8"), re.MULTILINE):
            for name in filter(None, map(str.strip, names.split(","))):
                declared = rf"^(?:export )?(?:async )?(?:function|const|class) {name}\b"
                assert re.search(declared, text, re.MULTILINE), (script.name, name)


def test_a_name_that_two_scripts_declare_is_noticed(tmp_path: Path):
    (tmp_path / "part.js").write_text("const WIDE = 1;\nexport const other = WIDE;\n")
    entry = tmp_path / "entry.js"
    entry.write_text('import { other } from "./part.js";\nconst WIDE = other;\nexport default () => WIDE;\n')
    joined = tmp_path / "joined.mjs"
    joined.write_text(bundle(entry))
    done = subprocess.run([node(), "--check", str(joined)], capture_output=True, text=True, check=False)
    assert "Identifier 'WIDE' has already been declared" in done.stderr


@pytest.mark.quick
def test_no_line_begins_with_a_per_cent_sign():
    """A number and its per cent sign are joined, or by a space that no line breaks at."""
    for path in (*COMPONENTS.rglob("*.js"), *COMPONENTS.rglob("*.html")):
        lines = path.read_text(encoding="utf-8").splitlines()
        shown = [re.sub(r"// .*", "", line) for line in lines if not line.lstrip().startswith("//")]
        assert not [line for line in shown if re.search(r"[\d}] %", line)], path.name
