"""The page of the command line, generated from the parser itself."""

import argparse
import os
from collections.abc import Iterator
from unittest import mock

from hedge.commands.grammar import parser

WIDTH = "100"
"""Columns of the printed help."""


def page() -> str:
    """Every command with its help, nested ones after the command that they belong to."""
    parts = [
        "# Command line",
        "Every command with its options and examples. In Hedge's folder, `hedge` is `.venv/bin/hedge`. This page is "
        "generated from the parser.",
    ]
    with mock.patch.dict(os.environ, {"COLUMNS": WIDTH}):
        for command in _parsers(parser()):
            parts += [f"## {command.prog}", f"```text\n{command.format_help().rstrip()}\n```"]
    return "\n\n".join(parts) + "\n"


def _parsers(command: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    """The parser, then those of its commands, in the order in which the help lists them."""
    yield command
    for action in command._actions:
        if isinstance(action, argparse._SubParsersAction):
            for inner in action.choices.values():
                yield from _parsers(inner)
