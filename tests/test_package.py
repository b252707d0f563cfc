"""The wheel, installed without a network into an environment that has what it declares and none of its extras."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from core import __version__
from core.settings import ROOT
from hedge.cli import main
from tests import light_environment

FOLDERS = (".streamlit", "app", "assets", "charts", "core", "docs", "pages")
RUN = "pocket-8m-qa"
PIP_LINE = f"pip install 'hedge[models]=={__version__}'"
WAY_OUT = f"this needs Hedge's extra 'models', which is not installed; run `{PIP_LINE}`"
IN_NOTEBOOK = """
import hedge
print(hedge.sets([[0.9, 0.1], [0.2, 0.8], [0.6, 0.4], [0.3, 0.7]], [0, 1, 0, 1], alpha=0.3).n_calibration)
"""


def install(folder: Path) -> None:
    """Build the wheel, and install it with pip as a person does, but without a network."""
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    requirements = [*light_environment.dependencies(), *light_environment.TEST_TOOLS]
    python = light_environment.make(folder / "environment", requirements)
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--no-deps", "--no-index", "--quiet"]
    subprocess.run([*pip, str(wheel_in(folder))], check=True, capture_output=True)


def wheel_in(folder: Path) -> Path:
    (wheel,) = folder.glob("*.whl")
    return wheel


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the wheel and the environment in which it is installed."""
    folder = tmp_path_factory.mktemp("package")
    install(folder)
    return folder


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    """A folder of a person, who has modules named like those of Hedge."""
    for name in ("core", "app", "charts"):
        (tmp_path / f"{name}.py").write_text(f"raise SystemExit('{name}.py of the person was imported')")
    return tmp_path


def run(installed: Path, folder: Path, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run the environment's Python in a folder, or its command ``hedge``."""
    programs = installed / "environment" / "bin"
    # By Python, because the first line of the command names the folder in which it was made.
    command = [str(programs / "hedge"), *words[1:]] if words[0] == "hedge" else list(words)
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("HEDGE_", "PYTHON"))}
    environment = inherited | {"HEDGE_HOME": str(folder / "home"), "HEDGE_START_AGENT": "0"} | variables
    program = [str(programs / "python"), *command]
    return subprocess.run(program, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def test_the_wheel_holds_hedge_alone_and_whole(installed: Path):
    names = {Path(name) for name in zipfile.ZipFile(wheel_in(installed)).namelist()}
    assert {name.parts[0].partition("-")[0] for name in names} == {"hedge"}
    inside = {name.relative_to("hedge/_app") for name in names if name.is_relative_to("hedge/_app")}
    files = {path.relative_to(ROOT) for folder in FOLDERS for path in (ROOT / folder).rglob("*") if path.is_file()}
    film = Path("assets/hedge.webp")
    secret = Path(".streamlit/secrets.toml")
    assert inside == {path for path in files if "__pycache__" not in path.parts} - {film, secret}


def test_modules_of_the_person_are_neither_used_nor_hidden(installed: Path, elsewhere: Path, capsys):
    path = {"PYTHONPATH": str(elsewhere), "PYTHONSAFEPATH": "1"}
    assert run(installed, elsewhere, "hedge", "--version", **path).stdout.startswith("Hedge ")
    there = run(installed, elsewhere, "hedge", "report", RUN, "--json", **path)
    assert main(["report", RUN, "--json"]) == 0
    assert there.stdout == capsys.readouterr().out, there.stderr
    doctor = run(installed, elsewhere, "hedge", "doctor", **path)  # asks the database in a process of its own
    assert doctor.returncode == 0, doctor.stderr
    refused = run(installed, elsewhere, "-c", IN_NOTEBOOK)
    assert f"another one with this name ({elsewhere / 'core.py'})" in refused.stderr.splitlines()[-1]


def test_the_site_with_the_manual_can_be_written(installed: Path, tmp_path: Path):
    done = run(installed, tmp_path, "hedge", "site", "web")
    assert (done.returncode, done.stderr) == (0, "")
    assert "<h1" in (tmp_path / "web" / "index.html").read_text(encoding="utf-8")
    assert "<h1" in (tmp_path / "web" / "manual" / "changes.html").read_text(encoding="utf-8")


def test_a_notebook_anywhere_can_import_hedge(installed: Path, tmp_path: Path):
    (tmp_path / "core").mkdir()  # a folder of files is no module
    done = run(installed, tmp_path, "-c", IN_NOTEBOOK)
    assert done.stdout == "2\n", done.stderr


def test_data_lies_in_the_users_folder_unless_a_variable_names_another(installed: Path, tmp_path: Path):
    code = "import hedge; hedge.InputError; from core.settings import settings; print(settings().home)"
    data = {"XDG_DATA_HOME": str(tmp_path / "data")}
    assert run(installed, tmp_path, "-c", f"import os; del os.environ['HEDGE_HOME']; {code}", **data).stdout == (
        f"{tmp_path / 'data' / 'hedge'}\n"
    )
    assert run(installed, tmp_path, "-c", code, **data).stdout == f"{tmp_path / 'home'}\n"


@pytest.mark.parametrize(
    "words",
    [
        ("run", "--model", "pocket-1m", "--task", "qa", "--samples", "50"),
        ("tokens", "view", "--model", "pocket-3m", "--text", "Rome"),
        ("verify",),
        ("shelf", "leaderboard", "Qwen/Qwen2.5-7B"),
    ],
    ids=lambda words: words[0],
)
def test_without_an_extra_a_command_says_what_is_missing(words: tuple[str, ...], installed: Path, tmp_path: Path):
    done = run(installed, tmp_path, "hedge", *words)
    assert done.stderr.strip() == f"hedge: {WAY_OUT}"
    assert done.returncode == 2


def test_without_extras_pages_that_use_models_open(installed: Path, tmp_path: Path):
    done = run(installed, tmp_path, str(ROOT / "tests" / "open_pages.py"), "new_run", "one_question", "tokens")
    assert done.returncode == 0, done.stderr[-2000:]


def test_without_extras_quick_tests_pass(installed: Path, tmp_path: Path):
    """Those of what imports a package of an extra somewhere; one that needs it is skipped."""
    files = [f"tests/core/{name}" for name in ("shelf", "questions", "access/test_access.py", "access/test_quotas.py")]
    command = ("-m", "pytest", "-m", "quick", "-n0", "-q", "-p", "no:cacheprovider", *files)
    done = run(installed, ROOT, *command, HEDGE_HOME=str(tmp_path))
    assert done.returncode == 0, done.stdout[-3000:]
