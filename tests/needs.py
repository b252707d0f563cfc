"""Programs that some tests need beside Python, and how to install them.

A test that lacks one of these calls :func:`missing`, which skips it. With ``HEDGE_REQUIRE_BROWSER=1`` it fails unless
what it lacks is in :data:`NOT_INSTALLABLE`. The last line of a run counts the skipped tests by what they need.
"""

import os
from collections import Counter
from collections.abc import Iterable
from typing import NoReturn

import pytest

INSTALL = {
    "Chromium": "apt-get install chromium",
    "Node.js": "apt-get install nodejs npm",
    "ESLint, axe-core and esbuild": "npm ci",
    "Postgres": "apt-get install postgresql",
    "openssl": "apt-get install openssl",
    "LaTeX": "apt-get install texlive-latex-recommended",
    "published results": "set HEDGE_REAL_DATA to their folder",
    "a pretrained model": "set HEDGE_REAL_MODELS to its folder",
    "a GPU": "a machine with CUDA",
}
NOT_INSTALLABLE = {"published results", "a pretrained model", "a GPU"}
PREFIX = "needs "


def missing(what: str) -> NoReturn:
    """Skip the test because ``what``, a key of :data:`INSTALL`, is missing, or fail it where everything is required."""
    reason = f"{PREFIX}{what}: {INSTALL[what]}"
    if os.environ.get("HEDGE_REQUIRE_BROWSER") == "1" and what not in NOT_INSTALLABLE:
        pytest.fail(f"{reason} (HEDGE_REQUIRE_BROWSER=1 does not allow to skip it)")
    pytest.skip(reason)


def summary(reasons: Iterable[str]) -> str:
    """One line for the end of a run: how many tests were skipped by what they need; empty if none were.

    >>> summary(["needs Node.js: npm", "needs Chromium: apt", "needs Node.js: npm", "no such disk"])
    'Skipped: 2 tests need Node.js (npm); 1 test needs Chromium (apt).'
    """
    counts = Counter(reason.removeprefix(PREFIX) for reason in reasons if reason.startswith(PREFIX))
    parts = []
    for reason, count in counts.most_common():
        what, _, install = reason.partition(": ")
        parts.append(f"{count} {'test needs' if count == 1 else 'tests need'} {what} ({install})")
    return f"Skipped: {'; '.join(parts)}." if parts else ""
