"""One set of questions is one task, whatever the files are called that hold its results."""

from pathlib import Path

import numpy as np
import pytest

from core.exchange import table
from core.exchange.imported import ImportedRun, renamed, save
from core.exchange.shared_tasks import with_shared_tasks, with_stored_banks, with_stored_tasks
from core.reports import question_identity
from core.reports.imported_figures import stored_as
from core.reports.run_filter import record_task_key
from core.reports.titles import record_title
from core.runs import store

pytestmark = pytest.mark.quick


def written(folder: Path, name: str, *, seed: int, questions: str = "which") -> Path:
    rows = np.random.default_rng(seed).dirichlet((1, 1, 1), 12).round(6)
    path = folder / name
    lines = [f"{questions} {i}?,{','.join(map(str, row))},{'ABC'[i % 3]}" for i, row in enumerate(rows)]
    path.write_text("\n".join(["question,A,B,C,label", *lines]) + "\n")
    return path


def imported(*paths: Path, task: str = "") -> list[str]:
    """The ids of the runs of one import."""
    runs: list[ImportedRun] = with_stored_tasks(with_shared_tasks(table.read(paths)))
    runs = with_stored_banks([renamed(run, task=task) for run in runs])
    before = [stored_as(run) for run in runs]
    save(run for run, name in zip(runs, before, strict=True) if not name)
    return [name or run.spec.run_id for run, name in zip(runs, before, strict=True)]


def titles(names: list[str]) -> list[str]:
    return [record_title(store.read_record(name)) for name in names]


@pytest.fixture
def two_files(tmp_path, home) -> tuple[Path, Path]:
    return written(tmp_path, "alpha.csv", seed=1), written(tmp_path, "beta.csv", seed=2)


def test_two_files_of_one_import_are_one_task(two_files, tmp_path):
    other = written(tmp_path, "gamma.csv", seed=3, questions="another")
    names = imported(*two_files, other)
    assert titles(names) == ["alpha · 12 questions", "beta · 12 questions", "gamma · gamma"]
    assert question_identity.shared_tests(*names[:2]) == 6


def test_the_words_that_files_share_name_their_task(tmp_path, home):
    files = [written(tmp_path, name, seed=i) for i, name in enumerate(("rivers_phi.csv", "rivers-yi.csv"))]
    assert titles(imported(*files)) == ["rivers_phi · rivers", "rivers-yi · rivers"]


def test_a_task_that_is_named_has_no_file_in_its_name(two_files):
    assert titles(imported(*two_files, task="codes")) == ["alpha · codes", "beta · codes"]


def test_a_task_that_is_named_is_shared_by_questions_without_texts(tmp_path, home):
    rows = ["id,A,B,label", *(f"{i},0.{i},0.{10 - i},{'AB'[i % 2]}" for i in range(1, 10))]
    files = [tmp_path / "alpha.csv", tmp_path / "beta.csv"]
    for path in files:
        path.write_text("\n".join([*rows, f"{path.stem},1,0,A"]))
    assert titles(imported(*files, task="codes")) == ["alpha · codes", "beta · codes"]


@pytest.mark.parametrize("task", ["", "codes"])
def test_two_imports_are_one_task(two_files, task):
    names = [*imported(two_files[0], task=task), *imported(two_files[1], task=task)]
    assert len({record_task_key(store.read_record(name)) for name in names}) == 1
    assert question_identity.shared_tests(*names) == 6
    assert imported(*two_files, task=task) == names  # neither is imported again
    assert len(store.run_ids()) == len(set(store.run_ids()))


def test_a_file_alone_keeps_its_title_and_id(two_files):
    (run,) = table.read(two_files[:1])
    assert imported(two_files[0]) == [run.spec.run_id]
    assert titles([run.spec.run_id]) == ["alpha · alpha"]
