"""The fault table: ``python -m tests.faults [--tries 20] [--only NAME ...]`` prints it."""

import argparse
import sys

from tests.faults.played import AT_RANDOM_MOMENTS, FAULTS, NotHere, ended_well
from tests.faults.stage import HEADER
from tests.postgres import server


def main() -> int:
    """Print the table. Returns 1 if a run lost something or ended otherwise than it should."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults")
    parser.add_argument(
        "--tries",
        type=int,
        default=20,
        help="random moments at which something is killed",
    )
    parser.add_argument("--only", nargs="+", choices=[fault.__name__ for fault in FAULTS])
    options = parser.parse_args()
    status = 0
    print(HEADER, flush=True)
    with server() as postgres:
        for fault in FAULTS:
            if options.only and fault.__name__ not in options.only:
                continue
            for on in (None, postgres):
                try:
                    row = fault(on, tries=options.tries) if fault in AT_RANDOM_MOMENTS else fault(on)
                    print(row.to_markdown(), flush=True)
                    status = max(status, not ended_well(fault, row))
                except (NotHere, AssertionError) as error:
                    print(f"{fault.__name__} on {'Postgres' if on else 'SQLite'}: {error}", file=sys.stderr, flush=True)
                    status = max(status, isinstance(error, AssertionError))
    return int(status)


if __name__ == "__main__":
    sys.exit(main())
