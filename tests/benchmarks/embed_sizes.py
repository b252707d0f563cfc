"""How large embeds are: the Alpha lab, one question, every step of the lessons and the Stream lab.

python -m tests.benchmarks.embed_sizes [FOLDER]

Embeds of the runs and the jury that ship, one run for each set of questions, and of runs of 5,000 to 20,000 synthetic
questions. With a FOLDER, the files are kept there.
"""

import logging
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from app.caches import jury_cache, question_cache, run_cache
from app.components.learn import course, embedded_step
from app.components.shared.runs import title
from app.showcase import showcase
from app.state.learn import LearnView
from charts.embed import WITHOUT_TEXTS, embed_html
from core.errors import InputError
from core.reports.lesson import LESSONS, load
from core.runs.store import RunRecord
from docs import site
from docs.site import lab_of, streams_of
from tests.conftest import synthetic_run

Made = tuple[str, Callable[[], bytes]]


def question_of(run_id: str) -> bytes:
    """The first test question of a run."""
    return site.question_of(run_id, str(question_cache.question_list(run_id)["id"].iloc[0]))


def steps_of(lesson: str, tables: dict[str, Any], *, name: str, model: str) -> Iterator[Made]:
    """Every step of a lesson."""
    content = load(LESSONS[lesson])
    for place, step in enumerate(content.steps, start=1):
        view = LearnView(lesson=lesson, step=place)
        data = embedded_step(content, tables, name=name, model=model, view=view)
        yield f"{lesson} {place} {step.name}", lambda data=data, step=step: embed_html("lesson", data, title=step.title)


def run_steps(run_id: str) -> Iterator[Made]:
    """Every step of the two lessons about a run."""
    record = run_cache.record(run_id)
    for lesson, tables in (("sets", course.lesson_tables), ("calibration", course.calibration_tables)):
        yield from steps_of(lesson, tables(run_id), name=title(record), model=record.spec.model_name)


def course_steps() -> Iterator[Made]:
    """Every step of the two lessons about a jury and an experiment that ship."""
    jury, asking = showcase().jury, showcase().prompting
    (name,) = (record.name for record in jury_cache.records()[0] if record.jury_id == jury)
    yield from steps_of("juries", course.jury_tables(jury), name=name, model="")
    model = run_cache.record(asking).spec.model_name
    yield from steps_of("asking", course.asking_tables(asking), name=f"{model}, by letter and by text", model=model)


def report(name: str, make: Callable[[], bytes], folder: Path | None = None) -> None:
    """Print the size of an embed and the time that it takes, or why there is none."""
    start = time.perf_counter()
    try:
        content = make()
    except InputError as error:
        print(f"{name:<60} refused: {error}")
        return
    texts = "" if WITHOUT_TEXTS not in content.decode() else "  without texts"
    print(f"{name:<60} {len(content):>9,} B  {1000 * (time.perf_counter() - start):5.0f} ms{texts}")
    if folder:
        (folder / f"{name.replace(' ', '-').replace('/', '-')}.html").write_bytes(content)


def main() -> None:
    logging.disable(logging.WARNING)  # Streamlit says that no page asks
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    kinds: dict[tuple[str, int, int], RunRecord] = {}
    for record in run_cache.runs().finished:
        run = run_cache.evaluation(record.run_id)
        kinds.setdefault((record.spec.task, len(run.labels), run.k), record)
    for (task, n, k), record in sorted(kinds.items()):
        report(f"lab {task}, {n:,} questions, {k} options", lambda record=record: lab_of(record.run_id), folder)
    shown = showcase().run
    report("one question", lambda: question_of(shown), folder)
    for name, make in (*run_steps(shown), *course_steps()):
        report(f"step {name}", make, folder)
    largest = sorted(kinds.items(), key=lambda entry: entry[0][1] * entry[0][2])[-2:]
    report("streams", lambda: streams_of(*(record for _, record in largest)), folder)
    for n, k in ((5_000, 6), (10_000, 4), (10_000, 6), (10_000, 10), (20_000, 6)):
        run_id = synthetic_run(n, k=k, model=f"synthetic-{n}-{k}")
        report(f"lab {n:,} questions, {k} options", lambda run_id=run_id: lab_of(run_id), folder)
        for name, make in run_steps(run_id):
            if name.endswith((" 1 certainty", " 1 certain")) or name.startswith("calibration 1 "):
                report(f"step {name}, {n:,} questions, {k} options", make, folder)
        record = run_cache.record(run_id)
        report(f"streams {n:,} twice, {k} options", lambda record=record: streams_of(record, record), folder)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as home:
        os.environ["HEDGE_HOME"] = home
        main()
