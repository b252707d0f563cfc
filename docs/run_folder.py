"""The page of the run folder, generated from runs that ship with Hedge and from the words on each of their fields.

The build fails where a shipped run has a field that is not described here, or the other way round.
"""

import json
from collections.abc import Mapping

import pyarrow.parquet as pq

from core.errors import InputError
from core.runs.shared_questions import FILE, LINK, questions_file
from core.settings import ASSETS

FILES = {
    "run.json": "What was asked for, what happened, and with which versions; its keys stand below.",
    "questions.parquet": "The questions, a row each, and what each is used for.",
    "questions.json": "Of runs that ship, instead of `questions.parquet`: the name of a file that they share.",
    "logits.parquet": "What the model said about the options, a row for each question.",
    "bare.parquet": "Where options are scored as text: what each option's text scores without its question.",
    "request.json": "Of a perplexity run: the conversations, the system prompts and the way of scoring.",
    "losses.parquet": "Of a perplexity run: a row for each message under each prompt.",
    "log.txt": "What the worker reported, line by line.",
}
"""What each file of a shipped run holds."""

PASSING = {
    "written.parquet": "The answers that the model wrote, where the run asked for them (`--repeats`).",
    "chunks/": "While a run is running: finished parts of `logits.parquet`. They make a run resumable.",
    "progress.json": "While a run is running: how far it is.",
}
"""Files that no shipped run has."""

KEYS = {
    "schema": "The version of this form. Older versions are read; newer ones are refused.",
    "id": "The run's id. It is also the folder's name.",
    "spec": "What was asked for: model, task, strategy, precision, number of examples, seed and so on.",
    "state": "`queued`, `running`, `done`, `failed`, `cancelled`, or `paused` (no server, or no budget left).",
    "message": "Why a run failed, or what it waits for.",
    "created": "When the run was launched, in seconds since 1970.",
    "started": "When a worker began with it.",
    "ended": "When it ended.",
    "provenance": "Where the results come from: data, versions, device, an example prompt, the check of the scoring.",
    "files": "The digests of the run's tables, by their names, once the run is done. Older runs have none.",
    "sealed": "The digest of all other keys. Older runs have none.",
}
"""What each key of ``run.json`` holds."""

COLUMNS = {
    "questions.parquet": {
        "id": "The question's id.",
        "task": "The task.",
        "group": "The subject within the task.",
        "context": "The passage or dialogue that the question is about; it may be empty.",
        "question": "The question.",
        "options": "The options' texts, in the order in which they were shown.",
        "label": "The number of the true option, from 0.",
        "role": "`calibration`, `test`, `demonstration` or `rotation`.",
    },
    "logits.parquet": {
        "id": "The question's id.",
        "logits": "A number for each option; their softmax is the options' probabilities.",
        "letter_mass": "The share of the next token's probability that fell on the option letters, from 0 to 1.",
        "top_token": "The most probable next token, where letters were asked for.",
        "option_tokens": "The number of tokens of each option, where options are scored as text.",
    },
    "bare.parquet": {
        "by": "What stood before the text in place of the question.",
        "text": "The option's text.",
        "log_p": "The sum of its tokens' log-probabilities.",
    },
    "losses.parquet": {
        "prompt": "The version of the system prompt.",
        "source": "The conversation.",
        "message": "The number of the message.",
        "dropped": "How many earlier messages did not fit into the model's context.",
        "pieces": "The message's tokens, as text.",
        "losses": "The loss of each token, −log p, in nats.",
    },
}
"""What each column of a table holds."""


def page() -> str:
    """The files, the keys and the columns of a run folder.

    Raises :class:`InputError` where the shipped runs have other files, keys or columns than are described here.
    """
    files, keys, columns = _found()
    _check("the files of a run folder", files, FILES)
    _check("the keys of run.json", keys, KEYS)
    parts = [
        "# The run folder",
        "A run is a folder in `.hedge/runs`, or in `runs` of the folder that `HEDGE_HOME` names. Its tables are "
        "Parquet files, so any tool reads them. This page is checked against the runs that ship with Hedge.",
        _table("File", {f"`{name}`": text for name, text in {**FILES, **PASSING}.items()}),
        "`run.json` and the tables carry digests, so that a file that was damaged is not read as another result; a "
        "table has its own in 29 bytes before its footer, where no reader looks. To change a run yourself, delete "
        "`files` and `sealed` from its `run.json`: a file without a digest is read as it is.",
        "## run.json",
        _table("Key", {f"`{name}`": text for name, text in KEYS.items()}),
    ]
    for name, described in COLUMNS.items():
        _check(f"the columns of {name}", columns[name], described)
        types = {f"`{column}` ({columns[name][column]})": text for column, text in described.items()}
        parts += [f"## {name}", _table("Column", types)]
    return "\n\n".join(parts) + "\n"


def _found() -> tuple[set[str], set[str], dict[str, dict[str, str]]]:
    """The files, the keys of ``run.json`` and the columns with their types that shipped runs have."""
    files: set[str] = set()
    keys: set[str] = set()
    columns: dict[str, dict[str, str]] = {name: {} for name in COLUMNS}
    for folder in sorted((ASSETS / "runs").iterdir()):
        files |= {path.name for path in folder.iterdir()} | ({FILE} if (folder / LINK).is_file() else set())
        keys |= set(json.loads((folder / "run.json").read_bytes()))
        for name in COLUMNS:
            path = questions_file(folder) if name == FILE else folder / name
            if path.is_file():
                columns[name] |= {column.name: str(column.type).split("[")[0] for column in pq.read_schema(path)}
    return files, keys, columns


def _check(what: str, names: set[str] | Mapping[str, str], described: Mapping[str, str]) -> None:
    if set(names) != set(described):
        unlike = sorted(set(names) ^ set(described))
        raise InputError(f"{what} are not those that docs/run_folder.py describes: {', '.join(unlike)}")


def _table(head: str, rows: Mapping[str, str]) -> str:
    return "\n".join([f"| {head} | What it holds |", "| --- | --- |", *(f"| {a} | {b} |" for a, b in rows.items())])
