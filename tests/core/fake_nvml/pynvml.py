"""Stands in for NVIDIA's management library: GPUs of the sizes (GiB) that HEDGE_TEST_GPUS lists."""

import json
import os
from types import SimpleNamespace

NVML_TEMPERATURE_GPU = 0
GIB = 2**30


class NVMLError(Exception):
    pass


def _sizes():
    return json.loads(os.environ.get("HEDGE_TEST_GPUS", "[]"))


def nvmlInit():  # noqa: N802
    if not _sizes():
        raise NVMLError("no driver")


def nvmlShutdown():  # noqa: N802
    pass


def nvmlSystemGetDriverVersion():  # noqa: N802
    return b"999.1"


def nvmlDeviceGetCount():  # noqa: N802
    return len(_sizes())


def nvmlDeviceGetHandleByIndex(index):  # noqa: N802
    return index


def nvmlDeviceGetUUID(handle):  # noqa: N802
    return f"GPU-{handle:08d}"


def nvmlDeviceGetName(handle):  # noqa: N802
    return "Fake GPU"


def nvmlDeviceGetMemoryInfo(handle):  # noqa: N802
    return SimpleNamespace(total=int(_sizes()[handle] * GIB), used=(handle + 1) * GIB, free=0)


def nvmlDeviceGetUtilizationRates(handle):  # noqa: N802
    if handle == 7:
        raise NVMLError("not supported")
    return SimpleNamespace(gpu=10 * handle, memory=0)


def nvmlDeviceGetTemperature(handle, sensor):  # noqa: N802
    return 40 + handle


def nvmlDeviceGetCudaComputeCapability(handle):  # noqa: N802
    return json.loads(os.environ.get("HEDGE_TEST_CAPABILITY", "[7, 5]"))
