"""The grammar of ``python -m core shelf``."""

from __future__ import annotations

import argparse

from core.commands.grammar.parsers import group, inner


def shelf(made: argparse.ArgumentParser) -> None:
    """``shelf`` with its commands."""
    from core.tasks.leaderboard import SUITES

    verbs = group(made, "of_shelf")
    inner(verbs, "list", "shelf:show_all", "list everything on the shelf", "shelf list")
    asked = inner(
        verbs,
        "show",
        "shelf:show",
        "one result set: size, licence, protocol and files",
        "shelf show vlm-uncertainty-bench",
    )
    asked.add_argument("name", metavar="NAME", help="a name from `list`")
    asked = inner(
        verbs,
        "bring",
        "shelf:bring_in",
        "download and import a result set",
        'shelf bring llm-uncertainty-bench --only "*Mistral-7B*_mmlu_*"',
        "shelf bring https://example.org/scores.csv",
    )
    asked.add_argument(
        "name", metavar="NAME", help="a name from `list`, an https link, or OWNER/NAME of a hub data set"
    )
    asked.add_argument(
        "--only",
        default="",
        metavar="PATTERN",
        help="files whose path matches: a part of it, or a pattern with *; all files if not given",
    )
    asked = inner(
        verbs,
        "leaderboard",
        "shelf:leaderboard_of",
        "what the Open LLM Leaderboard has of a model, and bring some of its tasks in",
        "shelf leaderboard Qwen/Qwen2.5-7B",
        "shelf leaderboard Qwen/Qwen2.5-7B --task gpqa musr",
    )
    asked.add_argument("model", metavar="ORGANISATION/MODEL", help="a model's id on the Hugging Face hub")
    asked.add_argument("--task", nargs="+", choices=("all", *SUITES), help="tasks to bring in; listed if not given")
