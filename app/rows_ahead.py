"""Compute the figures of every run that has ended before anybody compares it, and keep them on disk.

The first visit to Compare then reads a small file for each run (:mod:`core.reports.compare.kept_rows`). A thread of the
server looks for runs that have ended or were imported, on any page or by the command line. Runs that ship are small and
are left to the page.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

NAME = "hedge-keeps-rows"
BEGIN_S = 10.0
"""The first pages have been painted by then."""
LOOK_EVERY_S = 20.0
PAUSE_S = 0.3
"""Between two runs, of which one takes about a tenth as long: a person's clicks come first."""


def start(shown: threading.Event) -> None:
    """Start the thread, which begins when the first page has been ``shown``."""
    threading.Thread(target=_follow, args=(shown,), daemon=True, name=NAME).start()


def _follow(shown: threading.Event) -> None:
    shown.wait()
    time.sleep(BEGIN_S)
    seen: set[str] = set()
    while True:
        keep_new(seen, pause=lambda: time.sleep(PAUSE_S))
        time.sleep(LOOK_EVERY_S)


def keep_new(seen: set[str], *, pause: Callable[[], None] = lambda: None) -> None:
    """Keep the figures of all runs that have ended and are not ``seen``, the latest first, and note them there.

    They are those with which Compare opens. A run that can't be read is left to the page, which says why.
    """
    from app.caches import run_cache
    from app.components.compare.all_runs import set_rule
    from app.state.compare import CompareView
    from core.errors import HedgeError
    from core.reports import evaluation
    from core.reports.compare import kept_rows
    from core.runs import store

    rule = set_rule(CompareView())
    for record in run_cache.runs().finished:
        try:
            version = run_cache.version(record.run_id)
            if version in seen:
                continue
            seen.add(version)
            if not store.is_bundled(record.run_id) and not kept_rows.are_kept(record.run_id, rule):
                kept_rows.compared_rows([record.run_id], rule, evaluation.load)
                pause()
        except (HedgeError, OSError):
            continue
