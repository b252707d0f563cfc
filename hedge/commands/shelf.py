"""The commands ``shelf list``, ``show``, ``bring`` and ``leaderboard``."""

import sys
from argparse import Namespace
from collections.abc import Collection, Mapping
from dataclasses import asdict
from typing import Any

from core.errors import plain
from core.questions.leaderboard import SUITES
from core.shelf import entries, leaderboard
from core.shelf.bring import Brought, bring, here
from core.shelf.entries import NO_HASH, Entry, size_of, unhashed
from core.shelf.own_links import is_link, of_link
from core.shelf.progress import DownloadProgress
from core.shelf.recompute import RecomputedFigure, summary
from hedge.commands.answer import CommandResult

NO_LICENCE = "none stated: the files are fetched for your own use, and Hedge passes nothing on"


def show_all(arguments: Namespace) -> CommandResult:
    """All entries, with their sizes and how much of each is here."""
    known, problems = entries.entries()
    lines = [
        f"{entry.name:<34} {len(entry.results):>4} {_files(entry):<6} {_size(entry.bytes_about):>8}, "
        f"{here(entry.results)} here: {entry.title}"
        for entry in known.values()
    ]
    lines.append(f"{leaderboard.NAME:<34} {leaderboard.TITLE}; see `shelf leaderboard ORGANISATION/MODEL`")
    errors = "\n".join(f"hedge: {problem}" for problem in problems)
    return CommandResult([_values(entry) for entry in known.values()], "\n".join(lines), bool(problems), errors)


def show(arguments: Namespace) -> CommandResult:
    """One entry: what it is, where it lies, its size, licence and protocol, and its files."""
    entry = _named(arguments.name)
    lines = [
        entry.title,
        entry.about,
        f"Authors:   {entry.authors or 'not stated'}{f' ({entry.paper})' if entry.paper else ''}",
        f"Licence:   {entry.licence or NO_LICENCE}",
        f"Size:      {len(entry.results)} files of results, {_size(entry.bytes_about)}; {here(entry.results)} are here",
        f"Hashes:    {_hashes(entry)}",
    ]
    lines += [f"Protocol:  {entry.protocol_said}"] * bool(entry.protocol)
    lines += [f"Note:      {entry.note}"] * bool(entry.note)
    lines += [""] + [f"  {file.path}" for file in entry.results]
    return CommandResult(_values(entry) | {"paths": [file.path for file in entry.files]}, "\n".join(lines))


def _files(entry: Entry) -> str:
    return "file," if len(entry.results) == 1 else "files,"


def _hashes(entry: Entry) -> str:
    """How the files are checked, in words."""
    lacking = len(unhashed(entry.files))
    sentence = f"{entry.hashed} files have a recorded SHA-256"
    return f"{sentence}; {lacking} have none. {NO_HASH}" if lacking else sentence


def bring_in(arguments: Namespace) -> CommandResult:
    """Fetch an entry's files, import them, and recompute the published figures."""
    entry = _named(arguments.name)
    return _brought(entry, only=arguments.only, quiet=arguments.json)


def _brought(
    entry: Entry, *, only: str = "", where: Mapping[str, Collection[str]] | None = None, quiet: bool
) -> CommandResult:
    progress = DownloadProgress() if quiet or not sys.stderr.isatty() else DownloadProgress(report=_line)
    done = bring(entry, only=only, where=where, progress=progress)
    if progress.report is _line:
        print(file=sys.stderr)
    return CommandResult(_brought_values(done), _brought_text(done))


def leaderboard_of(arguments: Namespace) -> CommandResult:
    """What the Open LLM Leaderboard has of a model; with ``--task``, import these tasks."""
    entry = leaderboard.of_model(arguments.model)
    if arguments.task:
        wanted = list(entry.values_of("task")) if "all" in arguments.task else arguments.task
        return _brought(entry, where={"task": wanted}, quiet=arguments.json)
    suites = {name: entry.chosen(where={"task": [name]}) for name in entry.values_of("task")}
    lines = [entry.title, entry.about, ""]
    for name, files in suites.items():
        lines.append(
            f"{name:<9} {SUITES[name]:<9} {len(files):>3} files, {_size(size_of(files)):>9}, {here(files)} here"
        )
    lines += ["", f"hedge shelf leaderboard {entry.model} --task {next(iter(suites))}"]
    values = {name: {"files": len(files), "bytes": size_of(files)} for name, files in suites.items()}
    return CommandResult({"model": entry.model, "tasks": values}, "\n".join(lines))


def _named(name: str) -> Entry:
    """An entry by its name, or that of a person's own link."""
    return of_link(name) if is_link(name) else entries.entry(name)


def _line(progress: DownloadProgress) -> None:
    left = f", {progress.remaining_s:.0f} s left" if progress.remaining_s is not None else ""
    text = (
        f"{progress.stage} {progress.file}: {_size(progress.done)} of about {_size(progress.total)}, "
        f"{_size(int(progress.rate))}/s{left}"
    )
    print(f"\r{plain(text, one_line=True)[:118]:<118}", end="", file=sys.stderr, flush=True)


def _values(entry: Entry) -> dict[str, Any]:
    return {
        "name": entry.name,
        "title": entry.title,
        "about": entry.about,
        "authors": entry.authors,
        "paper": entry.paper,
        "licence": entry.licence or None,
        "files": len(entry.files),
        "bytes": entry.bytes_about,
        "hashed": entry.hashed,
        "here": here(entry.results),
        "protocol": dict(entry.protocol),
        "note": entry.note or None,
    }


def _brought_values(done: Brought) -> dict[str, Any]:
    return {
        "runs": list(done.runs),
        "existed": list(done.existed),
        "juries": list(done.juries),
        "fetched_bytes": done.fetched,
        "figures": [asdict(figure) | {"same": figure.same} for figure in done.figures],
        "recomputed": sum(figure.same for figure in done.figures),
        "refused": [{"file": name, "reason": sentence} for name, sentence in done.refused],
    }


def _brought_text(done: Brought) -> str:
    here_before = f", {len(done.existed)} of them here already" if done.existed else ""
    runs = f"{len(done.runs)} run{'' if len(done.runs) == 1 else 's'}"
    lines = [f"{runs}{here_before}; {_size(done.fetched)} downloaded"]
    lines += [f"{name}  a jury; see `hedge jury`" for name in done.juries]
    lines += [f"{name}: {sentence}" for name, sentence in done.refused]
    lines.append(f"{summary(done.figures)}.")
    lines += _differing([figure for figure in done.figures if not figure.same])
    return "\n".join(lines)


def _differing(figures: list[RecomputedFigure]) -> list[str]:
    if not figures:
        return []
    rows = [("model", "task", "figure", "published", "here")]
    rows += [
        (figure.model, figure.task, figure.name, figure.shown(figure.published), figure.shown(figure.recomputed))
        for figure in figures
    ]
    widths = [max(len(row[i]) for row in rows) for i in range(5)]
    return ["", *("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)]


def _size(size: int) -> str:
    if size >= 1e5:
        return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{size / 1e6:.1f} MB"
    return f"{size / 1e3:.0f} kB" if size >= 1e3 else f"{size} bytes"
