"""One table of everything that was dropped, with one row for each run, and the button that imports all of it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

import pandas as pd
import streamlit as st

from app.components.data import imported_notice
from app.components.data.dropped_files import DroppedFiles
from app.formatting import PERCENT, counted, plain, sentence, shortened
from core.errors import HedgeError
from core.exchange import column_mappings
from core.exchange.dropped.found import FoundJury, FoundRun, named, refusals
from core.exchange.imported import ImportedRun, save
from core.exchange.joined_subjects import by_benchmark
from core.exchange.shared_tasks import with_stored_banks
from core.jury.pipeline import jury_store
from core.questions.bank_names import bank_name, task_title
from core.questions.identity import unpublished
from core.questions.option_names import OF_CLASSES
from core.reports.bounded import Ends
from core.reports.imported_figures import SHOWN_ALPHA, ImportedFigures, is_rounded, stored_as
from core.reports.titles import setting_title
from core.runs.caveats import MISSING, of_record

ROWS_SHOWN = 9
HEIGHT = 350
NAMES_SHOWN = 3
REFUSALS_SHOWN = 4
LACKING = {"model": "Model", "task": "Task"}
HERE, TWICE = "is here already", "is here twice"
ROUNDED = "is here already, rounded by an earlier version; delete that run to import all digits"


@dataclass(frozen=True, slots=True)
class _Row:
    """A run of the table with its figures, and notes that a person should read."""

    found_run: FoundRun
    run: ImportedRun
    figures: ImportedFigures
    note: str

    @property
    def new(self) -> bool:
        """Whether the button imports it."""
        return self.note not in (HERE, ROUNDED, TWICE)


def preview(dropped: DroppedFiles) -> bool:
    """Show what was read and the button that imports it. Returns whether it was imported just now."""
    reading = dropped.reading
    answers = _asked(reading.runs, dropped.digest)
    rows = _edited(_rows(dropped, _joined(dropped, answers), answers), dropped.digest) if reading.runs else []
    juries = [_jury(jury, f"{dropped.digest}-{place}") for place, jury in enumerate(reading.juries)]
    pressed = _button(dropped, rows, juries)
    _refused(dropped)
    return pressed


def _button(dropped: DroppedFiles, rows: Sequence[_Row], juries: Sequence[tuple[FoundJury, str]]) -> bool:
    """Show the button that imports all that is new. Returns whether it did so just now."""
    new = [row.run for row in rows if row.new]
    what = [counted(len(new), "run")] if new else []
    what += [counted(len(juries), "jury", "juries")] if juries else []
    if not what:
        if rows:
            st.info("Everything here was imported before." if len(rows) > 1 else "This run was imported before.")
            imported_notice.links([stored_as(row.run) or row.run.spec.run_id for row in rows])
        return False
    if not st.button(f"Import {' and '.join(what)}", key=f"import-{dropped.digest}"):
        return False
    with st.spinner("Importing …"):
        _import(dropped, rows, juries)
    return True


# ---------------------------------------------------------------- runs


def _asked(runs: Sequence[FoundRun], digest: str) -> dict[str, str]:
    """Ask once for what several files lack; values are empty if nothing is typed."""
    lacking = {what: [lacking_runs for lacking_runs in runs if what in lacking_runs.lacks] for what in LACKING}
    needed = {what: lacking_runs for what, lacking_runs in lacking.items() if lacking_runs}
    given: dict[str, str] = {}
    if not needed:
        return given
    columns = st.columns(2)
    for column, (what, lacking_runs) in zip(columns, needed.items(), strict=False):
        stand_in = getattr(lacking_runs[0].run.spec, what)
        those = (
            "the run that does not name one"
            if len(lacking_runs) == 1
            else f"the {len(lacking_runs)} runs that do not name one"
        )
        given[what] = column.text_input(
            f"{LACKING[what]} of {those}",
            placeholder=shortened(stand_in, 40),
            key=f"{what}-{digest}",
            help="If it is left empty, the name in the table below is used. It can be changed there for each run.",
        ).strip()
    return given


def _named(run: FoundRun, answers: dict[str, str]) -> ImportedRun:
    return named(run, **{what: answers.get(what, "") for what in run.lacks if what in LACKING})


def _joined(dropped: DroppedFiles, answers: dict[str, str]) -> Sequence[FoundRun]:
    """The runs; those of a model on subjects of one benchmark are one if a person says so, who is asked if there are
    any."""
    runs = dropped.reading.runs
    subjects = [FoundRun(_named(run, answers), run.name) for run in runs]
    if not any(len(run) > 1 for run in by_benchmark([run.run for run in subjects])):
        return runs
    if not st.toggle("Make one run of a model's subjects of one benchmark", key=f"join-{dropped.digest}"):
        return runs
    try:
        return dropped.joined(subjects)
    except HedgeError as error:
        st.warning(plain(sentence(str(error))))
        return runs


def _rows(dropped: DroppedFiles, runs: Sequence[FoundRun], answers: dict[str, str]) -> list[_Row]:
    rows: list[_Row] = []
    seen: set[str] = set()
    for found_run in runs:
        computed = dropped.figures[id(found_run.run)]
        if isinstance(computed, str):
            continue
        run = _named(found_run, answers)
        here = dropped.stored[id(found_run.run)] if run.spec == found_run.run.spec else stored_as(run)
        known = ROUNDED if here and is_rounded(run, here) else HERE
        note = known if here else TWICE if run.spec.run_id in seen else _lacks(found_run, answers)
        seen.add(run.spec.run_id)
        rows.append(_Row(found_run, run, computed, note))
    return rows


def _lacks(run: FoundRun, answers: dict[str, str]) -> str:
    lacking = [what for what in run.lacks if not answers.get(what)]
    return f"does not say its {' and '.join(lacking)}" if lacking else ""


def _exact(ends: Ends, times: int = 1) -> float | None:
    """A figure whose ends are equal; none for one that is only known as a range."""
    low, high = ends
    return times * low if low == high else None


def _strategy(run: ImportedRun) -> str:
    return "" if run.provenance.get(OF_CLASSES) else setting_title("strategy", run.spec.strategy)


def _edited(rows: list[_Row], digest: str) -> list[_Row]:
    """Show the table, in which models and tasks can be renamed, and return the rows as they are then."""
    titles = [task_title(row.run.spec.task, bank_name(row.run.spec, row.run.provenance)) for row in rows]
    frame = pd.DataFrame(
        {
            "Model": [row.run.spec.model for row in rows],
            "Accuracy": pd.Series([_exact(row.figures.accuracy, 100) for row in rows], dtype="float64"),
            "Set size": pd.Series([_exact(row.figures.mean_set_size) for row in rows], dtype="float64"),
            "Task": titles,
            "Strategy": [_strategy(row.run) for row in rows],
            "Questions": [row.figures.questions for row in rows],
            "Test": [row.figures.test for row in rows],
            "Options": [row.run.scored.logits.shape[1] for row in rows],
            "Note": [row.note for row in rows],
            "File": [row.found_run.name for row in rows],
        }
    )
    changed = st.data_editor(
        frame,
        hide_index=True,
        column_order=[name for name in frame.columns if name != "Note" or any(frame["Note"])],
        height=HEIGHT if len(rows) > ROWS_SHOWN else "auto",
        disabled=[name for name in frame.columns if name not in ("Model", "Task")],
        column_config={
            "Model": st.column_config.TextColumn(help="Click twice to rename.", required=True, width=150),
            "Task": st.column_config.TextColumn(help="Click twice to rename.", required=True, width=220),
            "Accuracy": st.column_config.NumberColumn(
                format=PERCENT, width=95, help="The share of test questions whose top option is the truth."
            ),
            "Test": st.column_config.NumberColumn(
                width=70, help="The rows that test: the accuracy and the set size are theirs."
            ),
            "Set size": st.column_config.NumberColumn(
                format="%.2f",
                width=90,
                help=f"The mean size of LAC sets of the test questions at alpha {SHOWN_ALPHA / 1000:g}.",
            ),
        },
        key=f"rows-{digest}",
    )
    _readings(rows)
    for place, note in enumerate(_notes(rows)):
        if place < NAMES_SHOWN:
            st.caption(plain(note))
    edited = []
    for row, title, model, task in zip(rows, titles, changed["Model"], changed["Task"], strict=True):
        run = row.run
        if str(model).strip() != run.spec.model or str(task) != title:
            new_task = str(task).strip() if str(task) != title else ""
            run = named(FoundRun(run, row.found_run.name), model=str(model).strip(), task=new_task)
        edited.append(replace(row, run=run, note="" if run is not row.run and row.note == TWICE else row.note))
    return edited


def _readings(rows: Sequence[_Row]) -> None:
    """Say in one line how each file was read; many lines are folded away."""
    lines: dict[str, list[str]] = {}
    for row in rows:
        names = lines.setdefault(row.run.read_as, []) if row.run.read_as else []
        if row.found_run.name not in names:
            names.append(row.found_run.name)
    if not lines:
        return
    with st.expander("How each file was read", expanded=len(lines) <= NAMES_SHOWN):
        for line, names in lines.items():
            st.markdown(f"**{plain(short_names(names))}**: {plain(sentence(line))}")


def _notes(rows: Sequence[_Row]) -> list[str]:
    """Notes on how the runs were read, each of them once."""
    notes: dict[str, None] = {}
    for row in rows:
        about = row.run.provenance
        if about.get("claims"):
            notes["The accuracies that the files state were computed again, row by row, with the same result."] = None
        known = {"samples", "questions with a letter that is not listed", *MISSING}  # in its caveats
        counts = {name: n for name, n in (about.get("counts") or {}).items() if n and name not in known}
        if counts:
            notes[f"{row.found_run.name}: " + ", ".join(f"{n:,} {name}" for name, n in counts.items()) + "."] = None
        for caveat in of_record(row.run.spec, about, questions=row.figures.questions):
            notes[f"{row.found_run.name}: {caveat.text}"] = None
        if about.get("repeated_lines"):
            notes[f"{row.found_run.name}: {about['repeated_lines']:,} lines are repeated and count once."] = None
        if about.get("averaged_over", 1) > 1:
            notes[f"The probabilities are means over {about['averaged_over']} prompts."] = None
        if about.get("texts") is False or unpublished(row.run.questions[0].options):
            notes[
                "Some questions come without their texts. Their runs can only be compared with runs from the same "
                "source and task that have the same right answers throughout."
            ] = None
    return sorted(notes, key=lambda note: note.startswith("Some"))


# ---------------------------------------------------------------- juries


def _jury(jury: FoundJury, key: str) -> tuple[FoundJury, str]:
    """Show a jury that was read. Returns it with the name and settings that the person chose."""
    judged = jury.jury.judgements
    default = ", ".join(judged.jurors)[:60]
    with st.container(border=True):
        st.markdown(f"**Jury of {counted(len(judged.jurors), 'juror')}** from {plain(short_names(jury.names))}")
        name = st.text_input("Name of the jury", placeholder=default, key=f"jury-name-{key}").strip() or default
        pairwise = st.checkbox(
            "Each row is a pair of answers, and True means that the first one is better",
            judged.pairwise,
            key=f"pairwise-{key}",
        )
        judged = replace(judged, pairwise=pairwise)
        agrees = "Agrees with the label" if pairwise else "Verdicts that are right"
        says = "Says First" if pairwise else "Says True"
        st.dataframe(
            pd.DataFrame(
                {
                    "Juror": judged.jurors,
                    "Pairs" if pairwise else "Answers": len(judged),
                    says: 100 * judged.verdicts.mean(axis=0),
                    agrees: 100 * judged.right.mean(axis=0),
                }
            ),
            hide_index=True,
            height="content",
            column_config={title: st.column_config.NumberColumn(format=PERCENT) for title in (says, agrees)},
            alt="What was read for each juror",
        )
        for note in jury.jury.notes:
            st.caption(plain(note))
        share, what = f"{judged.labels.mean():.1%} of the", "pairs" if pairwise else "answers"
        st.caption(
            f"The jurors disagree on {int(judged.disagreed.sum()):,} of {len(judged):,} {what}; "
            + (f"in {share} pairs, the first answer is better." if pairwise else f"{share} answers are right.")
        )
    return replace(jury, jury=replace(jury.jury, judgements=judged)), name


# ---------------------------------------------------------------- refused files


def _refused(dropped: DroppedFiles) -> None:
    """Say why files are not imported, with one sentence for all files that have the same reason."""
    reasons = [(names, reason) for reason, names in refusals(dropped.reading, unclear=False)]
    reasons += [
        ((run.name,), computed)
        for run in dropped.reading.runs
        if isinstance(computed := dropped.figures[id(run.run)], str)
    ]
    if not reasons:
        return
    number = sum(len(names) for names, _ in reasons)
    total = len({file.name for file in dropped.drop.files} | {name for names, _ in reasons for name in names})
    which = counted(number, "file") if total == number else f"{number:,} of {total:,} files"
    title = f"{which} {'is' if number == 1 else 'are'} not imported"
    folded = len(reasons) > REFUSALS_SHOWN and bool(dropped.reading.runs or dropped.reading.juries)
    with st.expander(title, expanded=not folded, icon=":material/block:"):
        for names, reason in reasons:
            st.markdown(f"**{plain(short_names(names))}**: {plain(sentence(reason))}")


def short_names(names: Sequence[str]) -> str:
    """The first few names, without folders, and the number of the others."""
    short = names if len(names) == 1 else [PurePosixPath(name).name for name in names]
    more = len(short) - NAMES_SHOWN
    return ", ".join(short[:NAMES_SHOWN]) + (f" and {more} more" if more > 0 else "")


# ---------------------------------------------------------------- the import


def _import(dropped: DroppedFiles, rows: Sequence[_Row], juries: Sequence[tuple[FoundJury, str]]) -> None:
    """Write everything that is new, all of it or nothing, and leave a notice."""
    stored = [stored_as(row.run) for row in rows]
    fresh = {row.run.spec.run_id: row.run for row, name in zip(rows, stored, strict=True) if not name}
    save(with_stored_banks(list(fresh.values())))
    known = set(jury_store.jury_ids())
    confirmed = [
        jury_store.save(
            jury.jury.judgements,
            name=name,
            origin=f"imported from {short_names(jury.names)}",
            notes=jury.jury.notes,
        )
        for jury, name in juries
    ]
    for header, columns in dropped.mappings.items():
        if not columns.partial and any(table.header == header for table in dropped.reading.tables):
            column_mappings.remember(header, columns)
    imported_notice.leave(
        runs=[name or row.run.spec.run_id for row, name in zip(rows, stored, strict=True)],
        fresh=list(fresh),
        juries=confirmed,
        fresh_juries=[name for name in confirmed if name not in known],
    )
