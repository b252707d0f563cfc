"""Every example of every help text, and every command of the README and the manual, as on a fresh clone.

They run in one process, in the order in which they stand, with an empty home and with the files that the manual's page
of first questions shows. A command that can't run here has its reason below; it is parsed, and its names are looked up.
"""

import argparse
import importlib.util
import json
import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from core.models import model_sources
from core.questions import catalogue
from core.runs import store
from core.settings import ASSETS, ROOT
from hedge.cli import main
from hedge.commands.grammar import parser
from hedge.commands.grammar.parsers import PROG
from tests.hedge.commands.test_grammar import ALL

TEXT = ROOT / "docs" / "text"
WRITTEN = [path for path in sorted(TEXT.rglob("*.md")) if not path.is_symlink()]  # the link is the changelog
PAGES = {str(path.relative_to(ROOT)): path for path in (ROOT / "README.md", *WRITTEN)}
HEDGE, PYTHON = ".venv/bin/hedge", ".venv/bin/python"
BLOCK = re.compile(r"^ *```sh\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
SPAN = re.compile(r"(?<!`)`([^`\n]+(?:\n[^`\n]+)?)`(?!`)")
BARE = re.compile(r"(?:hedge|python|pip|pytest|hf|inspect|jupyter|mkdocs) +(?:-m|[a-z'-])")
"""A program of the environment by its bare name, which ends in an error outside it."""
ENDS = re.compile(r"\s(?:[|&>#]|2>).*|\s*&$")
"""What a shell does with a command, and a comment."""

NOT_HERE = {
    r"--server [\"h]|@http": "asks a model server",
    r"resume (RUN|llama-70b-qa)": "needs a run that paused on a server",
    r"run --model Qwen/": "downloads from the hub",
    r"shelf (bring|leaderboard)": "downloads",
    r"cuda:": "needs GPUs",
    r"import --join": "needs results of MMLU",
    r"hedge agent": "runs until it is stopped; tests/core/runs/agent",
    r"hedge verify( --json .*)?$": "takes ten minutes; tests/core/checks",
    r"hedge($| --)": "starts a server; tests/browser",
}
"""Commands of Hedge that can't run here."""
DEAR = (
    *(r"hedge prompting( --out .*)?$", "train-adapter", "my-adapter", "perplexity endings", "perplexity run"),
    *("jury finetune", "jury judge", "jury make", "verify --only"),
)
"""Those that take seconds; they run at night."""
OTHER_PROGRAMS = {
    ".venv/bin/inspect": "asks a model on the internet; tests/hedge/test_inspect_scorer.py",
    ".venv/bin/jupyter": "opens JupyterLab; tests/docs/test_notebook_page.py runs the page's code",
    ".venv/bin/pip": "installs",
    "cp": "for containers and services",
    "docker": "needs a container engine",
    "export": "sets variables for the lines below it",
    "git": "downloads",
    "python3": "installs",
    "sbatch": "needs Slurm; tests/benchmarks/cluster_recipe.py",
    "srun": "needs Slurm; tests/benchmarks/cluster_recipe.py",
    "systemctl": "changes the machine",
    "useradd": "changes the machine",
    "~/vllm/bin/hf": "needs an account of the hub",
    "~/vllm/bin/pip": "installs",
    "~/vllm/bin/vllm": "needs GPUs; tests/benchmarks/cluster_recipe.py",
}


class Line(NamedTuple):
    """A command with the page or the help text that shows it."""

    source: str
    text: str

    @property
    def words(self) -> list[str]:
        """What follows ``hedge``."""
        return shlex.split(self.text)[1:]


def help_examples() -> Iterator[Line]:
    """The examples of all commands, those of commands that continue what another one made under its name."""
    for program in (parser(), *ALL):
        _, verb, *_ = [*program.prog.split(), ""]
        after = {"restore-backup": "backup"} | dict.fromkeys(("cancel", "resume", "first", "delete", "restore"), "run")
        for line in (program.epilog or "").splitlines()[1:]:
            yield Line(f"{PROG} {after.get(verb, verb)}".strip(), ENDS.sub("", line).strip())


def page_lines(name: str) -> Iterator[Line]:
    """The commands of a page's shell blocks; batch scripts are no commands."""
    for block in BLOCK.findall(PAGES[name].read_text(encoding="utf-8")):
        if not block.startswith("#!"):
            for line in block.replace("\\\n", " ").splitlines():
                for command in line.split(" && "):
                    text = ENDS.sub("", command).strip()
                    yield Line(name, re.sub(r"^(?:[A-Z_]+=\S* |nohup |nice -n \d+ )+", "", text))


LINES = [*help_examples(), *(line for name in PAGES for line in page_lines(name))]
OURS = [line for line in LINES if line.text.startswith((HEDGE, f"{PROG} "))]
SOURCES = list(dict.fromkeys(line.source for line in OURS))


def is_not_here(line: Line) -> bool:
    return any(re.search(part, line.text) for part in NOT_HERE)


def is_dear(line: Line) -> bool:
    return not is_not_here(line) and any(re.search(part, line.text) for part in DEAR)


def shown_files() -> dict[str, str]:
    """The files that the page of first questions shows, and its Python code."""
    text = (TEXT / "faq.md").read_text(encoding="utf-8")
    results, questions = re.findall(r"```csv\n(.*?)```", text, re.DOTALL)
    (bank,) = re.findall(r"```json\n(.*?)```", text, re.DOTALL)
    (code,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    return {"results.csv": results, "questions.csv": questions, "bank.jsonl": bank, "scores.npz": code}


@pytest.fixture
def clone(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a person's files: those that the manual shows, a model, and texts for Perplexity."""
    monkeypatch.setenv("HEDGE_START_AGENT", "0")
    monkeypatch.chdir(tmp_path)
    for name, content in shown_files().items():
        assert f"`{name}`" in (TEXT / "faq.md").read_text(encoding="utf-8")
        if name.endswith(".npz"):
            exec(content, {})
        else:
            (tmp_path / name).write_text(content)
    shutil.copytree(ASSETS / "models" / "pocket-1m", tmp_path / "my-model")
    (tmp_path / "my-prompt.txt").write_text("You listen well.")
    (tmp_path / "talk.txt").write_text("user: I can't sleep.\nassistant: Since when have you slept badly at night?\n")
    return tmp_path


def failures(lines: list[Line], capsys: pytest.CaptureFixture[str]) -> list[str]:
    """The commands that fail, with what they say."""
    failed = []
    for line in lines:
        try:
            status = main(line.words)
        except SystemExit as stopped:  # argparse, after a help text
            status = stopped.code
        printed = capsys.readouterr().err
        if status:
            failed.append(f"{line.text}: {printed.splitlines()[-1]}")
    return failed


@pytest.mark.parametrize("source", SOURCES)
def test_commands_run(source: str, clone: Path, capsys: pytest.CaptureFixture[str]):
    lines = [line for line in OURS if line.source == source and not is_not_here(line) and not is_dear(line)]
    assert failures(lines, capsys) == []


@pytest.mark.nightly
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("source", list(dict.fromkeys(line.source for line in OURS if is_dear(line))))
def test_dear_commands_run(source: str, clone: Path, capsys: pytest.CaptureFixture[str]):
    assert failures([line for line in OURS if line.source == source and not is_not_here(line)], capsys) == []


def test_commands_that_do_not_run_by_day_parse_and_name_what_is_there(home: Path):
    known = {*shown_files(), "my-model", "./my-model"}
    for line in OURS:
        if not line.words or line.words[0].startswith("-"):
            continue
        options = parser(line.words[0]).parse_args(line.words) if "--help" not in line.words else argparse.Namespace()
        known.add(str(getattr(options, "out", "")))
        if is_dear(line):
            named = (getattr(options, name, None) or [] for name in ("model", "juror", "base"))
            models = [name for value in named for name in ([value] if isinstance(value, str) else value)]
            assert [name for name in models if not model_sources.ships(name) and name not in known] == [], line
            assert all(store.folder_of(name) for name in getattr(options, "run", [])), line


def test_no_reason_is_stale():
    for part in (*NOT_HERE, *DEAR):
        assert any(re.search(part, line.text) for line in OURS), part
    others = {line.text.split()[0] for line in LINES if line.text}
    assert others - {PROG, HEDGE, PYTHON, "cd"} == OTHER_PROGRAMS.keys()


def test_modules_exist():
    texts = [path.read_text(encoding="utf-8") for path in PAGES.values()]
    modules = {name for text in texts for name in re.findall(rf"{re.escape(PYTHON)} -m ([\w.]+)", text)}
    assert {"docs", "pocket_world", "tests.simulation"} <= modules
    assert [name for name in modules if importlib.util.find_spec(name) is None] == []


def spans() -> Iterator[Line]:
    """The commands of Hedge within sentences."""
    for name, path in PAGES.items():
        for span in SPAN.findall(re.sub(r"```.*?```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)):
            yield Line(name, " ".join(span.split()))


def test_commands_within_sentences_have_the_options_that_they_name():
    commands = {program.prog: set(program._option_string_actions) for program in ALL}
    checked = 0
    for line in spans():
        if line.text.startswith(f"{HEDGE} ") and not line.text.startswith(f"{HEDGE} -"):
            text = line.text.replace(HEDGE, "hedge", 1)
            prog = max((prog for prog in commands if f"{text} ".startswith(f"{prog} ")), key=len, default="")
            groups = [prog for prog in commands if prog.startswith(f"{text} ")]
            assert prog or groups, line
            assert set(re.findall(r"--[a-z-]+", text)) <= commands.get(prog, set()), line
            checked += 1
    assert checked > 10


def test_no_command_needs_an_environment_that_is_activated_or_an_id_that_changes():
    shown = [line for line in (*LINES, *spans()) if not line.source.startswith(PROG)]
    assert [line for line in shown if BARE.match(line.text)] == []
    texts = [program.format_help() for program in ALL] + [path.read_text(encoding="utf-8") for path in PAGES.values()]
    assert [match[0] for text in texts for match in re.finditer(r"\S+-[0-9a-f]{10}\b", text)] == []


def test_the_files_of_the_first_questions_are_read(clone: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["import", "results.csv", "scores.npz", "--json"]) == 0
    arrays, table = json.loads(capsys.readouterr().out)["runs"]
    assert store.read_questions(arrays)["label"].to_pylist() == [0, 1, 2, 1]
    assert store.read_questions(table)["role"].to_pylist() == ["calibration"] * 3 + ["test"] * 2
    assert np.exp(store.read_logits(table).logits[0]) == pytest.approx([0.5, 0.3, 0.2])
    assert list(map(len, (question.options for question in catalogue.load("bank.jsonl").questions))) == [3, 2]
