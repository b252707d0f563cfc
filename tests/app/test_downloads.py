"""Every file that a page saves is named by one function, for the models, tasks and alpha that it is about."""

import ast
import inspect

import pytest

from app.components.shared import figures
from core.reports.file_names import About
from core.settings import ROOT

pytestmark = pytest.mark.quick


def names_given() -> dict[str, list[str]]:
    """The names of the files that `st.download_button` saves, as they are written, by module."""
    names_by_file: dict[str, list[str]] = {}
    for folder in ("app", "pages"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("download_button"):
                    names = [ast.unparse(word.value) for word in node.keywords if word.arg == "file_name"]
                    names_by_file.setdefault(path.relative_to(ROOT).as_posix(), []).extend(names or ["none"])
    return names_by_file


def test_a_file_name_is_always_that_of_the_one_function():
    names_by_file = names_given()
    assert names_by_file.pop("app/components/shared/downloads.py") == ["about.file_name(name, 'csv')"]
    for path, names in names_by_file.items():
        assert "file_name" in (ROOT / path).read_text(encoding="utf-8"), path
        assert names == ["name"], path  # `called(what, ending)` or `about.file_name(what, ending)`


def test_no_table_is_saved_without_what_it_is_about():
    for function in (figures.show, figures.download):
        assert inspect.signature(function).parameters["about"].default is inspect.Parameter.empty


def test_a_name_says_models_tasks_and_alpha():
    assert About(["pocket-8m"], ["Trivia"], 125).file_name("tokens", "csv") == (
        "hedge_pocket-8m_trivia_alpha-0.125_tokens.csv"
    )
    assert About().file_name("figures", "csv") == "hedge_figures.csv"
