"""``hedge completion``: a script for the shell."""

from argparse import Namespace

import shtab

from hedge.commands.answer import CommandResult
from hedge.commands.grammar import parser


def completion(arguments: Namespace) -> CommandResult:
    """The script, which completes the words after ``hedge``."""
    script = shtab.complete(parser(), arguments.shell)
    return CommandResult({"shell": arguments.shell, "script": script}, script)
