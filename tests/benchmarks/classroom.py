"""A class of headless students on one page server: `python -m tests.benchmarks.classroom [--students 60]`.

A server with ``--public --lecturer`` runs in a process of its own. The students are real HTTP clients in another: they
join, answer twelve questions with one to four taps each, and follow alpha, which is dragged over 2 seconds at each of
the last six questions and at the results. At question 4 a third of them reload their pages while they answer, and at
question 8 five lose the network for 10 seconds. At the end the stored answers are compared with what every student
tapped last.
"""

import argparse
import asyncio
import json
import os
import random
import re
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
import urllib.request
from contextlib import closing, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import psutil
import pytest

from app.classroom import desks
from core import access
from core.access import Actor, UserRole
from core.serving.classroom import lecture, quiz
from core.settings import ROOT
from tests.class_phones import Measured, Student, taught
from tests.intruders.client import Client
from tests.processes import end_all

LOST_S = 10.0
QUESTIONS = 12


def opened(address: str, link: str, home: Path) -> tuple[str, str]:
    """Open a class, and its projector by the lecturer's link as a browser does: the code, and the projector's key."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HEDGE_HOME", str(home))
        with access.acting_as(Actor(desks.LECTURER, UserRole.LAUNCHER)):
            code = lecture.open_class(quiz.draw("qa", n=QUESTIONS, calibration=QUESTIONS // 2, seed=1)).code
    client = Client(address)
    try:
        with client.session("classroom", f"{urlsplit(link).query}&class={code}") as page:
            data = [shown for message in page.quiet().messages if (shown := projector_data(message))]
            return code, data[-1]["key"]
    finally:
        client.close()


def projector_data(message: Any) -> dict[str, str]:
    """The data of the projector's component in a message; empty if there is none."""
    if message.WhichOneof("type") != "delta" or message.delta.new_element.WhichOneof("type") != "bidi_component":
        return {}
    proto = message.delta.new_element.bidi_component
    shown = json.loads(proto.json or proto.mixed.json or "{}")
    return shown if "code" in shown and "key" in shown else {}


async def lesson(address: str, code: str, key: str, students: int) -> tuple[Measured, list[Student], list[str]]:
    """The whole quiz: what was measured, the students, and what did not come in time."""
    late: list[str] = []
    async with taught(address, code, key, students=students) as (lecturer, room, measured):
        chance = random.Random(1)
        await lecturer.until(lambda: lecturer.people["joined"] == students)
        for question in range(QUESTIONS):
            await lecturer.act(act="next")
            troubles = []
            if question == 3:
                troubles = [later(chance.uniform(0.5, 3), student.reload) for student in room[: students // 3]]
            if question == 7:
                troubles = [
                    later(chance.uniform(0, 1), lambda student=student: student.offline(LOST_S))
                    for student in room[-5:]
                ]
            await asyncio.gather(*troubles)
            # Everybody has tapped for the last time when no student is at it.
            if not await lecturer.until(lambda: lecturer.people["answered"] == students):
                late.append(f"question {question + 1}: {lecturer.people['answered']} of {students}")
            await asyncio.sleep(4.0)
            await lecturer.act(act="show")
            await asyncio.sleep(0.5)
            if question >= QUESTIONS // 2:
                begin = 100 + 40 * question
                await lecturer.drag([*range(begin, begin + 20)])
                await asyncio.sleep(1.0)
        await lecturer.act(act="next")
        await asyncio.sleep(2.0)
        await lecturer.drag([*range(700, 720)])
        await asyncio.sleep(1.5)
        behind = [student.seat for student in room if student.state.get("alpha") != 719]
        late += [f"alpha has not reached seats {behind}"] if behind else []
        private = [student for student in room if "sureness" not in student.own]
        late += [f"{len(private)} students have no calibration of their own"] if private else []
    return measured, room, late


async def later(seconds: float, what: object) -> None:
    await asyncio.sleep(seconds)
    await what()  # type: ignore[operator]


def lost(home: Path, code: str, room: list[Student]) -> tuple[int, int, int]:
    """How many answers were tapped, how many are stored as they were tapped last, and how many others are stored."""
    with closing(sqlite3.connect(home / "classes.sqlite")) as stored:
        rows = {
            (seat, question): json.loads(shares)
            for seat, question, shares in stored.execute(
                "SELECT seat, question, shares FROM answers WHERE code = ?", [code]
            )
        }
    meant = {(student.seat, question): shares for student in room for question, shares in student.said.items()}
    same = sum(rows.get(place) == shares for place, shares in meant.items())
    return len(meant), same, len(rows.keys() - meant.keys())


def line(name: str, seconds: list[float]) -> str:
    middle, high = np.quantile(seconds, [0.5, 0.95])
    return f"{name:<46} {len(seconds):>6} {1000 * middle:>7.0f} {1000 * high:>7.0f} {1000 * max(seconds):>7.0f}"


def main() -> None:
    """Teach a class and print what was measured."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--students", type=int, default=60)
    students = parser.parse_args().students
    with tempfile.TemporaryDirectory() as folder, socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        free.close()
        home, log = Path(folder) / "home", Path(folder) / "server.log"
        command = [sys.executable, "-m", "app", "--public", "--lecturer", "--server.port", str(port)]
        environment = {**os.environ, "HEDGE_HOME": str(home), "HEDGE_START_AGENT": "0"}
        with log.open("wb") as out:
            server = psutil.Popen(
                [*command, "--server.headless", "true"], cwd=ROOT, env=environment, stdout=out, stderr=out
            )
        try:
            address = f"http://127.0.0.1:{port}"
            end = time.monotonic() + 60
            while time.monotonic() < end:
                with suppress(OSError), urllib.request.urlopen(f"{address}/_stcore/health", timeout=1):
                    break
                time.sleep(0.1)
            link = re.search(r"http://\S+lecturer=\S+", log.read_text())
            assert link, log.read_text()
            code, key = opened(address, link[0], home)
            before, begun = server.cpu_times(), time.perf_counter()
            measured, room, late = asyncio.run(lesson(address, code, key, students))
            used, took = server.cpu_times(), time.perf_counter() - begun
            meant, same, others = lost(home, code, room)
            print(f"{students} students, {QUESTIONS} questions, {took:.0f} s")
            print(f"{'milliseconds':<46} {'count':>6} {'median':>7} {'p95':>7} {'max':>7}")
            print(line("a tap is acknowledged", measured.acknowledged))
            print(line("from a first tap to the projector's view", measured.seen_by_projector))
            print(line("from a moved alpha to a phone", measured.followed))
            print(f"answers tapped {meant}, stored as tapped last {same}, lost {meant - same}, others {others}")
            print(f"refused: {sorted(set(measured.refused))}; late: {late}")
            spent = used.user + used.system - before.user - before.system
            print(f"server: {spent:.1f} s of processor time, {server.memory_info().rss / 1e6:.0f} MB")
        finally:
            server.terminate()
            with suppress(subprocess.TimeoutExpired, psutil.TimeoutExpired):
                server.wait(10)
            end_all(home)


if __name__ == "__main__":
    main()
