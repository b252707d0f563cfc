"""Results of the Open LLM Leaderboard v2: for each of thousands of models a data set of lm-evaluation-harness samples.

The data set of a model is ``open-llm-leaderboard/ORGANISATION__MODEL-details``. In its folder ``ORGANISATION__MODEL``
lies for each task ``samples_leaderboard_TASK_DATE.jsonl`` (``.json`` in mid-2024), and ``results_DATE.json`` of each
evaluation. Of a task that was evaluated more than once, the last evaluation counts, which is what the data set's own
split ``latest`` points to. MMLU-Pro, GPQA, BBH and MuSR have a log-likelihood for each option; IFEval and MATH are
generated texts.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import PurePosixPath

from core.errors import InputError
from core.questions.leaderboard import SUITES, suite_of, title_of
from core.shelf import hub
from core.shelf.entries import Entry, ShelfFile, read_hub_id
from core.tables.safe_read import LARGEST_FILE

NAME = "open-llm-leaderboard"
"""The leaderboard's name on the shelf, and that of its organisation on the hub."""
TITLE = "Open LLM Leaderboard v2: any of its models"
SAMPLES = re.compile(r"^samples_(?P<task>leaderboard_\w+?)_(?P<date>\d{4}-\d\d-\d\dT[\d\-.]+?)\.jsonl?$")
RESULTS = re.compile(r"^results_(?P<date>\d{4}-\d\d-\d\dT[\d\-.]+?)\.json$")
HUB = re.compile(r"^(https?://)?(www\.)?(huggingface\.co|hf\.co)/(datasets/)?")


def model_id(text: str) -> str:
    """The hub id of a model, ``ORGANISATION/MODEL``, from what a person typed or pasted.

    Raises :class:`InputError` for an invalid text.

    >>> model_id("https://huggingface.co/Qwen/Qwen2.5-7B"), model_id("open-llm-leaderboard/Qwen__Qwen2.5-7B-details")
    ('Qwen/Qwen2.5-7B', 'Qwen/Qwen2.5-7B')
    """
    name = HUB.sub("", text.strip()).strip("/")
    details = re.fullmatch(rf"{NAME}/([\w.-]+?)__([\w.-]+)-details", name)
    if details:
        name = f"{details[1]}/{details[2]}"
    if read_hub_id(name) is None:
        raise InputError(
            f"expected a model of the Hugging Face hub as ORGANISATION/MODEL, such as Qwen/Qwen2.5-7B, got {text!r}"
        )
    return name


def of_model(text: str) -> Entry:
    """The leaderboard's results of a model, by task (``values["task"]`` is a key of :data:`SUITES`). Raises
    :class:`InputError` with one sentence for a text that is no model's id, a model that the leaderboard does not have,
    one without a multiple-choice task, and a hub that can't be reached."""
    model = model_id(text)
    repository = f"{NAME}/{model.replace('/', '__')}-details"
    try:
        files = [hub.described(repository, path) for path in hub.listed(repository)]
    except hub.NotOnHubError as error:
        raise InputError(
            f"the Open LLM Leaderboard has no results of {model} (there is no {repository} on the hub, or HF_TOKEN may "
            "not see it); check how the model's name is spelled on the hub"
        ) from error
    samples = _latest(files)
    if not samples:
        others = sorted({match["task"] for file in files if (match := SAMPLES.match(_base(file)))})
        raise InputError(
            f"expected samples of {_listed(tuple(SUITES.values()))} among the leaderboard's results of {model}, found "
            f"{'only ' + ', '.join(others) if others else 'no samples'}; nothing says how probable each option is"
        )
    return Entry(
        name=f"{NAME}-{model.replace('/', '-')}",
        title=f"Open LLM Leaderboard: {model}",
        about=f"Log-likelihoods of every option that {model} was asked about, in "
        f"{_listed([SUITES[name] for name in dict.fromkeys(file.values['task'] for file in samples)])}.",
        authors="Fourrier, Habib, Lozovskaya, Szafer and Wolf 2024",
        paper="",
        licence="",
        files=(*samples, *_results(files, samples)),
        protocol={"demonstrations": "5 in MMLU-Pro, 3 in BBH, none in GPQA and MuSR"},
        figures="lm-eval",
        model=model,
        choices=("task",),
        names=SUITES,
    )


def _latest(files: Iterable[ShelfFile]) -> list[ShelfFile]:
    """The last samples of each multiple-choice task, in the order of :data:`SUITES`."""
    newest: dict[str, tuple[str, ShelfFile]] = {}
    for file in files:
        match = SAMPLES.match(_base(file))
        if match is None or not suite_of(match["task"]) or not 0 < file.at_most <= LARGEST_FILE:
            continue
        if match["task"] not in newest or newest[match["task"]][0] < match["date"]:
            newest[match["task"]] = match["date"], file
    order = list(SUITES)
    tasks = sorted(newest, key=lambda task: (order.index(suite_of(task)), title_of(task)))
    return [replace(newest[task][1], values={"task": suite_of(task)}) for task in tasks]


def _results(files: Iterable[ShelfFile], samples: Sequence[ShelfFile]) -> list[ShelfFile]:
    """The results of the same evaluations, each fetched together with any samples of its date."""
    dates = {match["date"] for file in samples if (match := SAMPLES.match(_base(file)))}
    return [
        replace(file, needed_by=f"*_{match['date']}.json*")
        for file in files
        if (match := RESULTS.match(_base(file))) and match["date"] in dates
    ]


def _base(file: ShelfFile) -> str:
    return PurePosixPath(file.path).name


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:-1]) + f" and {names[-1]}" if len(names) > 1 else names[0]
