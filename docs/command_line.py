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
    parts = ["# Command line", "`hedge` does all that the pages do. This page is generated from its parser."]
    with mock.patch.dict(os.environ, {"COLUMNS": WIDTH}):
        for made in _parsers(parser()):
            parts += [f"## {made.prog}", f"```text\n{made.format_help().rstrip()}\n```"]
    return "\n\n".join(parts) + "\n"


def _parsers(made: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    """The parser, then those of its commands, in the order in which the help lists them."""
    yield made
    for action in made._actions:
        if isinstance(action, argparse._SubParsersAction):
            for inner in action.choices.values():
                yield from _parsers(inner)
