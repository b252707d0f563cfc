"""``python -m core completion``: a script for the shell."""

from __future__ import annotations

import shlex
import sys
from argparse import Namespace

import shtab

from core.commands.answer import CommandResult
from core.commands.grammar import parser
from core.settings import ROOT

NAME = "hedge"
"""The command that the script defines: shells complete the words of a command, and ``python -m core`` is three."""


def completion(arguments: Namespace) -> CommandResult:
    """The script: a command ``hedge`` that is ``python -m core`` from any folder, and its completion."""
    python, root = shlex.quote(sys.executable), shlex.quote(str(ROOT))
    defined = f'{NAME}() {{ PYTHONPATH={root} {python} -m core "$@"; }}'
    script = shtab.complete(parser(prog=NAME), arguments.shell)
    return CommandResult({"shell": arguments.shell, "script": f"{script}\n{defined}"}, f"{script}\n{defined}")
