"""``python -m tests.fuzz TARGET --inputs N [--seed S]``: fuzz a target, or all of them."""

import argparse
import logging
import os
import pickle
import resource
import sys
import tempfile
import time
from pathlib import Path


def main() -> int:
    """Print what was found; the exit status is 1 if there was anything."""
    logging.getLogger().setLevel(logging.CRITICAL)
    logging.getLogger("core").propagate = False
    os.environ["ARROW_DEFAULT_MEMORY_POOL"] = "system"
    home = tempfile.TemporaryDirectory(prefix="hedge-fuzz-home-")
    os.environ["HEDGE_HOME"] = home.name
    from tests.fuzz.findings import fuzz, limit_memory
    from tests.fuzz.targets import targets

    known = targets()
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("target", choices=("all", *known))
    parser.add_argument("--inputs", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--into", type=Path, help="a folder for the smallest input of each finding")
    arguments = parser.parse_args()
    limit_memory()
    bad = 0
    for name in known if arguments.target == "all" else (arguments.target,):
        begun = time.process_time()
        findings = fuzz(known[name].strategy, known[name].check, inputs=arguments.inputs, begin=arguments.seed)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(
            f"{name}: {findings.inputs:,} inputs, {len(findings.counts)} kinds of findings, "
            f"slowest {findings.slowest:.2f} s, {time.process_time() - begun:.0f} s in all, peak {peak:.0f} MiB",
            flush=True,
        )
        if findings.odd:
            odd = ", ".join(f"{n:,} × {place}" for place, n in findings.odd.most_common(12))
            print(f"  refused as of another form: {odd}")
        for kind, (given, trace) in findings.smallest.items():
            print(
                f"  {findings.counts[kind]:,} × {kind}\n    {trace.strip().splitlines()[-1]}\n    {repr(given)[:600]}"
            )
            if arguments.into:
                arguments.into.mkdir(parents=True, exist_ok=True)
                place = arguments.into / f"{name}-{abs(hash(kind)) % 10**8}.pickle"
                place.write_bytes(pickle.dumps((kind, given, trace)))
        bad += len(findings.counts)
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
