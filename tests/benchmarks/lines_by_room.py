"""Lines by room of `core` at a revision: `python -m tests.benchmarks.lines_by_room [REVISION ...]`; HEAD by default.

A row has the room, its files, its lines, and its lines without docstrings, comments and empty lines.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections import Counter

from core.settings import ROOT


def files_at(revision: str) -> dict[str, str]:
    """The Python files of core at a revision, by path."""
    listed = subprocess.check_output(["git", "ls-tree", "-r", "--name-only", revision, "core"], cwd=ROOT, text=True)
    paths = [path for path in listed.split() if path.endswith(".py")]
    return {path: subprocess.check_output(["git", "show", f"{revision}:{path}"], cwd=ROOT, text=True) for path in paths}


def lines_of_code(text: str) -> int:
    """Lines that are neither empty, nor a comment, nor of a docstring or another bare text."""
    bare: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            bare |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    lines = enumerate(text.splitlines(), start=1)
    return sum(bool(line.strip()) and not line.lstrip().startswith("#") and at not in bare for at, line in lines)


def main(revisions: list[str]) -> None:
    """Print the table of each revision."""
    for revision in revisions or ["HEAD"]:
        files, lines, code = Counter[str](), Counter[str](), Counter[str]()
        for path, text in files_at(revision).items():
            parts = path.split("/")
            rooms = {"core", "/".join(parts[:2])} | ({"/".join(parts[:3])} if parts[1] == "runs" else set())
            for room in rooms:
                files[room] += 1
                lines[room] += text.count("\n")
                code[room] += lines_of_code(text)
        print(revision)
        for room in sorted(files):
            print(f"  {room:40} {files[room]:4} {lines[room]:6} {code[room]:6}")


if __name__ == "__main__":
    main(sys.argv[1:])
