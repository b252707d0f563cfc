"""The doctor: what this machine can run. Each finding comes with what it means for a run.

:func:`findings` loads torch and belongs in a process of its own; :func:`ask` starts one and is for pages.
"""

from __future__ import annotations

import codecs
import importlib.metadata
import json
import os
import platform
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import psutil

from core import __version__, extras
from core.errors import HedgeError, RunError
from core.models.model_sources import bundled_models
from core.processes import open_files, proxies, temporary
from core.progress import rate_in_words
from core.questions import TASKS
from core.questions.bank import available
from core.questions.prompting.decision import DECISION_FORMATS
from core.questions.prompting.forms import FORMATS
from core.settings import ROOT, settings

if TYPE_CHECKING:
    from core.runs.store import RunRecord

GIB = 2**30
LITTLE_DISK_GIB = 2
LITTLE_TEMPORARY_GIB = 0.5
FEW_FILES = 1024
HUB_WITHIN_S = 3
SLOW_DATABASE_S = 0.1
DATABASE_LIMITS_S = (4.5, 10.0, 20.0)
"""Seconds that each try gives the database: on a busy machine the first answer may take longer than a page waits."""
DATABASE_PAUSE_S = 1.0
DATABASE_ASKED = 3
"""The fastest of this many answers counts, because one that had to wait for a busy processor says little."""
ASKED_WITHIN_S = 120.0
WRONG_BY = 1e-3
"""A product that is off by more, in shares of it, is no rounding."""
OLDEST_PYTHON, NEWEST_PYTHON = (3, 11), (3, 13)
PACKAGES = ("streamlit", "torch", "transformers", "dbos", "numpy", "pandas", "pyarrow")


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding: its value as text, whether it is good, and what follows from it for a run.

    ``good`` is None if there is nothing to judge, because the thing is not there or is switched off.
    """

    name: str
    value: str
    good: bool | None
    meaning: str


def findings() -> list[Finding]:
    """Look at the machine, which takes some ten seconds; loads torch, so it is not for the page process."""
    looks: list[Callable[[], list[Finding]]] = [_python, _torch, _driver, _gpus, _memory, _disk, _temporary, _files]
    looks += [_encoding, _proxies, _models, _reading, _database, _agent, _paused, _without_answer]
    looks += [_servers, _hub, _token, _speed]
    if not extras.has("models"):
        looks = [_light if look is _torch else look for look in looks if look not in (_driver, _hub, _token, _speed)]
    return [finding for look in looks for finding in _looked(look)]


def answer() -> str:
    """A sentence on the largest model that this machine can run, by the estimate that forecasts and the queue use.
    Loads no torch."""
    from core.models.devices.slots import CPU, UNKNOWN_GIB, default_dtype, slots
    from core.models.memory_estimate import largest_model

    if not extras.has("models"):
        return f"This machine can run models on servers alone. {extras.pip_line('models')} adds models on this machine."
    here, dtype = slots(), default_dtype()
    on_cpu = here[0].name == CPU
    place = "its CPU" if on_cpu else "its GPU" if len(here) == 1 else f"its {len(here)} GPUs"
    if any(slot.memory_gib == UNKNOWN_GIB for slot in here):
        return f"How large a model this machine can run is not known, because {place} did not report all memory."
    billions = largest_model([slot.memory_gib for slot in here], dtype=dtype) / 1e9
    size = f"{billions:.{0 if billions >= 10 else 1}f} B parameters"
    slow = " There is no GPU, so models with 1 B parameters or more are slow." if on_cpu else ""
    return f"This machine can run models up to {size} on {place}, in {_bits(dtype)} precision.{slow}"


def changing() -> list[Finding]:
    """The findings that change by themselves: disk, database, agent and hub. Takes seconds and loads no torch."""
    looks = (
        _disk,
        _files,
        _database,
        _agent,
        _paused,
        _without_answer,
        _servers,
        *([_hub] if extras.has("models") else []),
    )
    return [finding for look in looks for finding in _looked(look)]


def ask(*, within_s: float = ASKED_WITHIN_S) -> list[Finding]:
    """The findings of a process of its own, so that this one loads no torch.

    Raises :class:`~core.errors.RunError` if it gives none.
    """
    command = [sys.executable, "-m", "core", "doctor", "--json"]
    try:
        process = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=within_s, check=False)
        return [Finding(**values) for values in json.loads(process.stdout)]
    except subprocess.TimeoutExpired:
        raise RunError(f"the check did not finish within {within_s:g} s; `hedge doctor` shows more") from None
    except (ValueError, TypeError):
        last = (process.stderr.strip().splitlines() or ["no reason"])[-1]
        raise RunError(f"the check ended without a result ({last}); `hedge doctor` shows more") from None


def _looked(look: Callable[[], list[Finding]]) -> list[Finding]:
    """A check that fails must not hide the others."""
    try:
        return look()
    except Exception as error:
        value = str(error) if isinstance(error, HedgeError) else f"{type(error).__name__}: {error}"
        return [Finding(look.__name__.strip("_"), value, False, "This could not be checked.")]


def _python() -> list[Finding]:
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in PACKAGES if find_spec(name))
    value = f"Hedge {__version__}, Python {platform.python_version()}, {versions}"
    oldest, newest = (".".join(map(str, version)) for version in (OLDEST_PYTHON, NEWEST_PYTHON))
    good = OLDEST_PYTHON <= sys.version_info[:2] <= NEWEST_PYTHON
    return [Finding("versions", value, good, f"Hedge needs Python {oldest} to {newest}.")]


def _light() -> list[Finding]:
    """In place of all findings that need torch or the hub's library."""
    meaning = f"Runs need a model on a server. {extras.pip_line('models')} adds models on this machine."
    return [Finding("models", "not installed", None, meaning)]


def _torch() -> list[Finding]:
    import torch

    threads = torch.get_num_threads()
    cuda = f"built for CUDA {torch.version.cuda}" if torch.version.cuda else "built without CUDA"
    meaning = f"It uses {threads} thread{'' if threads == 1 else 's'} to score on the CPU."
    return [Finding("torch", f"{torch.__version__}, {cuda}", True, meaning)]


def _driver() -> list[Finding]:
    import torch

    from core.models.devices import nvml

    version = nvml.driver()
    if not version:
        return [Finding("driver", "no NVIDIA driver", None, "Runs use the CPU.")]
    if torch.cuda.is_available():
        return [Finding("driver", f"NVIDIA {version}", True, "torch can use the GPUs.")]
    reason = (
        "this torch was built without CUDA; install one that was built with it"
        if torch.version.cuda is None
        else "torch can't use the driver; update the driver, or install a torch that was built for an older CUDA"
    )
    return [Finding("driver", f"NVIDIA {version}", False, f"Runs use the CPU, because {reason}.")]


def _gpus() -> list[Finding]:
    from core.models.devices import nvml

    results = []
    for gpu in nvml.readings():
        celsius = f", {gpu.celsius} °C" if gpu.celsius is not None else ""
        value = f"{gpu.name}, {gpu.total_gib - gpu.used_gib:.0f} of {gpu.total_gib:.0f} GiB free{celsius}"
        results.append(Finding(f"gpu {gpu.index}", value, True, _enough(gpu.total_gib, "float16", digits=0)))
    slow = "Runs use the CPU. This is fine for pocket models and slow for models with 1 billion parameters or more."
    return results or [Finding("gpu", "none", None, slow)]


def _enough(gib: float, dtype: str, *, digits: int) -> str:
    """How many parameters fit, by the same estimate as the queue's."""
    from core.models.memory_estimate import largest_model

    size = f"about {largest_model([gib], dtype=dtype) / 1e9:.{digits}f} billion parameters"
    return f"This is enough for a model with {size} in {_bits(dtype)} precision."


def _bits(dtype: str) -> str:
    from core.models.memory_estimate import BYTES

    return f"{8 * BYTES[dtype]:.0f}-bit"


def _memory() -> list[Finding]:
    from core.models.devices.slots import host_memory_gib

    memory, limit = psutil.virtual_memory(), host_memory_gib()
    value = f"{min(memory.available / GIB, limit):.1f} of {limit:.1f} GiB free"
    enough = _enough(limit, "float32", digits=1).removesuffix(".")
    return [Finding("memory", value, True, f"{enough}, if all of it is free.")]


def _disk() -> list[Finding]:
    home = settings().home
    there = next(path for path in (home, *home.parents) if path.exists())
    free = shutil.disk_usage(there).free / GIB
    writable = os.access(there, os.W_OK)
    value = f"{free:.0f} GiB free at {home}" + ("" if writable else ", which is not writable")
    good = writable and free > LITTLE_DISK_GIB
    full = "Runs will fail. Set HEDGE_HOME to a writable folder with free space."
    return [Finding("disk", value, good, "Runs and logs are stored here." if good else full)]


def _temporary() -> list[Finding]:
    wanted = os.environ.get("TMPDIR", "")
    if not temporary.is_usable():
        meaning = "Set TMPDIR to a folder that you may write to, or imports and questions fail."
        return [Finding("temporary folder", "none that can be written", False, meaning)]
    folder = tempfile.gettempdir()
    free = shutil.disk_usage(folder).free / GIB
    value = f"{free:.1f} GiB free at {folder}"
    if wanted and Path(folder).resolve() != Path(wanted).resolve():
        meaning = f"TMPDIR is {wanted}, which can't be used, so Hedge takes this folder. Correct or unset TMPDIR."
        return [Finding("temporary folder", value, False, meaning)]
    if free < LITTLE_TEMPORARY_GIB:
        meaning = "Imports and backups of large files will fail. Free some space, or set TMPDIR to another folder."
        return [Finding("temporary folder", value, False, meaning)]
    return [Finding("temporary folder", value, True, "Uploads and archives are unpacked here.")]


def _files() -> list[Finding]:
    limit = open_files.limit()
    value = f"{open_files.count():,} of {limit:,} in use by this process"
    if open_files.problem() or limit < FEW_FILES:
        meaning = "Raise the limit (`ulimit -n`, or LimitNOFILE in a systemd unit): each open page takes one."
        return [Finding("open files", value, False, meaning)]
    return [Finding("open files", value, True, "Each open page takes one.")]


def _encoding() -> list[Finding]:
    names, output = sys.getfilesystemencoding(), getattr(sys.stdout, "encoding", "") or "none"
    value = f"{names} for names of files, {output.lower()} for output"
    if not all(codecs.lookup(name).name == "utf-8" for name in (names, output) if name != "none"):
        meaning = "Characters that it lacks are shown as “?”. Set LANG to a UTF-8 locale, and unset PYTHONIOENCODING."
        return [Finding("encoding", value, False, meaning)]
    return [Finding("encoding", value, True, "All characters are shown, and files are written in UTF-8.")]


def _proxies() -> list[Finding]:
    value = proxies.in_words()
    if not value:
        return [Finding("proxies", "none", None, "Other machines are asked directly.")]
    try:
        for scheme in ("http", "https"):
            proxies.proxy_of(f"{scheme}://example.org")
    except HedgeError as error:
        return [Finding("proxies", value, False, f"{str(error).partition(';')[0]}. Correct or unset it.")]
    meaning = "Other machines are asked through them unless no_proxy lists them. This machine never is."
    return [Finding("proxies", value, True, meaning)]


def _models() -> list[Finding]:
    tasks = ", ".join(TASKS[name] for name in available())
    value = f"models: {', '.join(bundled_models()) or 'none'}; tasks: {tasks or 'none'}"
    return [Finding("bundled", value, bool(bundled_models()), "These work without a network.")]


def _reading() -> list[Finding]:
    """What a file from outside could do if it took over the process that reads it."""
    from core.processes.confined.check import remaining_rights

    return [reading(remaining_rights())]


def reading(rights: Sequence[str]) -> Finding:
    """The finding on the process that reads files from outside, which can still use ``rights``."""
    if not rights:
        meaning = "A file can't open connections, start or signal processes, or read and change other files."
        return Finding("reading files", "in a process that can do nothing else", True, meaning)
    meaning = (
        "Memory and time are limited, but a file that took this process over could do that. Hedge needs Landlock and "
        "seccomp, which Linux 5.13 and newer have: update the kernel, add landlock to its lsm= option, or allow both "
        "in the container."
        if sys.platform == "linux"
        else "Memory and time are limited. Use Linux, which can take these rights away, for a server that accepts "
        "files from people you do not know."
    )
    return Finding("reading files", f"in a process that can still {', '.join(rights)}", False, meaning)


def _database() -> list[Finding]:
    from core.storage import database

    try:
        shown = database.shown()
        if not database.exists():
            return [Finding("database", f"{shown}, not created yet", None, "The first launched run creates it.")]
        took = _answers_in()
    except HedgeError as error:
        meaning = (
            f"It was tried {len(DATABASE_LIMITS_S)} times. No run can be launched on a page until it answers. "
            "`hedge run` works without it."
        )
        return [Finding("database", str(error), False, meaning)]
    value = f"{shown}, answers in {took * 1000:.1f} ms"
    meaning = "Waiting runs are kept here" + (
        ", and all hosts that use this database share them." if database.is_shared() else "."
    )
    if took >= SLOW_DATABASE_S:
        meaning += " It answers slowly, so the machine, its disk or the network is busy."
    return [Finding("database", value, took < SLOW_DATABASE_S, meaning)]


def _answers_in() -> float:
    """Seconds of the database's quickest answer. It is asked until the first answer arrives, and then a few times
    more."""
    from core.storage import database

    *first, last = DATABASE_LIMITS_S
    for limit in first:
        with suppress(RunError):
            database.prepare(within_s=limit)
            break
        time.sleep(DATABASE_PAUSE_S)
    else:
        database.prepare(within_s=last)
    times = []
    for _ in range(DATABASE_ASKED):
        begin = time.perf_counter()
        database.prepare(within_s=last)
        times.append(time.perf_counter() - begin)
    return min(times)


def _agent() -> list[Finding]:
    from core.runs.agent import liveness

    try:
        others = sorted(liveness.live_hosts() - {liveness.host()})
    except HedgeError:  # the database's own finding says it
        others = []
    alive = liveness.agent_alive()
    here = "running on this host" if alive else "none on this host"
    value = here + (f"; others on {', '.join(others)}" if others else "")
    if others or alive:
        return [Finding("agent", value, True, "Waiting runs start immediately.")]
    return [Finding("agent", value, None, "It starts automatically with the first launched run.")]


def _paused() -> list[Finding]:
    """The runs that wait for a server or a larger budget; nothing if there are none."""
    paused = _own_runs(lambda record: record.state == "paused")
    if not paused:
        return []
    last = max(paused, key=lambda record: record.ended or 0.0)
    value = f"{len(paused)} run{'s' * (len(paused) > 1)}; the last one: {last.message}"
    return [Finding("paused", value, None, "They keep what has finished, and continue when you resume them.")]


def _without_answer() -> list[Finding]:
    """The runs whose letters have almost no probability; nothing if there are none."""
    from core.runs.caveats import NO_ANSWER, of_run_record

    without = _own_runs(lambda record: record.state == "done" and record.has_no_answer)
    if not without:
        return []
    last = max(without, key=lambda record: record.ended or 0.0)
    (caveat,) = (caveat for caveat in of_run_record(last) if caveat.kind == NO_ANSWER)
    sentence = caveat.sentence.removeprefix("No answer: ")
    value = f"{len(without)} run{'s' * (len(without) > 1)}; in the last one, of {last.spec.model_name}, {sentence}"
    return [Finding("no answer", value, False, f"They have no figures. {caveat.way_out}")]


def _servers() -> list[Finding]:
    """The formats in which each server that was connected to answered; nothing is asked now."""
    from core.models.server.known_servers import remembered

    results = []
    for known in remembered():
        name = f"server {', '.join(known.servers)}"
        if not known.model:
            meaning = "Connect to it on New run, which asks what it answers."
            results.append(Finding(name, "not asked yet", None, meaning))
            continue
        lists = ["log-probabilities"] * any(form in FORMATS for form in known.formats)
        paths = ", ".join(f"/{form}" for form in known.formats if form in DECISION_FORMATS)
        answers = " and ".join([*lists, *[f"decisions ({paths})"] * bool(paths)])
        way = (
            f"--format and one of {', '.join(known.formats)}"
            if answers
            else "--picks, because it only answers in writing"
        )
        value = f"{answers or 'no log-probabilities and no decisions'}, when it was last asked for {known.model}"
        results.append(Finding(name, value, bool(answers) or None, f"Runs can ask it with {way}."))
    return results


def _own_runs(chosen: Callable[[RunRecord], bool]) -> list[RunRecord]:
    """The runs of this home that are chosen."""
    from core.runs import store

    records = []
    for name in store.run_ids():
        with suppress(HedgeError):  # a damaged run is reported where runs are listed
            if not store.is_bundled(name) and chosen(record := store.read_record(name)):
                records.append(record)
    return records


def _hub() -> list[Finding]:
    from urllib.parse import urlsplit
    from urllib.request import Request, urlopen

    from huggingface_hub import constants

    if constants.HF_HUB_OFFLINE:
        return [Finding("hub", "switched off by HF_HUB_OFFLINE", None, "Only models on this machine can be used.")]
    name = urlsplit(constants.ENDPOINT).hostname
    proxy = proxies.proxy_of(constants.ENDPOINT)
    through = f" through the proxy {proxies.shown(proxy)}" if proxy else ""
    try:
        with urlopen(Request(constants.ENDPOINT, method="HEAD"), timeout=HUB_WITHIN_S):
            return [Finding("hub", f"{name} answers", True, "Models and tasks can be downloaded.")]
    except OSError as error:
        meaning = "Bundled models, folders and earlier downloads can be run. Nothing new can be downloaded."
        return [Finding("hub", f"{name} can't be reached{through}: {_why_unreachable(error)}", False, meaning)]


def _why_unreachable(error: OSError) -> str:
    """Why a host can't be reached, in words."""
    reason = getattr(error, "reason", error)
    if isinstance(reason, socket.gaierror):
        return "its name is not found, so this machine may be offline"
    if isinstance(reason, TimeoutError):
        return f"there is no answer within {HUB_WITHIN_S} s"
    if isinstance(reason, ConnectionRefusedError):
        return "the connection is refused"
    if isinstance(reason, ssl.SSLError):
        return "its certificate is not trusted here"
    status = getattr(error, "code", None)
    return f"it answers with HTTP status {status}" if status else getattr(reason, "strerror", None) or str(reason)


def _token() -> list[Finding]:
    from huggingface_hub import get_token

    present = get_token() is not None
    meaning = "Gated models can be loaded." if present else "Gated models need HF_TOKEN. Open models do not."
    return [Finding("hub token", "present" if present else "none", True if present else None, meaning)]


def _speed() -> list[Finding]:
    from core.models.speed import measure

    results = []
    for speed in measure():
        good = speed.error <= WRONG_BY
        value = f"{speed.gflops:,.0f} GFLOP/s in multiplication, {speed.copy:.1f} GB/s in copying"
        a_second = speed.gflops * 1e9 / (2 * 1e9 * 100)
        meaning = (
            f"At best {rate_in_words(a_second, 'question')}, for questions of 100 tokens and a model with 1 billion "
            "parameters in 32-bit precision."
            if good
            else f"Its results are wrong by {speed.error:.1g}, so no run on it can be trusted."
        )
        device = "the CPU" if speed.device == "cpu" else speed.device
        results.append(Finding(f"speed of {device}", value, good, meaning))
    return results
