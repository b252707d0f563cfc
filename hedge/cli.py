"""The command line: how commands are run.

``--json`` prints one JSON document on standard output and nothing else there; progress and errors go to standard
error. Exit status: 0, 1 for a failed run or an import that refused a file, 2 for unusable arguments or none.
"""

import json
import os
import signal
import sys
import threading
from argparse import Namespace
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from core.errors import HedgeError, InputError, plain
from core.processes import temporary
from core.storage import names, system_errors
from hedge.commands.grammar import parser


def main(argv: Sequence[str] | None = None) -> int:
    """Do what ``argv`` says; returns the exit status."""
    words = sys.argv[1:] if argv is None else list(argv)
    if not words:
        parser("").print_help(sys.stderr)
        return 2
    try:
        with _ended_as_interrupted():
            temporary.choose_folder()
            arguments = parser(next((word for word in words if not word.startswith("-")), "")).parse_args(words)
            _check_names(arguments)
            _say_addresses(arguments)
            from core.storage import database  # imports pydantic, for which a help text need not wait

            with database.answers_within(database.COMMAND_WITHIN_S):
                answer = arguments.action(arguments)
    except HedgeError as error:
        print(f"hedge: {error}", file=sys.stderr)
        return error.exit_status
    except BrokenPipeError:
        _close_output()
        return 1
    except (OSError, ValueError, RuntimeError) as error:
        if not (sentence := system_errors.sentence(error)):
            raise
        print(f"hedge: {sentence}", file=sys.stderr)
        return InputError.exit_status
    except KeyboardInterrupt:
        print("hedge: stopped", file=sys.stderr)
        return 1
    if answer.errors:
        print(plain(answer.errors), file=sys.stderr)
    output = json.dumps(answer.values, indent=1, allow_nan=False) if arguments.json else plain(answer.text)
    try:
        print(output, end="\n" if output else "", flush=True)
    except BrokenPipeError:  # the reader has enough, as `head` has
        _close_output()
    except OSError as error:
        _close_output()
        print(f"hedge: the result can't be written ({error.strerror}); write it to another place", file=sys.stderr)
        return 1
    return int(answer.status)


def _close_output() -> None:
    """Discard unwritten output, so that Python does not fail at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _check_names(arguments: Namespace) -> None:
    """Raise :class:`InputError` for a file that can't have its name, before anything is computed for it."""
    for value in vars(arguments).values():
        for path in value if isinstance(value, list) else [value]:
            if isinstance(path, Path):
                names.named(path)


def _say_addresses(arguments: Namespace) -> None:
    """Say which address of a server is used where it is not the one that was given."""
    for text in getattr(arguments, "server", None) or ():
        from core.models.server_address import corrected

        if sentence := corrected(text):
            print(f"hedge: {sentence}", file=sys.stderr)


@contextmanager
def _ended_as_interrupted() -> Iterator[None]:
    """Let SIGTERM, which Slurm and ``kill`` send, stop a command as Ctrl+C does: a run is then cancelled, not failed.

    A second one while the run writes down how it ended is ignored. Only the main thread may take signals.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
