"""Finished runs, and their copies: in the archive, and in the bin."""

import json
import shutil
from typing import Any

from core.settings import settings
from tests.conftest import without_digests
from tests.damage.kinds.common import QUESTIONS, Names, other_run
from tests.damage.looks import Look, command, exported, listed, pages, report, run
from tests.damage.tries import Kind


def finished() -> Names:
    (letters,) = run(*QUESTIONS, "--samples", "60", "--repeats", "2")["runs"]
    (cloze,) = run(*QUESTIONS, "--samples", "60", "--form", "cloze")["runs"]
    return {"letters": letters, "cloze": cloze, "brook": other_run(), "reef": other_run("reef")}


def of_runs(names: Names) -> list[Look]:
    letters, cloze, brook, reef = (names[name] for name in ("letters", "cloze", "brook", "reef"))
    every = (letters, cloze, brook, reef)
    return [
        *map(report, every),
        *map(listed, every),
        Look("calibration", (letters,), command("calibration", letters), costly=True),
        Look("compare", (letters, cloze), command("compare", letters, cloze), costly=True),
        Look("compare others", (brook, reef), command("compare", brook, reef), costly=True),
        Look("prompting", (letters, cloze), command("prompting", letters, cloze), costly=True),
        exported("export", (letters,), "export", letters, "--format", "csv"),
        exported("export cloze", (cloze,), "export", cloze, "--format", "csv"),
        pages({"brook": brook}, overview={}, compare={"runs": f"{letters},{brook}"}, new_run={}),
    ]


def _runs_without_digests() -> Names:
    names = finished()
    import pyarrow.parquet as pq

    for path in settings().runs.glob("*/*"):
        if path.suffix == ".parquet":
            pq.write_table(pq.read_table(path), path, compression="zstd")
        elif path.suffix == ".json":
            path.write_text(json.dumps(without_digests(path)))
    return names


# ---------------------------------------------------------------- copies


def _archived() -> Names:
    from core.runs import archive

    names = finished()
    archive.push()
    return names


def _of_archive(names: Names) -> list[Look]:

    def brought_back(run_id: str) -> Any:
        target = settings().runs / run_id
        shutil.rmtree(target)
        shutil.copytree(settings().home / "archive" / run_id, target)
        return report(run_id).get()

    own = [
        Look(f"brought back, {run_id}", (run_id,), lambda r=run_id: brought_back(r))
        for run_id in list(names.values())[:3]
    ]
    return [report(names["reef"]), *own]


def _trashed() -> Names:
    names = finished()
    run("delete", names["letters"], names["brook"])
    return names


def _of_trash(names: Names) -> list[Look]:
    def restored(run_id: str) -> Any:
        run("restore", run_id)
        return [report(run_id).get(), listed(run_id).get()]

    own = [
        Look(f"restored, {names[name]}", (names[name],), lambda r=names[name]: restored(r))
        for name in ("letters", "brook")
    ]
    return [
        report(names["cloze"]),
        report(names["reef"]),
        Look("bin", (), lambda: sorted(row["run"] for row in run("bin"))),
        *own,
    ]


RUN_FILES = ("runs/*/*.parquet", "runs/*/run.json", "runs/*/log.txt")
KINDS = {
    "run": Kind(finished, of_runs, RUN_FILES),
    "archive": Kind(_archived, _of_archive, ("archive/*/*",)),
    "trash": Kind(_trashed, _of_trash, ("bin/*/*",)),
    "older run": Kind(_runs_without_digests, of_runs, RUN_FILES, older=True),
}
