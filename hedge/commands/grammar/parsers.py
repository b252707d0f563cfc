"""What all parsers of the command line share: errors in one sentence, help that says defaults, lazy commands."""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from core.errors import InputError
from hedge.commands.answer import CommandResult

PROG = "hedge"
"""The program's name in help texts; in a checkout ``python -m core`` does the same."""
ALPHA_HELP = "how often a set may miss the truth, in (0, 1)"
RUN_HELP = "run ids, or their beginnings"
DTYPE_HELP = "the precision; int8 and int4 need an NVIDIA GPU"
FOLDER_HELP = "a folder; it is created if it is missing"

Action = Callable[[argparse.Namespace], CommandResult]


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
        said, default = action.help or "", action.default
        if not action.option_strings or action.required or isinstance(default, bool) or default in (None, "", []):
            return said
        if default == argparse.SUPPRESS:
            return said
        shown = " ".join(map(str, default)) if isinstance(default, (list, tuple)) else default
        return f"{said} (default: {shown})".replace("%", "%%") if "%" in str(shown) else f"{said} (default: {shown})"

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        if "\n" in text:
            return "".join(indent + line for line in text.splitlines(keepends=True))
        return super()._fill_text(text, width, indent)


def command(
    made: argparse.ArgumentParser, action: str, *examples: str, json_file: bool = False
) -> argparse.ArgumentParser:
    """Make the parser that of a command.

    ``action`` is ``module:function`` under :mod:`hedge.commands`, which is only imported when the command is run.
    ``examples`` are what follows ``hedge``. With ``json_file`` the command can write its document to a file.
    """
    made.set_defaults(action=_lazy(action))
    if json_file:
        made.add_argument(
            "--json",
            nargs="?",
            const=True,
            metavar="FILE",
            help="write one JSON document to a file, or print it on standard output if no file is named",
        )
    else:
        made.add_argument("--json", action="store_true", help="print one JSON document on standard output")
    made.epilog = "\n".join(["examples:", *(f"  {PROG} {example}" for example in examples)])
    return made


def inner(verbs: Any, name: str, action: str, says: str, *examples: str) -> argparse.ArgumentParser:
    """A command of a group of commands."""
    return command(verbs.add_parser(name, help=says, description=says, formatter_class=Help), action, *examples)


def group(made: argparse.ArgumentParser, dest: str) -> Any:
    """The place for the commands of a group."""
    return made.add_subparsers(dest=dest, required=True, metavar="COMMAND", parser_class=Parser)


def _lazy(action: str) -> Action:
    module, _, name = action.partition(":")

    def act(arguments: argparse.Namespace) -> CommandResult:
        from core import extras  # imports pydantic, for which a help text need not wait

        with extras.missing_packages_explained():
            answer: CommandResult = getattr(importlib.import_module(f"hedge.commands.{module}"), name)(arguments)
        return answer

    return act


def runs_argument(made: argparse.ArgumentParser, *, help: str = RUN_HELP) -> None:
    """One run or more."""
    made.add_argument("run", nargs="+", metavar="RUN", help=help)


def alpha_argument(made: argparse.ArgumentParser, help: str = ALPHA_HELP) -> None:
    """``--alpha``."""
    made.add_argument("--alpha", type=float, default=0.1, help=help)


def sets_arguments(made: argparse.ArgumentParser) -> None:
    """Runs, and the rule by which their sets are formed."""
    from core.conformal.scores import SCORE_NAMES
    from core.conformal.sets import EMPTY_POLICIES
    from core.conformal.threshold import THRESHOLDS
    from core.reports.report import DEFAULT_SCORES

    runs_argument(made)
    alpha_argument(made)
    made.add_argument(
        "--score", nargs="+", default=list(DEFAULT_SCORES), choices=SCORE_NAMES, help="the conformal scores"
    )
    made.add_argument(
        "--threshold",
        default="exact",
        choices=tuple(THRESHOLDS),
        help="exact keeps the guarantee; the others are those of published code",
    )
    made.add_argument(
        "--empty", default="allow", choices=EMPTY_POLICIES, help="allow empty sets, or give them the top option"
    )


def out_folder(made: argparse.ArgumentParser, help: str = FOLDER_HELP) -> None:
    """``--out`` of a folder."""
    made.add_argument("--out", type=Path, required=True, metavar="DIR", help=help)


def dtype_argument(
    made: argparse.ArgumentParser, help: str = "the precision; int8 and int4 need an NVIDIA GPU"
) -> None:
    """``--dtype`` of one model."""
    from core.models.models import DTYPES

    made.add_argument("--dtype", default="float32", choices=DTYPES, help=help)


def queue_argument(made: argparse.ArgumentParser) -> None:
    """``--queue``."""
    made.add_argument("--queue", action="store_true", help="leave the run to this host's workers")
