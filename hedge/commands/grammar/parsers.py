"""How a table of commands and options becomes parsers: errors in one sentence, help that says defaults."""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from core.errors import InputError
from hedge.commands.answer import CommandResult

PROG = "hedge"
"""The program's name in help texts; in a checkout ``python -m core`` does the same."""
OF_ARGPARSE = ("default", "type", "nargs", "metavar", "required", "dest", "action", "const")
"""The fields of :class:`Option` that argparse takes as they are."""


class Parser(argparse.ArgumentParser):
    """A parser that reports an error in one sentence and leaves the exit to :func:`hedge.cli.main`."""

    def error(self, message: str) -> NoReturn:
        """Raise :class:`InputError`."""
        raise InputError(f"{message}; `{self.prog} --help` shows the options")

    def _print_message(self, message: str, file: Any = None) -> None:
        """Print a help text. An error of the output reaches :func:`hedge.cli.main`; argparse would ignore it."""
        print(message, end="", file=file or sys.stderr, flush=True)


class Help(argparse.HelpFormatter):
    """Help that says each default, and keeps the lines of examples."""

    def _get_help_string(self, action: argparse.Action) -> str:
        text, default = action.help or "", action.default
        if not action.option_strings or action.required or isinstance(default, bool) or default in (None, "", [], ()):
            return text
        if default == argparse.SUPPRESS:
            return text
        shown = " ".join(map(str, default)) if isinstance(default, (list, tuple)) else default
        return f"{text} (default: {shown})".replace("%", "%%") if "%" in str(shown) else f"{text} (default: {shown})"

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        if "\n" in text:
            return "".join(indent + line for line in text.splitlines(keepends=True))
        return super()._fill_text(text, width, indent)


@dataclass(frozen=True, slots=True)
class Option:
    """An option or a positional argument: its names, separated by spaces, and the fields of argparse's
    ``add_argument``.

    A default of False makes a flag, a number as default makes the values numbers, and a list as default takes several
    values. Options with the same ``group`` stand under that title; of those with ``exclusive`` only one may be given.
    """

    names: str
    help: str
    default: Any = None
    choices: Iterable[Any] | None = None
    type: Callable[[str], Any] | None = None
    nargs: str | None = None
    metavar: str | None = None
    required: bool | None = None
    dest: str | None = None
    action: str | None = None
    const: Any = None
    group: str = ""
    exclusive: bool = False

    def add_by(self, add_argument: Callable[..., object]) -> None:
        """Add the option by the method of a parser or of a group of one."""
        keywords = {name: value for name in OF_ARGPARSE if (value := getattr(self, name)) is not None}
        if self.choices is not None:
            keywords["choices"] = tuple(self.choices)
        if self.default is False:
            keywords = {"action": "store_true"}
        elif isinstance(self.default, list):
            keywords.setdefault("nargs", "+")
        example = self.default[0] if isinstance(self.default, list) and self.default else self.default
        if type(example) in (int, float):
            keywords["type"] = type(example)
        add_argument(*self.names.split(), help=self.help, **keywords)


JSON = Option("--json", "print one JSON document on standard output", False)


@dataclass(frozen=True, slots=True)
class Command:
    """A command: what it does, in a line; ``module:function`` under :mod:`hedge.commands`, which is only imported when
    the command is run; examples, which are what follows ``hedge``; and its options, made when it is asked for.

    A command with ``commands`` is a group of them, and ``dest`` the name under which argparse keeps the one chosen.
    """

    says: str
    function: str = ""
    examples: Sequence[str] = ()
    options: Callable[[], Sequence[Option]] = tuple
    json: Option = JSON
    commands: Callable[[], Mapping[str, Command]] | None = None
    dest: str = ""

    def fill(self, parser: argparse.ArgumentParser) -> None:
        """Give a parser the options of the command, or the commands of the group."""
        if self.commands:
            add_commands(parser, self.commands(), dest=self.dest)
            return
        parser.set_defaults(action=_lazy(self.function))
        self.json.add_by(parser.add_argument)
        parser.epilog = "\n".join(["examples:", *(f"  {PROG} {example}" for example in self.examples)])
        groups: dict[str, Callable[..., object]] = {"": parser.add_argument}
        exclusive = None
        for option in self.options():
            if option.exclusive:
                exclusive = exclusive or parser.add_mutually_exclusive_group().add_argument
            elif option.group not in groups:
                groups[option.group] = parser.add_argument_group(option.group).add_argument
            option.add_by(exclusive if option.exclusive and exclusive else groups[option.group])


def add_commands(
    parser: argparse.ArgumentParser, commands: Mapping[str, Command], *, dest: str, only: str | None = None
) -> None:
    """Give a parser these commands; with ``only``, the options of this one alone."""
    verbs = parser.add_subparsers(dest=dest, required=True, metavar="COMMAND", parser_class=Parser)
    for name, command in commands.items():
        command_parser = verbs.add_parser(name, help=command.says, description=command.says, formatter_class=Help)
        if only in (None, name):
            command.fill(command_parser)


def _lazy(function: str) -> Callable[[argparse.Namespace], CommandResult]:
    module, _, name = function.partition(":")

    def act(arguments: argparse.Namespace) -> CommandResult:
        from core import extras  # imports pydantic, for which a help text need not wait

        with extras.missing_packages_explained():
            answer: CommandResult = getattr(importlib.import_module(f"hedge.commands.{module}"), name)(arguments)
        return answer

    return act
