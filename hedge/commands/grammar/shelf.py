"""The grammar of ``hedge shelf``."""

from __future__ import annotations

import argparse

from hedge.commands.grammar.parsers import group, inner

SAYS = "published results of large models: download, check, import, and recompute what their authors published"


def shelf(made: argparse.ArgumentParser) -> None:
    """``shelf`` with its commands."""
    from core.questions.leaderboard import SUITES

    verbs = group(made, "of_shelf")
    inner(verbs, "list", "shelf:show_all", "list everything on the shelf", "shelf list")
    says = "one result set: size, licence, protocol and files"
    shown = inner(verbs, "show", "shelf:show", says, "shelf show llm-uncertainty-bench")
    shown.add_argument("name", metavar="NAME", help="a name from `list`")
    says = "download and import a result set"
    example = "shelf bring llm-uncertainty-bench --only Mistral-7B"
    brought = inner(verbs, "bring", "shelf:bring_in", says, example)
    brought.add_argument(
        "name", metavar="NAME", help="a name from `list`, an https link, or OWNER/NAME of a hub data set"
    )
    brought.add_argument(
        "--only",
        default="",
        metavar="PATTERN",
        help="files whose path matches: a part of it, or a pattern with *; all files if not given",
    )
    says = "what the Open LLM Leaderboard has of a model, and bring some of its tasks in"
    example = "shelf leaderboard mistralai/Mistral-7B-v0.1 --task musr gpqa"
    board = inner(verbs, "leaderboard", "shelf:leaderboard_of", says, example)
    board.add_argument("model", metavar="ORGANISATION/MODEL", help="a model's id on the Hugging Face hub")
    board.add_argument("--task", nargs="+", choices=("all", *SUITES), help="tasks to bring in; listed if none is given")
