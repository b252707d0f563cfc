"""Students in a class as real HTTP clients: each joins, taps, follows alpha, reloads, or loses the network.

A student keeps unacknowledged answers as the phone's page does, and sends them again before it listens again. The
lecturer is a client with a projector's key. Times are taken by one clock, that of the clients' process.
"""

import asyncio
import json
import random
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import aiohttp

AGAIN_S = 0.5
ANSWERED_WITHIN_S = 40.0


@dataclass
class Measured:
    """The measurements, in seconds, and the errors."""

    acknowledged: list[float] = field(default_factory=list)
    """From a tap to its acknowledgement, with the network there."""
    seen_by_projector: list[float] = field(default_factory=list)
    """From a student's first tap at a question to the projector's own view of it."""
    followed: list[float] = field(default_factory=list)
    """From a moved alpha to each phone."""
    refused: list[str] = field(default_factory=list)
    moved: dict[int, float] = field(default_factory=dict)
    tapped: dict[tuple[int, int], float] = field(default_factory=dict)


class Student:
    """One phone."""

    def __init__(self, address: str, code: str, measured: Measured, *, seed: int, hurry: float = 1.0) -> None:
        self.place, self.measured, self.hurry = f"{address}/join/{code}", measured, hurry
        self.chance = random.Random(seed)
        self.token = self.chance.randbytes(16).hex()
        self.seat = 0
        self.said: dict[int, list[int]] = {}
        """What the student means: the last shares that were tapped, by question."""
        self.unsent: dict[int, tuple[list[int], int, float]] = {}
        self.turn = 0
        self.state: dict[str, Any] = {}
        self.alphas: set[int] = set()
        self.own: dict[str, Any] = {}
        self.online = True
        self.work: list[asyncio.Task[None]] = []
        self.tapping: list[asyncio.Task[None]] = []

    async def begin(self) -> None:
        """Open the page as it is after a reload: nothing is left except what the phone stores."""
        self.http = aiohttp.ClientSession(headers={"Authorization": f"Bearer {self.token}"})
        for name in ("", "/../-/phone.js"):
            with suppress(aiohttp.ClientError):
                await (await self.http.get(self.place + name)).read()
        if not self.seat:
            self.seat = (await self._post("seat", {"name": ""}))["seat"]
        self.state = {}
        self.work = [asyncio.create_task(self._follow())]

    async def leave(self) -> None:
        """Close the page at once."""
        for task in self.work:
            task.cancel()
        await asyncio.gather(*self.work, return_exceptions=True)
        await self.http.close()

    async def reload(self) -> None:
        """Reload the page."""
        await self.leave()
        await asyncio.sleep(0.3)
        await self.begin()

    async def offline(self, seconds: float) -> None:
        """Lose the network; what is tapped meanwhile stays on the phone."""
        self.online = False
        listening = self.work.pop(0)
        listening.cancel()
        await asyncio.gather(listening, return_exceptions=True)
        await self.http.close()
        await asyncio.sleep(seconds)
        self.http = aiohttp.ClientSession(headers={"Authorization": f"Bearer {self.token}"})
        self.online = True
        self.work.insert(0, asyncio.create_task(self._follow()))

    async def _post(self, what: str, data: dict[str, Any]) -> dict[str, Any]:
        if not self.online:
            raise aiohttp.ClientConnectionError("no network")
        async with self.http.post(f"{self.place}/{what}", data=json.dumps(data)) as answer:
            answered: dict[str, Any] = await answer.json()
            if answer.status in (408, 429) or answer.status >= 500:
                raise aiohttp.ClientConnectionError(answered["error"])
            if answer.status != 200:
                self.measured.refused.append(answered["error"])
            return answered

    async def flush(self) -> None:
        """Send what has not been acknowledged, until everything is."""
        while self.unsent:
            question, (shares, turn, at) = next(iter(self.unsent.items()))
            was_online = self.online
            try:
                await self._post("answer", {"question": question, "shares": shares, "turn": turn})
            except (aiohttp.ClientError, RuntimeError):  # a closed session
                await asyncio.sleep(AGAIN_S)
                continue
            if was_online and self.online and at:
                self.measured.acknowledged.append(time.perf_counter() - at)
            if self.unsent.get(question, (0, 0))[1] == turn:
                del self.unsent[question]

    async def _follow(self) -> None:
        while self.state.get("phase") != "ended":
            with suppress(aiohttp.ClientError, RuntimeError, TimeoutError):
                await self.flush()
                async with self.http.get(f"{self.place}/stream", timeout=aiohttp.ClientTimeout(total=None)) as answer:
                    async for name, values in events(answer):
                        await self._heard(name, values)
            await asyncio.sleep(AGAIN_S)

    async def _heard(self, name: str, values: dict[str, Any]) -> None:
        if name == "alpha":
            if begun := self.measured.moved.get(values["alpha"]):
                self.measured.followed.append(time.perf_counter() - begun)
            self.state |= values
            self.alphas.add(values["alpha"])
            return
        before = (self.state.get("phase"), self.state.get("position"))
        self.state = values
        if (
            values["phase"] == "asked"
            and before != ("asked", values["position"])
            and values["position"] not in self.said
        ):
            self.tapping.append(
                asyncio.create_task(self._answer(values["position"], len(values["question"]["options"])))
            )
            self.work.append(self.tapping[-1])
        if values["phase"] in ("shown", "results") and "scores" in values:
            self.own = await (await self.http.get(f"{self.place}/mine")).json()

    async def _answer(self, question: int, k: int) -> None:
        """Think, then tap a few times."""
        await asyncio.sleep(self.hurry * self.chance.uniform(0.5, 4.0))
        chips = [0] * k
        for _ in range(self.chance.randint(1, 4)):
            chips[self.chance.randrange(k)] += 1
            shares = [100 * chip // sum(chips) for chip in chips]
            shares[max(range(k), key=chips.__getitem__)] += 100 - sum(shares)
            self.turn += 1
            self.said[question] = shares
            now = time.perf_counter()
            self.measured.tapped.setdefault((self.seat, question), now)
            self.unsent[question] = (shares, self.turn, now if self.online else 0.0)
            await self.flush()
            await asyncio.sleep(self.hurry * self.chance.uniform(0.3, 0.8))


async def events(answer: aiohttp.ClientResponse) -> AsyncIterator[tuple[str, dict[str, Any]]]:
    """The server-sent events of an answer."""
    rest = b""
    async for piece in answer.content.iter_any():
        *whole, rest = (rest + piece).split(b"\n\n")
        for event in whole:
            if event.startswith(b"event: "):
                name, data = event.split(b"\n", 1)
                yield name[7:].decode(), json.loads(data.removeprefix(b"data: "))


class Lecturer:
    """A projector with its key."""

    def __init__(self, address: str, code: str, key: str, measured: Measured) -> None:
        self.place, self.measured = f"{address}/join/{code}/desk", measured
        self.http = aiohttp.ClientSession(headers={"Authorization": f"Bearer {key}"})
        self.state: dict[str, Any] = {}
        self.people: dict[str, Any] = {"joined": 0, "answered": 0, "people": []}
        self._seen: set[tuple[int, int]] = set()
        self.work = asyncio.create_task(self._follow())

    async def _follow(self) -> None:
        async with self.http.get(self.place, timeout=aiohttp.ClientTimeout(total=None)) as answer:
            assert answer.status == 200, await answer.text()
            async for name, values in events(answer):
                if name == "state":
                    self.state = values
                elif name == "people":
                    self.people = values
                    self._note()
                elif begun := self.measured.moved.get(values["alpha"]):
                    self.state |= values | {"heard": time.perf_counter() - begun}

    def _note(self) -> None:
        """When the projector first shows that a seat has answered the question."""
        position = self.state.get("position", -1)
        for seat, _, answered, _ in self.people["people"]:
            if answered and (seat, position) not in self._seen:
                self._seen.add((seat, position))
                if at := self.measured.tapped.get((seat, position)):
                    self.measured.seen_by_projector.append(time.perf_counter() - at)

    async def act(self, **data: Any) -> None:
        """Do something; it must be done."""
        async with self.http.post(self.place, data=json.dumps(data)) as answer:
            assert answer.status == 200, await answer.text()

    async def until(self, condition: Any, *, within_s: float = ANSWERED_WITHIN_S) -> bool:
        """Wait until the projector shows something; whether it did."""
        end = time.perf_counter() + within_s
        while time.perf_counter() < end:
            if condition():
                return True
            await asyncio.sleep(0.05)
        return False

    async def drag(self, alphas: list[int], *, every_s: float = 0.1) -> None:
        """Drag alpha as the projector's page does: one request at a time, at most ten a second."""
        for alpha in alphas:
            self.measured.moved[alpha] = time.perf_counter()
            await asyncio.gather(self.act(act="alpha", alpha=alpha, score="lac"), asyncio.sleep(every_s))

    async def close(self) -> None:
        """Close the page."""
        self.work.cancel()
        await asyncio.gather(self.work, return_exceptions=True)
        await self.http.close()


@asynccontextmanager
async def taught(
    address: str, code: str, key: str, *, students: int, hurry: float = 1.0
) -> AsyncIterator[tuple[Lecturer, list[Student], Measured]]:
    """A lecturer and students who have joined."""
    measured = Measured()
    lecturer = Lecturer(address, code, key, measured)
    room = [Student(address, code, measured, seed=i, hurry=hurry) for i in range(students)]
    try:
        await asyncio.gather(*(student.begin() for student in room))
        yield lecturer, room, measured
    finally:
        await asyncio.gather(*(student.leave() for student in room))
        await lecturer.close()
