"""What one person costs the server: `python -m tests.benchmarks.rerun_cost [PAGE ...] [--public] [--waiting]`.

For each page the server's processor time, in milliseconds, with warm caches: of a visit (a session is opened, the
page's script runs, the session is closed), of the script run again with nothing changed, of the script run again with
another alpha in the link, and on the Alpha lab of an alpha that was moved and let go. With ``--waiting``, a run waits,
and the last figure is what the notices cost each time that they look after it. One person at a time, so that other
processes of the machine change little.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import aiohttp

from core.settings import ROOT
from tests.benchmarks.load import LAB, LIMITS, Figures, Server, Session, opened, warm

PAGES = ("overview", "alpha_lab", "learn", "new_run")
TIMES = 40
ALPHAS = (100, 200, 300, 400)


class Spent:
    """The processor time of the server in a ``with`` block, in milliseconds for each of ``times``."""

    def __init__(self, server: Server, times: int) -> None:
        self.server = server
        self.times = times
        self.ms = 0.0

    def _seconds(self) -> float:
        now = self.server.process.cpu_times()
        return float(now.user + now.system)

    def __enter__(self) -> Spent:
        self.begun = self._seconds()
        return self

    def __exit__(self, *_: object) -> None:
        self.ms = 1000 * (self._seconds() - self.begun) / self.times


async def _move(session: Session, alpha: int) -> None:
    """Another alpha, by the link, as every page takes it."""
    session.query = f"alpha={alpha}"
    await session.click()


async def _look_after(session: Session, notices: str) -> None:
    """What the browser does by itself while a run waits."""
    session.clicked = notices
    session.waits = asyncio.get_running_loop().create_future()
    await session._send(fragment=notices, by_itself=True)
    await session.waits


async def costs(server: Server, page: str, *, is_waiting: bool) -> dict[str, float]:
    """The costs of a page, by what a person does."""
    figures = Figures()
    found: dict[str, float] = {}

    async def spend(name: str, act: Callable[[int], Awaitable[None]]) -> None:
        with Spent(server, TIMES) as spent:
            for i in range(TIMES):
                await act(i)
            await asyncio.sleep(0.5)
        found[name] = spent.ms

    async with aiohttp.ClientSession() as http:

        async def visit(_: int) -> None:
            async with opened(http, server.address, page, figures):
                pass

        for _ in range(3):
            async with opened(http, server.address, page, figures) as session:
                for alpha in ALPHAS:
                    await _move(session, alpha)
        await spend("visit", visit)
        async with opened(http, server.address, page, figures) as session:
            await session.click()
            await spend("again", lambda i: session.click())
            await spend("link", lambda i: _move(session, ALPHAS[i % len(ALPHAS)]))
            if LAB in session.widgets:
                session.leave()
                await spend("let go", lambda i: session.click(view={"alpha": ALPHAS[i % len(ALPHAS)]}))
            if is_waiting:
                await session.click()
                (notices,) = session.polls
                session.leave()
                await spend("notices", lambda i: _look_after(session, notices))
    if figures.errors:
        raise RuntimeError(figures.errors[0])
    return found


def main() -> None:
    """Measure the pages that are named, or all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("page", nargs="*", help=f"of {', '.join(PAGES)}")
    parser.add_argument("--public", action="store_true", help="serve others, who can only look")
    parser.add_argument("--waiting", action="store_true", help="let a run wait")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="hedge-cost-") as folder:
        home = Path(folder) / "home"
        home.mkdir()
        limits = Path(folder) / "server.toml"
        limits.write_text(LIMITS, encoding="utf-8")
        limits.chmod(0o600)
        os.environ["HEDGE_START_AGENT"] = "0"  # nothing but the pages
        server = Server(home, *(["--public", str(limits)] if given.public else []))
        try:
            asyncio.run(warm(server.address))
            time.sleep(20)  # by then the server has imported what every page needs
            if given.waiting:
                run = [sys.executable, "-m", "core", "run", "--model", "pocket-8m", "--task", "rc", "--queue"]
                subprocess.run([*run, "--seed", "1"], cwd=ROOT, env=server.environment, check=True)
            print("ms of processor time")
            for page in given.page or [one for one in PAGES if not (given.public and one == "new_run")]:
                found = asyncio.run(costs(server, page, is_waiting=given.waiting))
                print(f"{page:<12}", *(f"{name} {ms:6.1f}  " for name, ms in found.items()), flush=True)
        finally:
            server.close()


if __name__ == "__main__":
    main()
