"""The doctor: every finding says what it means, and none hides another."""

import json
import os
import subprocess
import sys

import pytest

from core import __version__
from core.checks import doctor
from core.checks.doctor import Finding
from core.errors import RunError
from core.models import memory_estimate
from core.models.devices import nvml
from core.models.devices.slots import Slot
from core.models.server import known_servers
from core.models.speed import measure
from core.processes.confined.check import possible
from core.settings import ROOT
from core.storage import database
from tests.flawed_runs import unanswered_run

NAMES = [
    *("versions", "torch", "driver", "gpu", "memory", "disk", "temporary folder", "open files"),
    *("encoding", "proxies", "bundled", "reading files", "database", "agent", "hub", "hub token", "speed of cpu"),
]


@pytest.fixture
def quick(home, monkeypatch):
    """No network and little measuring."""
    monkeypatch.setattr("core.models.speed.MULTIPLY_S", 0.0)
    monkeypatch.setattr("core.models.speed.COPY_S", 0.0)
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setattr(nvml, "readings", lambda: [])
    monkeypatch.setattr(nvml, "driver", lambda: "")
    return home


def findings_by_name() -> dict[str, Finding]:
    return {finding.name: finding for finding in doctor.findings()}


def test_every_finding_has_a_value_and_a_meaning(quick, monkeypatch):
    monkeypatch.setenv("HF_TOKEN", "hf_a_secret_of_the_tests")
    seen = findings_by_name()
    if "speed of cpu" in seen:  # a machine without a GPU
        assert list(seen) == NAMES
    assert all(finding.value and finding.meaning.endswith(".") for finding in seen.values())
    assert seen["hub token"].value == "present"
    assert "secret" not in json.dumps([finding.value + finding.meaning for finding in seen.values()])
    assert seen["versions"].value.startswith(f"Hedge {__version__}, Python 3.")
    assert not seen["hub"].good
    assert seen["hub"].value.startswith("127.0.0.1 can't be reached")
    assert seen["database"].value.endswith("engine.sqlite, not created yet")
    assert not quick.exists()  # looking writes nothing
    absent = {name for name, finding in seen.items() if finding.good is None}
    assert {"driver", "gpu", "database", "agent"} <= absent  # none of them is there, so none of them is good
    assert "Summaries" in seen["bundled"].value


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux can take rights away")
def test_the_rights_of_the_process_that_reads_files(tmp_path):
    """In a process of its own that gives nothing up, everything is possible; in that of a reader, nothing is."""
    (tmp_path / "secret").write_bytes(b"")
    rights = possible(tmp_path / "secret", tmp_path, os.getpid())
    finding = doctor.reading(rights)
    assert (len(rights), finding.good) == (6, False)
    assert finding.value.endswith("read other files, read the environment of other processes")
    assert "update the kernel, add landlock to its lsm= option, or allow both in the container." in finding.meaning
    (whole,) = doctor._reading()
    assert (whole.value, whole.good) == ("in a process that can do nothing else", True)


def test_a_database_that_is_there_and_one_that_is_gone(quick, monkeypatch):
    database.prepare()
    assert "answers in" in findings_by_name()["database"].value
    monkeypatch.setenv("HEDGE_DATABASE_URL", "postgresql://hedge:secret@127.0.0.1:1/hedge")
    monkeypatch.setattr(doctor, "DATABASE_PAUSE_S", 0.0)
    seen = findings_by_name()
    assert seen["database"].good is False
    assert "tried 3 times" in seen["database"].meaning
    assert "secret" not in seen["database"].value
    assert seen["agent"].value == "none on this host"


def test_a_database_that_is_busy_at_first_is_good_when_it_answers(quick, monkeypatch):
    database.prepare()
    really, limits = database.prepare, []

    def busy(*, within_s: float) -> None:
        limits.append(within_s)
        if len(limits) < 3:
            raise RunError("the run database did not answer")
        really(within_s=within_s)

    monkeypatch.setattr(doctor, "DATABASE_PAUSE_S", 0.0)
    monkeypatch.setattr(doctor, "SLOW_DATABASE_S", 60.0)  # this machine may be busy too
    monkeypatch.setattr(database, "prepare", busy)
    seen = {finding.name: finding for finding in doctor.changing()}
    assert seen["database"].good
    assert "answers in" in seen["database"].value
    assert limits[:3] == sorted(limits[:3])  # each try waits longer
    assert list(seen) == ["disk", "open files", "database", "agent", "hub"]


def test_what_changes_is_looked_at_without_torch(home, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    code = (
        "import sys\nfrom core.checks import doctor\nfound = {f.name: f for f in doctor.changing()}\n"
        "assert not {'torch', 'transformers'} & set(sys.modules)\nassert found['hub'].good is None\n"
        "print(*found, sep=', ')"
    )
    completed = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert completed.stdout == "disk, open files, database, agent, hub\n"


def test_gpus_and_a_torch_that_cannot_use_them(quick, monkeypatch):
    import torch

    if torch.cuda.is_available():
        pytest.skip("this torch can use the GPU")
    card = nvml.GpuMetrics(0, "GPU-0", "Card", 80.0, 8.0, 0.0, 41)
    monkeypatch.setattr(nvml, "readings", lambda: [card])
    monkeypatch.setattr(nvml, "driver", lambda: "580.1")
    seen = findings_by_name()
    assert seen["gpu 0"].value == "Card, 72 of 80 GiB free, 41 °C"
    # (80 - 0.5) GiB / 1.2 / 2 bytes = 35.6 B
    assert seen["gpu 0"].meaning == "This is enough for a model with about 36 billion parameters in 16-bit precision."
    assert not seen["driver"].good
    assert seen["driver"].value == "NVIDIA 580.1"


def test_the_largest_model_is_the_largest_that_the_queue_would_take(monkeypatch):
    sizes = [79.6, 79.6, 23.0]
    for there in (sizes[2:], sizes[1:2], sizes[:2], sizes):
        slots = tuple(Slot(f"gpu{i}", str(i), size) for i, size in enumerate(there))
        monkeypatch.setattr("core.models.devices.slots.slots", lambda slots=slots: slots)
        monkeypatch.setattr("core.models.devices.slots.default_dtype", lambda: "bfloat16")
        largest = memory_estimate.largest_model(there, dtype="bfloat16")
        needs = [memory_estimate.BESIDE * 2 * share * largest / 2**30 + 0.5 for share in (0.999, 1.001)]
        assert [memory_estimate.devices_for(gib, there) > 0 for gib in needs] == [True, False]
        place = "its GPU" if len(there) == 1 else f"its {len(there)} GPUs"
        words = f"{largest / 1e9:.1f}" if largest < 1e10 else f"{largest / 1e9:.0f}"
        assert f"can run models up to {words} B parameters on {place}, in 16-bit precision." in doctor.answer()


def test_what_cannot_be_looked_at_hides_nothing(quick, monkeypatch):
    def broken():
        raise ZeroDivisionError("of all things")

    monkeypatch.setattr(doctor, "available", broken)
    seen = findings_by_name()
    assert seen["models"] == Finding("models", "ZeroDivisionError: of all things", False, "This could not be checked.")
    assert seen["hub token"]


def test_the_measured_product_is_right_and_fast_machines_are_faster_than_none(quick):
    for speed in measure():
        assert speed.error < doctor.WRONG_BY
        assert speed.gflops > 0
        assert speed.copy > 0


@pytest.mark.nightly
def test_a_page_asks_without_loading_torch(home):
    code = (
        "import sys\nfrom core.checks import doctor\nfound = doctor.ask()\n"
        "assert not {'torch', 'transformers'} & set(sys.modules)\nprint([f.name for f in found])"
    )
    completed = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert "'speed of the CPU'" in completed.stdout


def test_a_doctor_that_gives_no_answer(home, monkeypatch):
    with pytest.raises(RunError, match=r"did not finish within 0.01 s"):
        doctor.ask(within_s=0.01)
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(RunError, match=r"ended without a result \(no reason\)"):
        doctor.ask()


def test_a_home_that_is_no_folder_is_one_sentence(quick, monkeypatch):
    monkeypatch.setenv("HEDGE_HOME", "s3://bucket")
    assert findings_by_name()["disk"].value.startswith(
        "HEDGE_HOME must be a folder that this machine has mounted, got s3://bucket"
    )


def test_runs_without_an_answer_are_named(quick):
    assert doctor._without_answer() == []
    unanswered_run(noted=False)
    assert doctor._without_answer() == []  # an earlier version's run is noticed when it is read
    unanswered_run(model="a-reasoner")
    (finding,) = doctor._without_answer()
    assert finding.value.startswith("1 run; in the last one, of a-reasoner, the letters of the options have less than")
    assert finding.meaning.startswith("They have no figures. The model begins with its reasoning")
    assert finding.good is False


@pytest.mark.skipif(os.name != "posix", reason="a shell of Unix")
def test_an_odd_machine_is_told_what_to_change(home, tmp_path):
    code = (
        "from core.checks import doctor\n"
        "for look in (doctor._temporary, doctor._files, doctor._encoding, doctor._proxies):\n"
        "    (finding,) = look()\n"
        "    print(finding.good, finding.value, finding.meaning, sep=' | ')"
    )
    command = ["sh", "-c", 'ulimit -n 200; exec "$0" -c "$1"', sys.executable, code]
    odd = {
        "TMPDIR": str(tmp_path / "gone"),
        "PYTHONIOENCODING": "ascii:replace",
        "https_proxy": "socks5://me:secret@there:1",
        "HTTP_PROXY": "http://me:secret@here:3128",
    }
    completed = subprocess.run(
        command, cwd=ROOT, env=os.environ | odd, capture_output=True, text=True, check=True
    ).stdout
    folder, files, encoding, proxies = completed.splitlines()
    assert folder.startswith("False | ")
    assert f"TMPDIR is {tmp_path / 'gone'}, which can't be used, so Hedge takes this folder" in folder
    assert files.startswith("False | ")
    assert " of 200 in use by this process | Raise the limit" in files
    assert encoding.startswith("False | utf-8 for names of files, ascii for output | ")
    assert proxies.startswith("False | ")
    assert "https_proxy socks5://there:1" in proxies
    assert "http_proxy http://here:3128" in proxies
    assert proxies.endswith("Hedge uses only http proxies. Correct or unset it.")
    assert "secret" not in completed


def test_the_formats_of_each_server_that_was_connected_to(home):
    first, second, third = (f"http://gpu-{i}:8000/v1" for i in range(3))
    for url in (first, second, third):
        known_servers.remember([url], key="LAB_API_KEY")
    known_servers.note_formats([first], "m", ("plain", "chat", "systemone"))
    known_servers.note_formats([second], "gpt-6-luna", ())
    known_servers.note_formats(["http://elsewhere:1/v1"], "m", ("plain",))
    seen = {finding.name: finding for finding in doctor._servers()}
    assert [*seen] == [f"server {url}" for url in (third, second, first)]
    assert seen[f"server {first}"] == Finding(
        f"server {first}",
        "log-probabilities and decisions (/systemone), when it was last asked for m",
        True,
        "Runs can ask it with --format and one of plain, chat, systemone.",
    )
    assert seen[f"server {second}"].value.startswith("no log-probabilities and no decisions, when it was last asked")
    assert "--picks" in seen[f"server {second}"].meaning
    assert (seen[f"server {third}"].value, seen[f"server {third}"].good) == ("not asked yet", None)
    assert not any("LAB_API_KEY" in finding.value + finding.meaning for finding in seen.values())
