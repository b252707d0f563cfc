"""Imports point one way, and torch is imported by models and checks alone."""

import ast
import re
import subprocess
import sys
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from tests.syntax import imports, parsed

ROOT = Path(__file__).resolve().parent.parent
FLOORS = {
    "errors": 0,
    "estimates": 0,
    "progress": 0,
    "records": 1,
    "settings": 1,
    "conformal": 2,
    "extras": 2,
    "storage": 2,
    "access": 3,
    "calibration": 3,
    "processes": 3,
    "tables": 3,
    "questions": 4,
    "models": 5,
    "jury": 6,
    "runs": 7,
    "checks": 8,
    "exchange": 8,
    "reports": 9,
    "serving": 9,
    "shelf": 10,
}
"""Every folder and file of core by its floor; it imports from lower floors and from itself, inside functions, too."""
DOOR = ROOT / "core" / "__main__.py"
"""``python -m core``, which opens the command line above core."""


def python_files(folder: str) -> list[Path]:
    return sorted(path for path in (ROOT / folder).rglob("*.py"))


@cache
def imported(path: Path, *, at_import_only: bool = False) -> set[str]:
    """The dotted names that a file imports; ``at_import_only`` leaves out those inside functions."""
    names: set[str] = set()
    for node in imports(path, at_import_only=at_import_only):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif node.module:
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def roots(path: Path) -> set[str]:
    return {name.split(".")[0] for name in imported(path)}


@pytest.mark.quick
def test_core_knows_no_pages_and_no_charts():
    for path in python_files("core"):
        above = {"streamlit", "altair", "charts", "hedge", "app", "pages"} - ({"hedge"} if path == DOOR else set())
        assert not roots(path) & above, path


@pytest.mark.quick
@pytest.mark.parametrize("folder", ["core", "charts", "hedge", "pocket_world"])
def test_nothing_below_the_app_starts_it_by_name(folder: str):
    for path in python_files(folder):
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                assert not re.fullmatch(r"(app|pages)(\.\w+)+|(app|pages)/\S*\.py", node.value), (path, node.value)


@pytest.mark.quick
def test_charts_know_neither_streamlit_nor_the_app():
    for path in python_files("charts"):
        assert not roots(path) & {"streamlit", "app", "pages", "hedge", "sqlite3", "sqlalchemy", "dbos"}, path


@pytest.mark.quick
def test_the_notebook_needs_no_server_and_only_its_own_files_need_anywidget_and_inspect():
    own = {"lab_widget.py": {"anywidget", "traitlets"}, "inspect_scorer.py": {"inspect_ai"}}
    for folder in ("core", "charts", "app", "pages", "hedge"):
        for path in python_files(folder):
            lent = own.get(path.name, set()) if folder == "hedge" else set()
            assert not roots(path) & ({"anywidget", "traitlets", "inspect_ai"} - lent), path
    for path in python_files("hedge"):
        assert not roots(path) & {"streamlit", "app", "pages", "scipy", "sqlite3", "sqlalchemy", "dbos"}, path
    at_import = [name for path in python_files("hedge") for name in imported(path, at_import_only=True)]
    assert not {name for name in at_import if name.startswith(("hedge.lab_widget", "hedge.inspect_scorer"))}


@pytest.mark.quick
def test_the_app_s_modules_and_folders_import_each_other_in_no_circle():
    """Imports inside functions count, and a page's components are one folder."""
    modules = {".".join(path.relative_to(ROOT).with_suffix("").parts): path for path in python_files("app")}
    modules = {name.removesuffix(".__init__"): path for name, path in modules.items()}
    by_module: dict[str, set[str]] = {}
    by_folder: dict[str, set[str]] = {}
    for module, path in modules.items():
        names = imported(path) & set(modules) | {name.rpartition(".")[0] for name in imported(path) - set(modules)}
        by_module[module] = names & set(modules)
        folder, *others = [_folder(modules[name]) for name in (module, *by_module[module])]
        by_folder.setdefault(folder, set()).update(set(others) - {folder})
    for graph in (by_module, by_folder):
        TopologicalSorter(graph).prepare()  # raises CycleError, which names the modules


def _folder(path: Path) -> str:
    """The folder of a module of the app, or the module itself where it lies in ``app/``."""
    parts = path.relative_to(ROOT / "app").parts
    return "/".join(parts[:2]) if parts[0] == "components" else parts[0]


@pytest.mark.quick
def test_pages_do_no_maths():
    for path in python_files("pages"):
        assert not roots(path) & {"numpy", "scipy", "torch", "transformers", "sqlite3", "sqlalchemy", "dbos"}, path


@pytest.mark.quick
def test_enter_submits_no_form_that_starts_something():
    """Streamlit submits a form by Enter unless it is told not to; a launch needs a click on its own button."""
    calls = [node for path in python_files("app") for node in ast.walk(parsed(path)) if isinstance(node, ast.Call)]
    forms = [call for call in calls if ast.unparse(call.func) == "st.form"]
    by_enter = [ast.literal_eval(form.args[0]) for form in forms if "enter_to_submit=False" not in ast.unparse(form)]
    assert len(forms) >= 5
    assert set(by_enter) == {"own", "leaderboard_model"}  # Ctrl+Enter asks a model, and Enter looks a name up


def test_torch_is_imported_by_models_and_checks_alone():
    for folder in ("core", "charts", "app", "pages", "hedge"):
        for path in python_files(folder):
            place = path.relative_to(ROOT).parts[:3]
            if place[:2] in {("core", "models"), ("core", "checks")} and place[2] not in {"devices", "perplexity"}:
                continue
            assert not roots(path) & {"torch", "transformers"}, path


@pytest.mark.quick
def test_every_folder_of_core_has_its_floor():
    names = {path.relative_to(ROOT / "core").parts[0].removesuffix(".py") for path in python_files("core")}
    assert names - {"__init__", "__main__"} == set(FLOORS)


@pytest.mark.quick
def test_imports_point_one_way():
    for path in python_files("core"):
        place = path.relative_to(ROOT / "core").parts[0].removesuffix(".py")
        if place not in FLOORS:
            continue
        for name in imported(path):
            parts = name.split(".")
            if parts[0] == "core" and parts[1] in FLOORS and parts[1] != place:
                assert FLOORS[parts[1]] < FLOORS[place], f"{path} imports {name}, which stands above it"


@pytest.mark.quick
def test_conformal_and_calibration_need_numpy_and_scipy_alone():
    admitted = set(sys.stdlib_module_names) | {"numpy", "scipy", "core"}
    for room in ("conformal", "calibration"):
        for path in python_files(f"core/{room}"):
            assert roots(path) <= admitted, path


def test_what_the_page_process_imports_loads_no_torch():
    """The components of every page, as the server imports them after the first paint, and what they call of core."""
    code = (
        "from app import first_paint; first_paint.import_components(); "
        "import core.reports.frames, core.runs.engine, core.runs.store, core.questions.catalogue, "
        "core.models.model_sources, core.runs.execution.execute, core.runs.prompts, "
        "core.models.preview, core.models.registry, core.runs.answering.client, "
        "core.reports.one_question, core.reports.tokens, core.reports.calibration.calibrated, "
        "core.reports.calibration.recalibrated, "
        "core.runs.jury_job, core.reports.jury, charts.static_report, core.checks.runner, core.checks.report, sys; "
        "wanted = {'altair', 'app.components.jury.jury_figures', 'app.components.calibration.temperature'}; "
        "assert wanted <= set(sys.modules); "
        "heavy = {'torch', 'transformers'} & set(sys.modules); assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT, timeout=120, capture_output=True)


@pytest.mark.quick
def test_a_class_name_means_one_thing():
    places: dict[str, list[str]] = {}
    for folder in ("core", "app", "charts", "hedge", "pages", "pocket_world"):
        for path in python_files(folder):
            for node in parsed(path).body:
                if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                    places.setdefault(node.name, []).append(str(path.relative_to(ROOT)))
    assert {name: paths for name, paths in places.items() if len(paths) > 1} == {}


def test_workers_and_the_list_of_runs_import_neither_scipy_nor_pandas():
    code = (
        "import sys, hedge.commands.runs, core.runs.agent.worker, core.runs.execution.execute\n"
        "heavy = {'scipy', 'pandas', 'torch'} & set(sys.modules); assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)
