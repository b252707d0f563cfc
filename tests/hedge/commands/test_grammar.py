"""The grammar of the command line: help with defaults, examples that parse, completion, and what help imports."""

import argparse
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator

import pytest

from core.settings import ROOT
from hedge.cli import main
from hedge.commands.grammar import COMMANDS, parser
from hedge.commands.grammar.parsers import PROG


def commands(program: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    """Every parser that runs a command, those in groups too."""
    inner = [action for action in program._actions if isinstance(action, argparse._SubParsersAction)]
    if not inner:
        yield program
    for action in inner:
        for choice in action.choices.values():
            yield from commands(choice)


ALL = list(commands(parser()))


@pytest.mark.quick
@pytest.mark.parametrize("program", ALL, ids=lambda program: program.prog)
def test_every_argument_has_help_that_says_what_happens_without_it(program: argparse.ArgumentParser):
    for action in program._actions:
        words = program._get_formatter()._expand_help(action) if action.help else ""
        assert words, f"{program.prog} {action.dest}"
        if not action.option_strings or action.required or action.nargs == 0:
            continue
        if action.default in (None, "", [], ()):
            assert re.search(r"\b(if|unless)\b", words), f"{program.prog} {action.dest}: and without it?"
        else:
            shown = action.default if isinstance(action.default, list | tuple) else [action.default]
            assert words.endswith(f"(default: {' '.join(map(str, shown))})"), f"{program.prog} --{action.dest}"


@pytest.mark.quick
@pytest.mark.parametrize("program", ALL, ids=lambda program: program.prog)
def test_every_command_has_examples_that_are_its_own_and_parse(program: argparse.ArgumentParser):
    assert program.epilog
    first, *examples = program.epilog.splitlines()
    assert first == "examples:"
    for example in examples:
        line = example.strip().partition(" > ")[0]
        assert line.startswith(program.prog)
        words = shlex.split(line.removeprefix(PROG))
        assert callable(parser(words[0]).parse_args(words).action)
        assert example in program.format_help()


def test_help_imports_no_library_that_takes_time():
    """``--help`` needs .1 s; numpy and pydantic alone take .3."""
    says = (
        "import sys; from hedge.cli import parser; text = parser('').format_help(); "
        "print(sorted({'numpy', 'pydantic', 'pandas', 'pyarrow', 'scipy', 'torch'} & set(sys.modules))); print(text)"
    )
    done = subprocess.run([sys.executable, "-c", says], cwd=ROOT, capture_output=True, text=True, check=True)
    loaded, _, text = done.stdout.partition("\n")
    assert loaded == "[]"
    assert all(f"\n    {name}" in text for name in COMMANDS)


@pytest.mark.quick
def test_no_words_print_the_help(capsys):
    assert main([]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith(f"usage: {PROG}")
    assert "examples:" in printed.err


@pytest.mark.quick
@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_completion_knows_commands_and_options(shell, capsys):
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert "hedge" in script
    assert all(word in script for word in ("train-adapter", "--calibration-share", "bfloat16", "--n-calibration"))


def test_the_script_completes_in_bash(tmp_path):
    """As bash does it at the tab key, with the words of the line and the place in it."""
    script = tmp_path / "completion"
    with script.open("w") as file:
        subprocess.run([sys.executable, "-m", "core", "completion", "bash"], cwd=ROOT, stdout=file, check=True)
    asks = f'source {script}; COMP_WORDS=(hedge run --dty); COMP_CWORD=2; _shtab_hedge; echo "${{COMPREPLY[@]}}"'
    done = subprocess.run(["bash", "-c", asks], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "--dtype"
