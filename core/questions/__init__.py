"""The benchmark tasks and their questions.

Five as in Ye et al. 2024, two as in Robinson & Wingate 2022. A task runs without a network once its questions ship
in ``assets/bank/``; :mod:`core.questions.catalogue` has every other place that questions come from.
"""

from pathlib import PurePath

TASKS = {
    "qa": "Question answering",
    "rc": "Reading comprehension",
    "ci": "Commonsense inference",
    "drs": "Dialogue responses",
    "ds": "Summaries",
    "arc": "Science questions",
    "csqa": "Commonsense questions",
}
"""Task name → title."""

POCKET_BANK = "pocket bank"
"""The name of the bank of questions that ships with Hedge."""
DATA_SETS = {
    "qa": "MMLU",
    "rc": "CosmosQA",
    "ci": "HellaSwag",
    "drs": "HaluEval dialogue",
    "ds": "HaluEval summarization",
    "arc": "ARC-Challenge",
    "csqa": "CommonsenseQA",
}
"""Task name → the name of the hub's data set that its questions are made of."""


PACKED = (".gz", ".zst", ".xz", ".bz2")
"""The endings of compressed files, behind those of what they hold."""


def file_stem(name: str) -> str:
    """A file's name without its ending, which may be two.

    >>> file_stem("mine.csv"), file_stem("mine.csv.gz")
    ('mine', 'mine')
    """
    path = PurePath(name)
    return PurePath(path.stem).stem if path.suffix.lower() in PACKED else path.stem


def split_task(task: str) -> tuple[str, str]:
    """A task's name and the place of its questions; a file is its own name and has no place, whatever its path has.

    >>> split_task("qa@/data/mmlu@2.json"), split_task("qa"), split_task("/me@home/mine.csv")
    (('qa', '/data/mmlu@2.json'), ('qa', ''), ('/me@home/mine.csv', ''))
    """
    name, at, place = task.partition("@")
    return (name, place) if at and "/" not in name else (task, "")


def short_task(task: str) -> str:
    """A task without the location of its questions.

    >>> short_task("qa@/mmlu.json"), short_task("/data/mine.csv")
    ('qa', 'mine')
    """
    name, place = split_task(task)
    return name if place else file_stem(name)
