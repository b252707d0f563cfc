"""What a verification was made on: processor, memory, GPUs and versions. Loads no torch."""

import importlib.metadata
import os
import platform
from contextlib import suppress
from pathlib import Path
from typing import Any

from core import __version__
from core.models.devices import nvml
from core.models.devices.slots import host_memory_gib

PACKAGES = ("torch", "transformers", "peft", "accelerate", "bitsandbytes")
CPU_INFO = Path("/proc/cpuinfo")


def described() -> dict[str, Any]:
    """The machine as JSON values."""
    return {
        "host": platform.node(),
        "system": platform.platform(),
        "processor": processor(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "memory_gib": round(host_memory_gib(), 1),
        "gpus": [{"name": gpu.name, "memory_gib": round(gpu.total_gib, 1)} for gpu in nvml.readings()],
        "driver": nvml.driver(),
        "python": platform.python_version(),
        "hedge": __version__,
        "packages": _versions(),
    }


def processor() -> str:
    """The processor's name.

    A virtual machine may hide its model, so that its family and model number stand beside it.
    """
    fields: dict[str, str] = {}
    with suppress(OSError):
        for line in CPU_INFO.read_text(encoding="utf-8").splitlines():
            name, _, value = line.partition(":")
            fields.setdefault(name.strip(), value.strip())
    if "model name" not in fields:
        return platform.processor() or platform.machine()
    return f"{fields['model name']} (family {fields.get('cpu family', '?')}, model {fields.get('model', '?')})"


def _versions() -> dict[str, str]:
    versions = {}
    for name in PACKAGES:
        with suppress(importlib.metadata.PackageNotFoundError):
            versions[name] = importlib.metadata.version(name)
    return versions
