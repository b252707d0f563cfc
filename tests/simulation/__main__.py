"""``python -m tests.simulation [WORD …] [--draws N]``: the long form, as a table.

Words choose the cases whose names hold one of them. ``python -m tests.simulation laws [PAGE or LAW …]`` prints the
table of every interval and p-value under every law (:mod:`tests.simulation.law_table`); the long form ends with it.
Ends with status 1 where a rate lies outside of what is allowed: by more than two standard errors of the simulation, and
in the table by more than three, because it has 2,000 cells.
"""

import argparse
import sys
import time

from tests.simulation.case import Case, hits, improbable
from tests.simulation.cases import CASES
from tests.simulation.law_table import LONG, PAGES, SHORT, table
from tests.simulation.laws import LAWS

TWO_STANDARD_ERRORS = 0.025


def line(case: Case, draws: int) -> tuple[str, bool]:
    """The case's row of the table, and whether it is as allowed."""
    began = time.process_time()
    count = hits(case, draws)
    bad = improbable(count, draws, case.allowed, tail=TWO_STANDARD_ERRORS)
    low, high = (f"{100 * share:g}" for share in case.allowed)
    seconds = time.process_time() - began
    row = f"| {case.name} | {draws} | {100 * count / draws:.1f}% | {low} to {high}% | {seconds:.0f} |"
    return row + (" **outside**" if bad else ""), not bad


def laws_table(words: list[str], draws: int) -> bool:
    """Print the table of the pages and laws that words name, of all without words, and say whether all is allowed."""
    pages, laws = ([name for name in names if name in words] or list(names) for names in (PAGES, LAWS))
    print("| figure | law | n = 60 | n = 200 | n = 1,000 | allowed |\n|---|---|---|---|---|---|")
    good = True
    for row, as_allowed in table(pages, laws, draws):
        print(row, flush=True)
        good &= as_allowed
    return good


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.simulation", description=__doc__.splitlines()[0])
    parser.add_argument("words", nargs="*", help="only cases whose name holds one of these words")
    parser.add_argument("--draws", type=int, help="how many draws of each (default: each case's own number)")
    parser.add_argument("--short", action="store_true", help="as many draws as the suite makes")
    arguments = parser.parse_args()
    if "laws" in arguments.words:
        return 0 if laws_table(arguments.words, arguments.draws or LONG) else 1
    chosen = [case for case in CASES if not arguments.words or any(word in case.name for word in arguments.words)]
    print("| what | draws | hits | allowed | processor seconds |\n|---|---|---|---|---|")
    good = True
    for case in chosen:
        row, as_allowed = line(case, arguments.draws or (case.short if arguments.short else case.long))
        print(row, flush=True)
        good &= as_allowed
    if not arguments.words:
        good &= laws_table([], arguments.draws or (SHORT if arguments.short else LONG))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
