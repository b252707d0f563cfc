"""The code of the documentation's notebook page, run from top to bottom."""

import re
from pathlib import Path
from typing import Any

from core.settings import ROOT
from hedge import RunFigures, SetFigures


def blocks(page: Path) -> list[str]:
    """The page's Python blocks."""
    return re.findall(r"^```python\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def test_the_notebook_page_runs(home, capsys):
    names: dict[str, Any] = {}
    code = blocks(ROOT / "docs" / "text" / "notebook.md")
    assert len(code) == 13
    for block in code:
        exec(compile(block, "notebook.md", "exec"), names)
    assert isinstance(names["found"], SetFigures)
    assert isinstance(names["run"], RunFigures)
    assert names["lab"].alpha == 0.05
    assert names["new"].test.tolist() == list(range(1000, 1197))
    assert set(names["by_class"].thresholds) == set("0123456789")
    coverage, size, threshold, *_, error = capsys.readouterr().out.replace("\n", " ").split(" ", 3)
    assert 0.85 < float(coverage) < 0.95
    assert 1 < float(size) < 4
    assert 0 < float(threshold) < 1
    assert "got 7" in error
