"""``python -m tests.damage [KIND …] [--tries N] [--seed S]``: damage files, and print a table of what came of it."""

import argparse
import logging
import os
import sys
import tempfile
import time
from pathlib import Path

from tests.core import test_kept_files
from tests.damage.damages import DAMAGES
from tests.damage.kinds import KINDS
from tests.damage.tries import HEADER, Row, Stage
from tests.damaged import IN_PLACE, check_damages


def main() -> int:
    """Print the table and the first try of each bad outcome; returns 1 if there was one."""
    parser = argparse.ArgumentParser(prog="python -m tests.damage")
    kinds = {**KINDS, **{kind.__name__: kind for kind in test_kept_files.KINDS}}
    parser.add_argument("kind", nargs="*", choices=[[], *kinds], metavar="KIND", help=f"of {', '.join(kinds)}")
    parser.add_argument("--tries", type=int, default=2_000, help="flips of each kind; other damages: a tenth")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--damage", nargs="+", choices=DAMAGES, default=list(DAMAGES))
    parser.add_argument("--only", type=int, metavar="TRY", help="this try alone")
    parser.add_argument("--at-once", type=int, default=1, help="tries in one process, which look at less; as the suite")
    options = parser.parse_args()
    logging.getLogger().setLevel(logging.CRITICAL)
    status = 0
    print(HEADER, flush=True)
    for name in options.kind or kinds:
        with tempfile.TemporaryDirectory(prefix="hedge-damage-") as folder:
            begun = time.monotonic()
            if name not in KINDS:
                os.environ["HEDGE_HOME"] = str(Path(folder) / "home")
                path, read, missing = kinds[name]()
                check_damages(path, read, missing=missing, tries=options.tries, seed=options.seed)
                print(f"| {name} | {', '.join(IN_PLACE)} | {options.tries} flips | all the same or refused |")
                continue
            stage = Stage(name, KINDS[name], Path(folder))
            for damage in options.damage:
                row = Row(name, damage)
                tries = options.tries if damage == "flip" else max(options.tries // 10, 1)
                numbers = range(tries) if options.only is None else [options.only]
                for result in stage.run(damage, numbers, options.seed, at_once=options.at_once):
                    row.add(result)
                print(row.to_markdown(), flush=True)
                for result in row.bad:
                    replay = f"python -m tests.damage {name} --seed {options.seed} --damage {damage}"
                    details = result.details if options.only is not None else result.details[-700:]
                    print(f"  {result.outcome}: {result.damaged}\n    {replay} --only {result.number}\n    {details}")
                status |= bool(row.bad) and not KINDS[name].older
            print(f"  {name}: {time.monotonic() - begun:.0f} s", file=sys.stderr, flush=True)
    return int(status)


if __name__ == "__main__":
    sys.exit(main())
