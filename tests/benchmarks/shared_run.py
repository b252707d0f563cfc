"""One run on one device and shared out over several: ``python -m tests.benchmarks.shared_run [--devices LIST]``.

Each is a command of its own (``python -m core run``) in a home of its own. Seconds are on the wall: of the whole
command, and of the scoring alone (``run.json``). The two files of logits are compared byte for byte. Give the devices
as ``--device`` takes them, for example ``cuda:0,cuda:1,cuda:2,cuda:3``; by default two processes of the CPU, which
need two free cores.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from core.settings import ROOT


def measured(device: str, words: list[str], home: Path) -> tuple[float, dict[str, Any], bytes]:
    """The seconds of the command, the provenance of its run, and its logits."""
    begun = time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "core", "run", *words, "--device", device],
        cwd=ROOT,
        env=os.environ | {"HEDGE_HOME": str(home)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=True,
    )
    seconds = time.perf_counter() - begun
    (folder,) = (home / "runs").iterdir()
    provenance = json.loads((folder / "run.json").read_bytes())["provenance"]
    return seconds, provenance, (folder / "logits.parquet").read_bytes()


def main() -> None:
    """Print one line for each of the two."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--devices", default="cpu,cpu")
    parser.add_argument("--model", default="pocket-8m")
    parser.add_argument("--task", default="qa")
    parser.add_argument("--samples", default="1000")
    parser.add_argument("--form", default="cloze")
    parser.add_argument("--shots", default="5")
    given = parser.parse_args()
    words = ["--model", given.model, "--task", given.task, "--samples", given.samples]
    words += ["--form", given.form, "--shots", given.shots]
    print(f"{' '.join(words)}; {os.cpu_count()} cores at a load of {os.getloadavg()[0]:.1f}")
    files = []
    for device in (given.devices.partition(",")[0], given.devices):
        with tempfile.TemporaryDirectory() as home:
            seconds, said, logits = measured(device, words, Path(home))
        files.append(logits)
        shares = ", ".join(f"{name} {count:,}" for name, count in said.get("devices", {}).items()) or "all on one"
        print(f"{device}: {seconds:.1f} s in all, {said['scoring_seconds']:.1f} s of scoring; {shares}")
    print("the logits are the same bytes" if files[0] == files[1] else "the logits DIFFER")


if __name__ == "__main__":
    main()
