"""Whether this processor multiplies faster in bfloat16 or in float32.

Some processors compute in bfloat16 natively, some slowly, and some virtual machines announce instructions for it that
end the process. So a process of its own tries, and where it fails oneDNN is told to leave these instructions out.
"""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache

_TRY = """
import time, torch
torch.set_num_threads(1)
for name in ("float32", "bfloat16"):
    left, right = (torch.randn(rows, 256).to(getattr(torch, name)) for rows in (2048, 512))
    torch.nn.functional.linear(left, right)
    started = time.process_time()
    for _ in range(100):
        torch.nn.functional.linear(left, right)
    print(time.process_time() - started, flush=True)
"""

_LIMIT = "ONEDNN_MAX_CPU_ISA"
_WITHOUT_TILES = "AVX512_CORE_FP16"
"""The largest set of instructions of oneDNN without those for tiles (AMX)."""


@cache
def fastest() -> str:
    """``bfloat16`` where it takes less time than float32, else ``float32``.

    It may limit oneDNN's instructions by the environment, which oneDNN reads once: call this before torch computes.
    """
    for limit in ({}, {_LIMIT: _WITHOUT_TILES}):
        tried = subprocess.run(
            [sys.executable, "-c", _TRY],
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
            env=os.environ | limit,
        )
        seconds = [float(line) for line in tried.stdout.split()]
        if len(seconds) == 2:
            os.environ.update(limit)
            return "bfloat16" if seconds[1] < seconds[0] else "float32"
    return "float32"
