"""The names of tasks, and of the banks that their questions come from, for people.

A task's name says what is asked ("qa"), not which questions: ours, MMLU's, those of somebody's file. A bank's name
stands beside it wherever a task is named.
"""

from __future__ import annotations

from pathlib import PurePath

from core.tasks import DATA_SETS, POCKET_BANK, TASKS, catalogue, finished, leaderboard, short_task

FINISHED = {PurePath(file).stem: f"{DATA_SETS[task]} 10k" for task, file in finished.FILES.items()}
"""The bank of each file of LLM-Uncertainty-Bench, by the file's name without its suffix."""


def bank_of_task(task: str) -> str:
    """The name of the bank that a task of our own takes its questions from, as :mod:`core.tasks.catalogue` names it.

    >>> bank_of_task("qa@hub"), bank_of_task("rc@published"), bank_of_task("qa@/data/mine.json")
    ('MMLU', 'CosmosQA 10k', 'mine')
    """
    name, at, place = task.partition("@")
    if place == "hub":
        return DATA_SETS.get(name, name)
    if place == "published":
        return FINISHED[PurePath(finished.FILES[name]).stem] if name in finished.FILES else place
    if not catalogue.is_file(task):
        return POCKET_BANK
    stem = PurePath(place if at else name).stem
    return FINISHED.get(stem, stem)


def task_title(task: str, bank: str) -> str:
    """The task in words, with its bank unless that is the one that ships with Hedge.

    >>> task_title("ds", "pocket bank"), task_title("qa@hub", "MMLU"), task_title("/data/mine.csv", "mine")
    ('Summaries', 'Question answering · MMLU', 'mine')
    """
    name = short_task(task)
    title = TASKS.get(name, leaderboard.title_of(name))
    return title if bank in (POCKET_BANK, title) else f"{title} · {bank}"
