"""The commands ``import`` and ``export``."""

from __future__ import annotations

import json
import tempfile
import time
from argparse import Namespace
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from core.errors import InputError
from core.exchange import table_columns, writing
from core.exchange.dropped.apart import DropApart, default_limits
from core.exchange.dropped.found import ALL_TABLES, FoundJury, Header, Reading, in_shared_tasks, named, refusals
from core.exchange.dropped.kinds import KINDS
from core.exchange.imported import ImportedRun, save
from core.exchange.joined_subjects import joined_by_benchmark
from core.exchange.lm_eval_results import beside
from core.exchange.run_table import runs_table
from core.exchange.shared_tasks import with_stored_banks
from core.reports.bounded import between
from core.reports.evaluation import Evaluation, load
from core.reports.figure_names import FILE_KINDS, JURY_FIGURES
from core.reports.imported_figures import ImportedFigures, is_rounded, stored_as
from core.reports.imported_figures import figures as imported_figures
from core.reports.repeated import counted
from core.runs import store
from core.runs.caveats import of_record
from hedge.commands.answer import CommandResult, OfRuns, of_runs
from hedge.commands.reports import asked_of

if TYPE_CHECKING:  # pandas, which most commands don't need
    from core.jury.experiment import JuryExperiment
    from core.jury.judgements import Judgements
    from core.reports.compare.benchmark import SetRule


Export: TypeAlias = "Callable[[list[Evaluation], SetRule, Path], list[Path]]"
"""Writes runs, with the sets of this rule, into a folder; returns the files."""


def _mappings(arguments: Namespace) -> dict[Header, table_columns.Columns]:
    """What the arguments say of the columns of every table."""
    if arguments.mapping:
        return {ALL_TABLES: table_columns.read_mapping(arguments.mapping)}
    if arguments.options and not arguments.label:
        raise InputError("--options needs --label, the column with the right option")
    columns = table_columns.Columns(
        tuple(arguments.options or ()),
        arguments.label or "",
        values=arguments.values or "",
        label_from=arguments.labels_from,
    )
    return {ALL_TABLES: replace(columns, partial=True)} if columns != table_columns.Columns((), "") else {}


def import_results(arguments: Namespace) -> CommandResult:
    """Read every file, then write the runs and juries: all of them, or none if nothing can be read."""
    paths = list(arguments.path)
    if len(paths) > 1 and str(paths[0]) in FORMATS and not paths[0].exists():
        del paths[0]  # earlier versions needed the format
    missing = next((path for path in paths if not path.exists()), None)
    if missing is not None:
        raise InputError(f"there is no file or folder {missing}")
    neighbours = dict.fromkeys(neighbour for path in paths for neighbour in beside(path))
    paths += [path for path in neighbours if path not in paths]
    with tempfile.TemporaryDirectory(prefix="hedge-import-") as scratch:
        drop = DropApart(
            [*paths, *([arguments.labels] if arguments.labels else [])],
            scratch=Path(scratch),
            limits=default_limits(memory_gb=arguments.memory or 0.0, seconds=arguments.seconds or 0.0),
            way_out="give it more with --memory GB and --seconds S, or split it",
        )
        reading = in_shared_tasks(
            drop.read(mappings=_mappings(arguments), meant={"": arguments.meant} if arguments.meant else {})
        )
        files = {file.name for file in drop.files}
        runs = [
            named(
                found_run,
                model=arguments.model if "model" in found_run.lacks else "",
                task=arguments.task if "task" in found_run.lacks else "",
            )
            for found_run in reading.runs
        ]
        runs = joined_by_benchmark(runs) if arguments.join else runs
        runs = with_stored_banks(runs)
        refused = [(name, sentence) for sentence, names in refusals(reading) for name in names]
        refused += [(name, _ASK_COLUMNS) for table in reading.unmapped for name in table.names]
        before = [stored_as(run) for run in runs]
        save(run for run, name in zip(runs, before, strict=True) if not name)
        jury_ids = [_keep(jury) for jury in reading.juries]
    results = [(name or run.spec.run_id, run, bool(name)) for name, run in zip(before, runs, strict=True)]
    return _told(reading, results, jury_ids, refused, files=len(files | {name for name, _ in refused}))


_ASK_COLUMNS = (
    "it has columns of numbers that may be options, whose names do not say so; name the options' columns with "
    "--options and the right one's with --label"
)
_ASK_START = (
    "its answers are numbers that may count from 0 or from 1; `hedge run --task FILE` takes --labels-from 0 or "
    "--labels-from 1"
)
FORMATS = ("llm-uncertainty-bench", "bluq", "lm-eval", "inspect", "table")
"""Formats that earlier versions needed as an option; the content of a file decides now."""


def _keep(jury: FoundJury) -> str:
    from core.jury.pipeline import jury_store

    name = ", ".join(jury.jury.judgements.jurors)[:60]
    origin = f"imported from {', '.join(Path(file).name for file in jury.names)}"
    return jury_store.save(jury.jury.judgements, name=name, origin=origin, notes=jury.jury.notes)


def _here(run: ImportedRun, run_id: str) -> str:
    if is_rounded(run, run_id):
        return " (was here already, rounded by an earlier version; delete it and import the file again for all digits)"
    return " (was here already)"


def _sizes(figures: ImportedFigures) -> str:
    return (
        f"{figures.questions:,} questions"
        if figures.questions == figures.rows
        else counted(figures.rows, figures.questions)
    )


def _shown(run: ImportedRun) -> str:
    """The figures of a run, or why it has none."""
    try:
        figures = imported_figures(run)
    except InputError as error:
        return str(error)
    where = f" on the {figures.test:,} test {'rows' if figures.questions != figures.rows else 'questions'}"
    accuracy, size = between(figures.accuracy), between(figures.mean_set_size, 2)
    return f"{_sizes(figures)}, accuracy {accuracy}{where}, mean set size {size}"


def _told(
    reading: Reading,
    runs: list[tuple[str, ImportedRun, bool]],
    jury_ids: list[str],
    refused: list[tuple[str, str]],
    *,
    files: int,
) -> CommandResult:
    """What was imported and what goes elsewhere, and on standard error what was refused and why.

    The status is that of unusable arguments if nothing of the ``files`` could be read, and 1 if only some could.
    """
    hints = [
        (other_file.file.name, KINDS[other_file.kind])
        for other_file in reading.elsewhere
        if KINDS[other_file.kind].place
    ]
    lines = []
    for run_id, run, here in runs:
        lines.append(f"{run_id}  {_shown(run)}{_here(run, run_id) if here else ''}")
        lines += [f"  {run.read_as}"] if run.read_as else []
        lines += [f"  {caveat.text}" for caveat in of_record(run.spec, run.provenance)]
    lines += [f"{jury_id}  a jury; see `hedge jury`" for jury_id in jury_ids]
    for other in reading.elsewhere:
        kind = KINDS[other.kind]
        if kind.place:
            lines.append(f"{other.file.name}: {kind.title}. {kind.sentence}")
            lines += [f"  {other.read_as}"] if other.read_as else []
            lines += [f"  {_ASK_START}"] if other.undecided else []
    names = {name for name, _ in refused}
    errors = [f"hedge: {name}: {sentence}" for name, sentence in refused]
    if refused and files > 1:
        errors.append(f"hedge: read {files - len(names):,} of {files:,} files")
    values = {
        "runs": [run_id for run_id, _, _ in runs],
        "existed": [run_id for run_id, _, here in runs if here],
        "read_as": {run_id: run.read_as for run_id, run, _ in runs},
        "juries": jury_ids,
        "elsewhere": [{"file": name, "kind": kind.title, "place": kind.place} for name, kind in hints],
        "refused": [{"file": name, "reason": sentence} for name, sentence in refused],
    }
    status = 0 if not refused else 1 if runs or jury_ids or hints else InputError.exit_status
    return CommandResult(values, "\n".join(lines), status, "\n".join(errors))


def export(arguments: Namespace) -> CommandResult:
    """Write runs, or the figures of runs, into a folder."""
    names = [store.folder_of(name).name for name in arguments.run]
    rule = asked_of(arguments)
    # A run that has not ended well goes nowhere.
    read = of_runs(names, load)
    files = EXPORTS[arguments.format](read.values, rule, arguments.out)
    paths = [str(path) for path in files]
    return CommandResult({"files": paths}, "\n".join(paths)).beside(read)


def _export_table(kind: str) -> Export:
    """The questions of all runs as one table, which can be imported again."""

    def export(runs: list[Evaluation], rule: SetRule, out: Path) -> list[Path]:
        content = writing.ONE_TABLE[kind](runs_table([run.run_id for run in runs]))
        return [writing.write(out, _named("questions", kind, runs), content)]

    return export


def _export_document(name: str, what: str, ending: str) -> Export:
    """A text or a workbook that a function of :mod:`core.reports.exports` writes."""

    def export(runs: list[Evaluation], rule: SetRule, out: Path) -> list[Path]:
        from core.reports import exports

        content: str | bytes = getattr(exports, name)(runs, rule)
        content = content.encode() if isinstance(content, str) else content
        return [writing.write(out, _named(what, ending, runs, rule), content)]

    return export


def _export_json(runs: list[Evaluation], rule: SetRule, out: Path) -> list[Path]:
    """Results, summary and configuration of a benchmark, in BLUQ's layout."""
    from core.reports.compare import benchmark
    from core.reports.compare.common_options import offered_alike

    runs = offered_alike(runs)
    results = benchmark.results_json(runs, benchmark.reports(runs, rule))
    stamp = time.strftime("%Y%m%d_%H%M%S")
    parts: dict[str, Any] = {
        "results": results,
        "summary": benchmark.summary_json(results),
        "config": benchmark.config_json(runs, rule),
    }
    return [
        writing.write(out, f"{name}_{stamp}.json", json.dumps(value, indent=1, allow_nan=False).encode())
        for name, value in parts.items()
    ]


def _export_figures(runs: list[Evaluation], rule: SetRule, out: Path) -> list[Path]:
    """Every figure of a benchmark as SVG, PDF, PNG and HTML, as wide as two columns, with its caption as text."""
    from charts.figure_files import figures, written
    from charts.figure_style import FigureStyle
    from charts.run_figures import FIGURES

    drawn = figures(list(FIGURES), runs, _drawn_by(rule), FigureStyle("double"))
    return written(drawn, (*FILE_KINDS, "html"), out / "figures")


def figure(arguments: Namespace) -> CommandResult:
    """Draw one figure of runs or of a jury into files."""
    from charts.figure_files import figures, jury_figure, written
    from charts.figure_style import FigureStyle, width_of

    style = FigureStyle(width_of(arguments.width), arguments.font, arguments.theme)
    read: OfRuns[Evaluation] = OfRuns([], "", 0)
    if arguments.figure in JURY_FIGURES:
        drawn = [jury_figure(arguments.figure, *_evaluated_jury(arguments.run), style)]
    else:
        read = of_runs([store.folder_of(name).name for name in arguments.run], load)
        drawn = figures([arguments.figure], read.values, _drawn_by(asked_of(arguments)), style)
    paths = [str(path) for path in written(drawn, arguments.format, arguments.out)]
    captions = [figure_file.caption for figure_file in drawn]
    return CommandResult({"files": paths, "captions": captions}, "\n".join([*paths, "", *captions])).beside(read)


def _evaluated_jury(names: Sequence[str]) -> tuple[Judgements, JuryExperiment, str]:
    from core.jury import experiment
    from core.jury.pipeline import jury_store

    if len(names) != 1:
        raise InputError(f"a figure of a jury is of one jury, got {len(names)}; `hedge jury list` lists all")
    jury_id = jury_store.folder_of(names[0]).name
    judgements = jury_store.read(jury_id)
    protocol, _ = experiment.split_in_half(judgements, experiment.PROTOCOLS["all-rules"])
    return judgements, experiment.run(judgements, protocol), jury_store.read_record(jury_id).name


def _export_report(runs: list[Evaluation], rule: SetRule, out: Path) -> list[Path]:
    """The static report, one HTML file."""
    from charts.static_report import report_html

    content = report_html(runs, _drawn_by(rule))
    return [writing.write(out.resolve(), _named("report", "html", runs, rule), content)]


def _export_embed(runs: list[Evaluation], rule: SetRule, out: Path) -> list[Path]:
    """The Alpha lab of each run, an HTML file each, for a slide or a blog."""
    from charts.embed import lab_embed, run_source
    from charts.run_names import unique
    from core.reports.frames import lab_tables
    from core.reports.titles import distinct_titles

    drawn, paths = _drawn_by(rule), []
    names = unique([_named("alpha-lab", "html", [run], rule).removesuffix(".html") for run in runs])
    titles = distinct_titles({run.run_id: (run.spec, run.bank) for run in runs})
    for run, name in zip(runs, names, strict=True):
        content = lab_embed(
            lab_tables(run),
            title=titles[run.run_id],
            source=run_source(run),
            alpha=drawn.alpha,
            left=drawn.scores[0],
            right=drawn.scores[1],
            empty=drawn.empty,
        )
        paths.append(writing.write(out.resolve(), f"{name}.html", content))
    return paths


def _named(what: str, ending: str, runs: list[Evaluation], rule: SetRule | None = None) -> str:
    """A file's name, with alpha where the file depends on it."""
    from core.reports.exports import file_name

    return file_name(what, ending, runs, alpha=rule.alpha if rule else None)


def _drawn_by(rule: SetRule) -> SetRule:
    """The rule of figures that show two scores: the first that is asked for, and another beside it."""
    from core.reports.report import shown_with

    return replace(rule, scores=shown_with(rule.scores[0]))


EXPORTS: dict[str, Export] = {
    **{kind: _export_table(kind) for kind in writing.ONE_TABLE},
    "xlsx": _export_document("xlsx", "sets", "xlsx"),
    "md": _export_document("markdown", "table", "md"),
    "latex": _export_document("latex", "table", "tex"),
    "bibtex": _export_document("bibtex", "references", "bib"),
    "json": _export_json,
    "figures": _export_figures,
    "html": _export_report,
    "embed": _export_embed,
}
"""Every format that runs go out in, by name."""
