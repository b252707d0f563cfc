"""Results of other tools, uploaded: read, shown, and put into the store when a person says so."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd
import streamlit as st

from app import navigation
from app.caches import run_cache
from app.components.data import import_jury
from app.components.shared.runs import titles
from app.formatting import counted, plain
from app.state.fields import MOST_COMPARED
from core.errors import InputError
from core.exchange import bluq, column_mappings, inspect_log, llm_uncertainty_bench, lm_eval, table
from core.exchange.imported import ImportedRun, save
from core.exchange.juries import JURY_ENDINGS
from core.exchange.table import VALUES, Columns
from core.exchange.tabular import ENDINGS, Sheet, open_sheet
from core.runs.banks import task_label
from core.tasks.identity import unpublished

FORMAT_KEY = "bring_format"
PREVIEWED = 5
JURY = "jury"
NONE = "(none)"
RECOGNISED = "recognised"
LINKS_SHOWN = 8
LINKS_HEIGHT = 300
"""Pixels of the links to more imported runs than :data:`LINKS_SHOWN`, which then scroll."""
UNNAMED_MODEL = "unknown"
"""The folder of uploaded files: lm-evaluation-harness names a folder for its model, and an upload has none."""


@dataclass(frozen=True, slots=True)
class Format:
    """A format on the page: its name, what to upload in a sentence, the files' endings, and what reads them."""

    title: str
    sentence: str
    endings: tuple[str, ...]
    read: Callable[[Sequence[Path], Path], list[ImportedRun]] | None


def _bench(paths: Sequence[Path], folder: Path) -> list[ImportedRun]:
    results = [path for path in paths if path.suffix == ".pkl"]
    if not results:
        raise InputError("there are answers but no results; upload the .pkl files too")
    return llm_uncertainty_bench.read(results, labels=folder)


def _harness(paths: Sequence[Path], folder: Path) -> list[ImportedRun]:
    return lm_eval.read(paths)


FORMATS = {
    "table": Format(
        "Table",
        "A row a question, a column an option with its probability, logit or log-probability, and one with the answer.",
        ENDINGS,
        None,
    ),
    "lm-eval": Format(
        "lm-evaluation-harness",
        "samples_….jsonl, which it writes with --log_samples; its results_….json beside it is checked too.",
        (".jsonl", ".json"),
        _harness,
    ),
    "inspect": Format(
        "Inspect",
        "An .eval or .json log of a multiple-choice task, made with logprobs and top_logprobs.",
        (".eval", ".json"),
        lambda paths, folder: inspect_log.read(paths),
    ),
    "llm-uncertainty-bench": Format(
        "LLM-Uncertainty-Bench",
        "Results as .pkl, and the answers of their data sets as .json.",
        (".pkl", ".json"),
        _bench,
    ),
    "bluq": Format(
        "BLUQ",
        "Its probs_….npz as they were published; an archive says its model, task, precision and strategy itself.",
        (".npz",),
        lambda paths, folder: bluq.read(paths),
    ),
    JURY: Format(
        "Jury",
        "Judgements: jury_logits_…_calib.csv and …_test.csv, one table with question, answer, juror, p_true and label, "
        "or text files (question, tab, probability) beside a table with question and label.",
        JURY_ENDINGS,
        None,
    ),
}
"""Every format that can be uploaded, by name."""


def section() -> None:
    """Choose a format, upload, see what was read, import."""
    chosen = st.segmented_control(
        "Format",
        list(FORMATS),
        format_func=lambda name: FORMATS[name].title,
        default="table",
        required=True,
        key=FORMAT_KEY,
    )
    of = FORMATS[chosen]
    st.caption(of.sentence)
    files = st.file_uploader(
        f"Files of {of.title}",
        type=[e.lstrip(".") for e in of.endings],
        accept_multiple_files=True,
        key=f"upload-{chosen}",
    )
    st.caption("Files larger than 200 MB come in by `python -m core import`. Every figure a file claims is recomputed.")
    if not files:
        return
    temporary = Path(tempfile.mkdtemp(prefix="hedge-upload-"))
    folder = temporary / UNNAMED_MODEL
    folder.mkdir()
    try:
        paths = _written(files, folder)
        if chosen == JURY:
            import_jury.offer(paths, folder, key=_digest(files))
        elif of.read is None:
            _table(paths, folder)
        else:
            reader = of.read
            _offer(_digest(files), lambda: reader(paths, folder))
    except InputError as error:
        st.error(plain(_without(folder, str(error))))
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _without(folder: Path, message: str) -> str:
    """The message with each uploaded file under its own name, without the temporary folder that it was read from."""
    return message.replace(f"{folder}/", "").replace(str(folder), "The upload")


def _written(files: Sequence[Any], folder: Path) -> list[Path]:
    paths = []
    for file in files:
        path = folder / Path(file.name).name
        if path in paths:
            raise InputError(f"{path.name} was uploaded twice; give one of them another name")
        try:
            path.write_bytes(file.getbuffer())
        except OSError as error:  # such as a name that is too long for this disk
            raise InputError(f"{path.name} can't be kept for reading: {error.strerror}") from error
        paths.append(path)
    return paths


def _digest(files: Sequence[Any]) -> str:
    return hashlib.sha256(repr([(file.name, file.size, file.file_id) for file in files]).encode()).hexdigest()[:12]


def _offer(key: str, read: Callable[[], list[ImportedRun]]) -> None:
    """What was read, and the button that puts it into the store."""
    runs = read()
    frame = pd.DataFrame(
        {
            "Model": [run.spec.model for run in runs],
            "Task": [task_label(run.spec, run.provenance) for run in runs],
            "Strategy": [run.spec.strategy for run in runs],
            "Shots": [run.spec.shots for run in runs],
            "dtype": [run.spec.dtype for run in runs],
            "Questions": [len(run.scored.ids) - run.roles.count("rotation") for run in runs],
            "Options": [run.scored.logits.shape[1] for run in runs],
            "Calibration": [run.roles.count("calibration") for run in runs],
            "Test": [run.roles.count("test") for run in runs],
            "First question": [run.questions[0].question for run in runs],
        }
    )
    st.dataframe(frame, hide_index=True, alt="What was read from the files")
    for run in runs:
        for note in _notes(run):
            st.caption(plain(note))
    if any(run.provenance.get("texts") is False or unpublished(run.questions[0].options) for run in runs):
        st.caption(
            "These questions come without their texts. Runs on them are compared only with runs from the same source "
            "and task whose right answers are all the same."
        )
    if st.button(f"Import {counted(len(runs), 'run')}", key=f"import-{key}"):
        names = save(runs)
        st.success(f"{counted(len(names), 'run')} imported.")
        _links(list(dict.fromkeys(names)))


def _links(names: Sequence[str]) -> None:
    """A link to each run in the Alpha lab, and to Compare, as many at once as it takes."""
    if len(names) == 1:
        navigation.link(navigation.ALPHA_LAB, "Open in the Alpha lab", run=names[0])
        return
    for start in range(0, len(names), MOST_COMPARED):
        some = names[start : start + MOST_COMPARED]
        which = "all" if len(some) == len(names) else f"runs {start + 1} to {start + len(some)} of"
        if len(some) > 1:
            navigation.link(navigation.COMPARE, f"Compare {which} {len(names)}", runs=",".join(some))
    st.markdown("Open one in the Alpha lab:")
    found = titles([run_cache.record(name) for name in names])
    with st.container(height=LINKS_HEIGHT if len(names) > LINKS_SHOWN else "content", gap=None):
        for number, name in enumerate(names, start=1):
            navigation.link(navigation.ALPHA_LAB, plain(f"{number}. {found[name]}"), run=name)


def _notes(run: ImportedRun) -> list[str]:
    """What a person should know of how a run was read."""
    about = run.provenance
    notes = []
    if claims := about.get("claims"):
        said = ", ".join(f"{name} {value:.4f}" for name, value in claims.items())
        notes.append(f"{run.spec.task}: recomputed row by row and equal: {said}.")
    if counts := about.get("counts"):
        notes.append(f"{run.spec.task}: " + ", ".join(f"{n} {name}" for name, n in counts.items()) + ".")
    if about.get("bounded_questions"):
        notes.append(
            f"{about['bounded_questions']} questions lack a letter's log-probability; it is at its upper bound there."
        )
    if about.get("repeated_lines"):
        notes.append(f"{about['repeated_lines']} lines stood there again and count once.")
    return notes


# ---------------------------------------------------------------- a table's columns


def _table(paths: Sequence[Path], folder: Path) -> None:
    sheet = open_sheet(paths[0])
    st.dataframe(
        sheet.table.slice(0, PREVIEWED).to_pandas(),
        hide_index=True,
        alt="The first rows of the table",
        height="content",
    )
    st.caption(f"The first rows of {counted(sheet.table.num_rows, 'row')}.")
    columns = _form(sheet, _start(sheet))
    model, task = _names(paths[0])
    if not columns.options or not columns.label:
        st.info("Say which columns are the options and which one has the answer.")
        return

    def read() -> list[ImportedRun]:
        runs = table.read(paths, columns=columns, model=model, task=task)
        column_mappings.remember(sheet.names, columns)
        return runs

    _offer("table", read)


def _start(sheet: Sheet) -> Columns:
    """What was said of such a table before, else what its names say, else nothing."""
    known = column_mappings.recall(sheet.names)
    if known is not None:
        return known
    try:
        return table.recognise(sheet)
    except InputError:
        return Columns((), "")


def _form(sheet: Sheet, start: Columns) -> Columns:
    names = sheet.names
    key = hashlib.sha256(repr(names).encode()).hexdigest()[:8]
    options = st.multiselect(
        "Options, in their order",
        names,
        [n for n in start.options if n in names],
        key=f"options-{key}",
        max_selections=26,
    )

    def pick(column: Any, title: str, value: str, help: str) -> str:
        choices = [NONE, *names]
        place = choices.index(value) if value in choices else 0
        picked = column.selectbox(title, choices, place, help=help, key=f"{title}-{key}")
        return "" if picked == NONE else str(picked)

    a, b, c = st.columns(3)
    label = pick(a, "Answer", start.label, "The right option: its letter, its number or the name of its column.")
    kinds = [RECOGNISED, *VALUES]
    values = b.selectbox(
        "The options' cells are",
        kinds,
        kinds.index(start.values) if start.values in kinds else 0,
        help="Log-probabilities and logits are turned into probabilities by a softmax.",
        key=f"values-{key}",
    )
    split = pick(c, "Split", start.split, "Calibration or test; without one, half of the questions calibrate.")
    a, b, c = st.columns(3)
    text = pick(a, "Question's text", start.text, "Shown in the Alpha lab.")
    group = pick(b, "Subject", start.group, "Coverage is shown for each subject too.")
    name = pick(c, "Id", start.id, "Pairs questions between runs.")
    extra = st.checkbox(
        "The last two options are “I don't know” and “None of the above”", start.extra, key=f"extra-{key}"
    )
    return replace(
        start,
        options=tuple(options),
        label=label,
        values="" if values == RECOGNISED else values,
        split=split,
        text=text,
        group=group,
        id=name,
        extra=extra,
        texts=start.texts if len(start.texts) == len(options) else (),
    )


def _names(path: Path) -> tuple[str, str]:
    left, right = st.columns(2)
    model = left.text_input(
        "Model", placeholder=path.stem, help="The file's name, or its column “model”, if left empty."
    )
    task = right.text_input("Task", placeholder=path.stem, help="Empty: its column “task”, or the file’s name.")
    return model.strip(), task.strip()
