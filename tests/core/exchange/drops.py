"""Files that are dropped together, read in the tests' own process and without its limits."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from core.exchange import llm_uncertainty_bench
from core.exchange.dropped.found import Header, Reading, refusals
from core.exchange.dropped.reading import (
    Kinds,
    Progress,
    Result,
    assembled,
    find_kind,
    gathered_once,
    group_step,
    read_group,
    sorted_files,
    with_meaning,
)
from core.exchange.imported import ImportedRun
from core.exchange.table_columns import Columns


class Drop:
    """As :class:`~core.exchange.dropped.apart.DropApart`: what was read once is kept for the next reading."""

    def __init__(self, paths: Sequence[Path], *, scratch: Path, name: Callable[[Path], str] = str) -> None:
        gathered = gathered_once(paths, scratch=scratch, name=name)
        self.files, self._refused = gathered.files, gathered.refused
        self._kinds: Kinds = {}
        self._read: dict[str, Result] = {}

    def read(
        self,
        *,
        mappings: Mapping[Header, Columns] | None = None,
        meant: Mapping[str, str] | None = None,
        progress: Progress = lambda done, of, name: None,
    ) -> Reading:
        for n, file in enumerate(self.files):
            progress(n, 2 * len(self.files), file.name)
            if file.path not in self._kinds:
                self._kinds[file.path] = find_kind(file, self.files)
        done = sorted_files(self.files, with_meaning(self.files, self._kinds, meant or {}), mappings or {})
        for n, group in enumerate(done.groups):
            progress(group_step(n, done.groups, self.files), 2 * len(self.files), group.names[0])
            if group.key not in self._read:
                self._read[group.key] = read_group(group, self.files)
        return assembled(done, self._read, refused=self._refused)


def written(folder: Path, files: Mapping[str, bytes | str]) -> list[Path]:
    """Write files by their names below ``files``, beside an empty ``scratch``; the paths that are dropped."""
    for name, content in files.items():
        path = folder / "files" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    (folder / "scratch").mkdir(parents=True)
    return sorted((folder / "files").iterdir())


def dropped(folder: Path, files: Mapping[str, bytes | str]) -> Reading:
    """What becomes of files, by their names, that are dropped together."""
    return Drop(written(folder, files), scratch=folder / "scratch", name=lambda path: path.name).read()


def refused(reading: Reading) -> dict[str, str]:
    """Why files become nothing, by their names."""
    return {name.lstrip("/"): sentence for sentence, names in refusals(reading) for name in names}


def read_logits(paths: list[Path], labels: Path) -> list[ImportedRun]:
    """The runs of LLM-Uncertainty-Bench's results, with the answers in the folder ``labels``."""
    runs = []
    for path in paths:
        data = llm_uncertainty_bench.data_set(path)
        names = (labels / f"{data}.json", labels / f"{data}.labels.json")
        answers = llm_uncertainty_bench.read_answers(next(filter(Path.is_file, names)), data)
        runs.append(llm_uncertainty_bench.read_run(path, answers, data=data))
    return runs
