"""The commands of ``hedge shelf``."""

from hedge.commands.grammar.parsers import Command, Option

NAME = Option("name", "a name from `list`", metavar="NAME")
LINK = Option("name", "a name from `list`, an https link, or OWNER/NAME of a hub data set", metavar="NAME")
ONLY = Option(
    "--only",
    "files whose path matches: a part of it, or a pattern with *; all files if not given",
    "",
    metavar="PATTERN",
)


def leaderboard() -> list[Option]:
    """``shelf leaderboard``."""
    from core.questions.leaderboard import SUITES

    return [
        Option("model", "a model's id on the Hugging Face hub", metavar="ORGANISATION/MODEL"),
        Option("--task", "tasks to import; listed if none is given", choices=("all", *SUITES), nargs="+"),
    ]


COMMANDS = {
    "list": Command("list everything on the shelf", "shelf:show_all", ["shelf list"]),
    "show": Command(
        "one result set: size, licence, protocol and files",
        "shelf:show",
        ["shelf show llm-uncertainty-bench"],
        lambda: [NAME],
    ),
    "bring": Command(
        "download and import a result set",
        "shelf:bring_in",
        ["shelf bring llm-uncertainty-bench --only Mistral-7B"],
        lambda: [LINK, ONLY],
    ),
    "leaderboard": Command(
        "what the Open LLM Leaderboard has of a model, and import some of its tasks",
        "shelf:leaderboard_of",
        ["shelf leaderboard mistralai/Mistral-7B-v0.1 --task musr gpqa"],
        leaderboard,
    ),
}
