"""The answers that a model writes to a run's test questions, in its own words, and which option each one names.

Answers go into ``chunks/written.jsonl`` as they come, a line for each question, so that a run that stops keeps them.
"""

from collections.abc import Callable, Collection
from pathlib import Path

from core.models.engine import Engine
from core.models.server.left_out import LeftOut
from core.questions.prompting.written import find_answer
from core.questions.split import Draw
from core.runs import store
from core.runs.execution.progress import ProgressReporter
from core.runs.prompts import make_prompt
from core.runs.spec import RunSpec
from core.storage.atomic import write_atomically
from core.storage.sealed import json_line, read_lines

NOTED_EVERY = 100
"""The number of questions after which the cost of a server is recorded."""


def write_answers(
    engine: Engine,
    spec: RunSpec,
    drawn: Draw,
    folder: Path,
    reporter: ProgressReporter,
    *,
    note: Callable[[], None],
    left_out: LeftOut | None = None,
    missing: Collection[str] = (),
) -> None:
    """Let the model answer the test questions that no earlier try answered, and write them all down.

    ``note`` is called now and then. Questions that are ``missing`` already are not asked; ``left_out`` holds those that
    the server does not answer.
    """
    test = [q for q, role in zip(drawn.questions, drawn.roles, strict=True) if role == "test"]
    path = folder / "chunks" / store.WRITTEN
    known = _read(path, {question.id for question in test}, repeats=spec.repeats, log=reporter.log)
    waiting = [(number, question) for number, question in enumerate(test) if question.id not in {*known, *missing}]
    prompts = [make_prompt(spec, question, drawn.demonstrations) for _, question in waiting]
    seeds = [spec.seed + number for number, _ in waiting]
    path.parent.mkdir(exist_ok=True)
    with path.open("a", encoding="utf-8", newline="\n") as file:
        for i, texts in engine.write(prompts, repeats=spec.repeats, seeds=seeds):
            known[waiting[i][1].id] = texts
            file.write(json_line({"id": waiting[i][1].id, "texts": texts}))
            file.flush()
            reporter.report(f"writing answers, {len(known):,} of {len(test):,}")
            if not len(known) % NOTED_EVERY:
                note()
    if left_out:
        left_out.confirm(len(known))
    answered = [q for q in test if q.id in known]
    rows = [(q.id, i, text, find_answer(text, q.options)) for q in answered for i, text in enumerate(known[q.id])]
    store.write_written(folder, rows)


def _read(path: Path, expected: Collection[str], *, repeats: int, log: Callable[[str], None]) -> dict[str, list[str]]:
    """The answers of earlier tries by question; ``log`` names the lines that are damaged, and they are no answers."""
    known: dict[str, list[str]] = {}
    if not path.is_file():
        return known
    for number, row in enumerate(read_lines(path), 1):
        name, texts = str(row.get("id")), row.get("texts")
        texts = texts if isinstance(texts, list) else []
        if name in expected and len(texts) == repeats and all(isinstance(text, str) for text in texts):
            known[name] = texts
        else:
            log(f"line {number} of {path.name} is damaged or was cut off; its question is asked again")
    write_atomically(path, "".join(json_line({"id": name, "texts": texts}) for name, texts in known.items()).encode())
    return known
