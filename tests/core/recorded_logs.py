"""Logs that lm-evaluation-harness and Inspect wrote about models of ours, kept as archives in ``exchange/recorded``.

    python -m tests.core.recorded_logs          # have both programs write them again

Running these programs takes half a minute of processor time. The nightly tests in ``exchange/test_live_logs.py`` run
them and compare what they write with what is kept.
"""

import json
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path

from core.exchange import lm_eval
from core.exchange.imported import ImportedRun
from core.settings import ASSETS

HERE = Path(__file__).parent / "exchange"
HARNESS_QUESTIONS = 60
"""The first ones of the bundled bank, which the harness asked."""
INSPECT_QUESTIONS = 24
MODEL = ASSETS / "models" / "pocket-1m"
MACHINE = ("pretty_env_info", "git_hash", "upper_git_hash")
"""What the harness writes about the machine; it is left out."""


def unpack(name: str, folder: Path) -> Path:
    """Unpack the archive ``lm_eval`` or ``inspect`` into the folder and return it."""
    with zipfile.ZipFile(HERE / "recorded" / f"{name}.zip") as archive:
        archive.extractall(folder)
    return folder


def read_samples(folder: Path) -> list[ImportedRun]:
    """The runs of all samples of lm-evaluation-harness in a folder."""
    return [run for path in sorted(folder.glob("samples_*")) for run in lm_eval.read(path)]


def run_harness(folder: Path) -> Path:
    """Have the harness write its logs; its folder of ``samples_*.jsonl`` and ``results_*.json``."""
    _run("write_lm_eval.py", folder / "out", MODEL, ASSETS / "bank" / "qa.jsonl", HARNESS_QUESTIONS)
    (logs,) = (folder / "out" / "logs").iterdir()
    for path in logs.glob("results_*.json"):
        results = json.loads(path.read_text(encoding="utf-8"))
        portable = {key: value for key, value in results.items() if key not in MACHINE}
        path.write_text(json.dumps(portable), encoding="utf-8")
    return logs


def run_inspect(folder: Path) -> Path:
    """Have Inspect write its logs into ``plain`` and ``shuffled``, and what its model said into ``truth.json``."""
    _run("write_inspect.py", folder, INSPECT_QUESTIONS)
    return folder


def _run(script: str, *arguments: object) -> None:
    command = [sys.executable, HERE / script, *arguments]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr[-2000:]


RECORD: dict[str, Callable[[Path], Path]] = {"lm_eval": run_harness, "inspect": run_inspect}


def main() -> None:
    """Write the archives."""
    for name, record in RECORD.items():
        with tempfile.TemporaryDirectory() as folder:
            logs = record(Path(folder))
            shutil.make_archive(str(HERE / "recorded" / name), "zip", logs)


if __name__ == "__main__":
    main()
