"""``hedge``: starts the app, or runs one command.

Without a command, or with options only, it does what ``python -m app`` does in a checkout: ``hedge --server.port
8600``.
With a command it does what ``python -m core`` does there: ``hedge report RUN``.
"""

import runpy
import sys

from hedge import own_modules

ABOUT = ("-h", "--help", "--version")
"""Options of the program itself; all others are those of the app."""


def main() -> None:
    """Start the app or run the command, as the arguments say, and exit."""
    own_modules.put_first()
    from core.processes import program

    program.prepare()
    first = next(iter(sys.argv[1:]), "")
    if first in ABOUT or (first and not first.startswith("-")):
        from hedge.cli import main as command

        sys.exit(command())
    runpy.run_module("app", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
