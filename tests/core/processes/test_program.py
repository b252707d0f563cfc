"""Commands on machines with another encoding, closed streams or no folder: each prints, or says a sentence."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from core.settings import ROOT
from tests.conftest import synthetic_run

ASCII = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": ""}
VARIABLES = ("ARROW_DEFAULT_MEMORY_POOL", "MALLOC_ARENA_MAX")
NO_RUN = "hedge: there is no run 'nope'; `hedge runs` lists all runs\n"

pytestmark = pytest.mark.skipif(os.name != "posix", reason="a shell of Unix")


def shell(script: str, *arguments: str, **environment: str) -> tuple[int, str, str]:
    """The status and the outputs of a script, in which ``hedge`` is the program."""
    script = f'hedge() {{ "{sys.executable}" -m core "$@"; }}; cd "{ROOT}"; {script}'
    done = subprocess.run(["sh", "-c", script, "sh", *arguments], capture_output=True, env=os.environ | environment)
    return done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")


@pytest.mark.parametrize(
    "environment",
    [
        ASCII,
        pytest.param(ASCII | {"PYTHONIOENCODING": "ascii"}, marks=pytest.mark.nightly),
        pytest.param({"PYTHONIOENCODING": "cp1252"}, marks=pytest.mark.nightly),
    ],
)
def test_every_encoding_shows_a_run_in_a_home_with_an_umlaut(
    environment: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("HEDGE_HOME", str(tmp_path / "hömé"))
    run_id = synthetic_run(seed=1)
    status, out, err = shell('hedge report "$1"; hedge report nøpe 2>&1', run_id, **environment)
    assert (status, err) == (2, "")
    assert out.startswith(f"{run_id}\n")
    assert "coverage" in out
    assert out.splitlines()[-1].startswith("hedge: there is no run 'n")
    assert (tmp_path / "hömé" / "runs" / run_id).is_dir()


@pytest.mark.parametrize(
    ("script", "status", "out", "err"),
    [
        ("hedge report nope 2>&-", 2, "", ""),
        ("hedge report nope >&- <&-", 2, "", NO_RUN),
        ("hedge runs >&- 2>&- <&-", 0, "", ""),
        ("hedge runs | head -n 0", 0, "", ""),
        ("COLUMNS=0 TERM= hedge report nope", 2, "", NO_RUN),
        (
            'folder=$(mktemp -d); export PYTHONPATH="$PWD"; cd "$folder"; rmdir "$folder"; HEDGE_HOME=there hedge runs',
            2,
            "",
            "hedge: HEDGE_HOME is 'there', and the folder that it is relative to was deleted; write the whole path\n",
        ),
    ],
)
def test_streams_and_folders_that_are_not_there(home: Path, script: str, status: int, out: str, err: str):
    assert shell(script) == (status, out, err)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="it needs /dev/full")
def test_a_result_that_can_not_be_written(home: Path):
    sentence = "hedge: the result can't be written (No space left on device); write it to another place\n"
    assert shell("hedge runs >/dev/full") == (1, "", sentence)
    sentence = "hedge: a file can't be used (No space left on device); free some space\n"
    assert shell("hedge runs --help >/dev/full") == (2, "", sentence)


def test_allocators_keep_little_unless_a_person_says_otherwise():
    """What Arrow's and the C library's own allocators keep was a fifth of the page server's memory."""
    code = (
        "from core.processes import program; program.prepare(); import os, pyarrow; "
        "print(pyarrow.default_memory_pool().backend_name, os.environ['MALLOC_ARENA_MAX'])"
    )
    for variables, printed in (({}, "system 2"), ({"MALLOC_ARENA_MAX": "8"}, "system 8")):
        environment = {name: value for name, value in os.environ.items() if name not in VARIABLES} | variables
        done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True)
        assert done.stdout.strip() == printed, done.stderr
