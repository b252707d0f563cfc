"""Starts a detached process (``python -m core.processes.detached MODULE [ARGUMENT ...]``).

It forks before it loads anything, so that its parent waits for no import and has no dead child to reap, then
does what ``python -m MODULE ARGUMENT ...`` would.
"""

import os
import runpy
import sys


def main(arguments: list[str]) -> None:
    """Be ``python -m`` for what ``arguments`` name, in a child of this process, which ends at once."""
    if os.fork():
        os._exit(0)
    sys.argv = arguments
    runpy.run_module(arguments[0], run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main(sys.argv[1:])
