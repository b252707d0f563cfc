"""The grammar of the command line: every command with its summary and its arguments.

A command's arguments, and the modules that know what they may be, are only made when the command is asked for, or when
the whole grammar is. ``hedge --help`` imports none of them.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass

from core import __version__
from hedge.commands.grammar import juries, launching, reporting, shelf, token_level
from hedge.commands.grammar.parsers import PROG, Help, Parser


@dataclass(frozen=True, slots=True)
class Command:
    """A command: what it does, in a line, and the function that gives its parser the arguments."""

    says: str
    fill: Callable[[argparse.ArgumentParser], None]


COMMANDS = {
    "doctor": Command("what this machine can run", launching.doctor),
    "verify": Command(
        "try on this machine what runs need of it: devices, precisions, memory, workers, training", launching.verify
    ),
    "run": Command("score models on tasks, here or (--queue) in a background worker", launching.run),
    "runs": Command("all runs and their states", launching.runs),
    "cancel": Command("stop runs; what has finished is kept", launching.cancel),
    "resume": Command("continue runs that were cancelled or failed", launching.resume),
    "first": Command("move queued runs to the front, in the order given", launching.first),
    "delete": Command("move runs to the bin, which keeps them for a week", launching.delete),
    "restore": Command("restore deleted runs from the bin", launching.restore),
    "bin": Command("list the bin, and the disk space that it takes", launching.show_bin),
    "report": Command("accuracy, coverage and set size at alpha", reporting.report),
    "compare": Command(
        "compare runs: figures, paired tests and published claims; sets by the first score", reporting.compare
    ),
    "prompting": Command("compare ways of asking: by letter and by text, by shots", reporting.prompting),
    "import": Command("import results of other tools, juries and Hedge's own runs", reporting.import_),
    "export": Command("export runs: tables, charts, or a report that needs no network", reporting.export),
    "figure": Command("draw one figure for a paper or a slide, with its caption and provenance", reporting.figure),
    "shelf": Command(shelf.SAYS, shelf.shelf),
    "jury": Command(
        "juries: several judges of the same answers, rules that combine their verdicts, agreement, import and export",
        juries.jury,
    ),
    "perplexity": Command("how a system prompt changes how likely each word of a counselor is", token_level.perplexity),
    "calibration": Command(
        "how far a run's confidence can be trusted: errors with intervals, reliability, recalibration",
        reporting.calibration,
    ),
    "train-adapter": Command(
        "train an ARD-LoRA or LoRA adapter of a model; the same --out continues where it stopped",
        token_level.train_adapter,
    ),
    "tokens": Command("the uncertainty of single tokens", token_level.tokens),
    "backup": Command("write runs, juries, classes and settings into one file", launching.backup),
    "restore-backup": Command("bring back what `backup` wrote", launching.restore_backup),
    "agent": Command("run the workers of this host until stopped", launching.agent),
    "completion": Command("print a script that completes commands and options in a shell", launching.completion),
}
"""Every command by its name, in the order of the help."""

DESCRIPTION = (
    "Hedge: how sure a language model really is. Without a command, hedge opens the app in a browser; the options are "
    "then --public, --login FILE, and those of Streamlit, such as --server.port 8600."
)
EXAMPLES = """examples:
  hedge doctor
  hedge run --model pocket-8m --task qa --mode short
  hedge report pocket-8m-qa --alpha 0.2
  hedge COMMAND --help"""


def parser(only: str | None = None) -> Parser:
    """The whole grammar, or of one command ``only`` with the names and summaries of all others."""
    top = Parser(prog=PROG, description=DESCRIPTION, epilog=EXAMPLES, formatter_class=Help)
    top.add_argument("--version", action="version", version=f"Hedge {__version__}", help="print the version and exit")
    verbs = top.add_subparsers(dest="verb", required=True, metavar="COMMAND", parser_class=Parser)
    for name, of in COMMANDS.items():
        made = verbs.add_parser(name, help=of.says, description=of.says, formatter_class=Help)
        if only in (None, name):
            of.fill(made)
    return top
