"""Tells each open phone and projector of changes, by one stream of server-sent events each.

All of them receive the same, so it is written as JSON once for each change and not once for each phone. Alpha
goes by itself, in a message of a few bytes, because phones and projector hold the scores and find the sets by comparing
numbers. A stream sends at most one message in :data:`GAP_S`, and always the latest state, so a dragged alpha never
queues up.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing, suppress
from typing import Any

from app.serving.stopping import is_stopping
from core.errors import HedgeError
from core.serving.classroom import class_state
from core.serving.classroom.live_class import LiveClass, Seat

GAP_S = 0.08
QUIET_S = 15.0
"""A stream without changes sends a comment at this interval, so that nothing between it and the phone closes it."""
STOP_POLL_S = 0.5

StateMessage = tuple[bytes, int, bool]
"""A message with the state, the position in it, and whether the truth of that question is in it."""


def event(name: str, values: object) -> bytes:
    """One server-sent event with JSON."""
    text = json.dumps(values, separators=(",", ":"), ensure_ascii=False)
    return f"event: {name}\ndata: {text}\n\n".encode()


class ClassChannel:
    """The streams of one class, in one event loop."""

    def __init__(self, live: LiveClass) -> None:
        self.live = live
        self.phones: set[asyncio.Event] = set()
        self.desks: set[asyncio.Event] = set()
        self._loop = asyncio.get_running_loop()
        self._seen: tuple[int, int, str] = (0, 0, "")
        self._state: tuple[int, StateMessage] = (0, (b"", -1, False))
        self._making = asyncio.Lock()
        live.listeners.append(self._heard)

    def _heard(self) -> None:
        with suppress(RuntimeError):  # the loop has ended
            self._loop.call_soon_threadsafe(self.wake)

    def wake(self, *, everyone: bool = False) -> None:
        """Let the streams look again: the projectors at every change, phones only where something changed for them."""
        now = (self.live.news, self.live.alpha, self.live.score)
        for stream in self.desks:
            stream.set()
        if now != self._seen or everyone:
            self._seen = now
            for stream in self.phones:
                stream.set()

    async def state(self) -> StateMessage:
        """The message with the present state, made once for all streams."""
        async with self._making:
            if self._state[0] != self.live.news:
                self._state = await asyncio.to_thread(self._state_message)
            return self._state[1]

    def _state_message(self) -> tuple[int, StateMessage]:
        with self.live.lock:
            news, state = self.live.news, class_state.for_phones(self.live)
        return news, (event("state", state), state["position"], state["phase"] in class_state.TRUTH_KNOWN)


class Streams:
    """All streams of this server."""

    def __init__(self) -> None:
        self._channels: dict[str, ClassChannel] = {}
        self._stops: asyncio.Task[None] | None = None

    def channel(self, live: LiveClass) -> ClassChannel:
        """The channel of a class."""
        known = self._channels.get(live.code)
        if known is None or known.live is not live:
            for code in [code for code, channel in self._channels.items() if channel.live.is_over]:
                del self._channels[code]
            known = self._channels[live.code] = ClassChannel(live)
        if self._stops is None or self._stops.done():
            self._stops = asyncio.create_task(self._end_with_server())
        return known

    async def _end_with_server(self) -> None:
        """End all streams when the server stops, which otherwise waits for them; also those of classes that end."""
        while any(channel.phones or channel.desks for channel in self._channels.values()):
            await asyncio.sleep(STOP_POLL_S)
            for channel in self._channels.values():
                if is_stopping() or channel.live.is_over:
                    channel.wake(everyone=True)

    async def of_phone(self, live: LiveClass, seat: Seat, gone: Awaitable[object]) -> AsyncGenerator[bytes]:
        """The updates for a phone, until ``gone`` is done."""
        channel = self.channel(live)

        def sent(state_message: StateMessage) -> None:
            live.note_shown(seat, position=state_message[1], truth=state_message[2])

        def is_taken() -> bool:
            return live.seats.get(seat.number) is seat

        async with aclosing(self._messages(channel, channel.phones, gone, sent=sent, goes_on=is_taken)) as messages:
            async for message in messages:
                yield message

    async def of_desk(
        self, live: LiveClass, check: Callable[[], object], gone: Awaitable[object]
    ) -> AsyncGenerator[bytes]:
        """The updates for a projector: also who sits in the class and who has answered. ``check`` raises
        :class:`~core.errors.HedgeError` when it may no longer receive them; the next request then says why."""
        channel = self.channel(live)

        def may_lead() -> bool:
            with suppress(HedgeError):
                check()
                return True
            return False

        messages_of = self._messages(channel, channel.desks, gone, people=True, goes_on=may_lead)
        async with aclosing(messages_of) as messages:
            async for message in messages:
                yield message

    async def _messages(
        self,
        channel: ClassChannel,
        among: set[asyncio.Event],
        gone: Awaitable[object],
        *,
        people: bool = False,
        sent: Callable[[StateMessage], None] = lambda state_message: None,
        goes_on: Callable[[], bool],
    ) -> AsyncGenerator[bytes]:
        live, changed, left = channel.live, asyncio.Event(), asyncio.ensure_future(gone)
        among.add(changed)
        news, counts, view = 0, 0, (0, "")
        try:
            while not left.done() and not is_stopping():
                changed.clear()
                message = b""
                if live.is_over:
                    yield event("state", {"phase": "ended", "code": live.code})
                    return
                if not goes_on():
                    return
                if live.news != news:
                    news, view = live.news, (live.alpha, live.score)
                    state_message = await channel.state()
                    message += state_message[0]
                    sent(state_message)
                    # The state was made once for all; alpha may have moved since.
                    message += event("alpha", {"alpha": view[0], "score": view[1]})
                elif (live.alpha, live.score) != view:
                    view = (live.alpha, live.score)
                    message += event("alpha", {"alpha": view[0], "score": view[1]})
                if people and live.counts != counts:
                    counts = live.counts
                    message += event("people", class_state.for_projector(live))
                if message:
                    yield message
                    await asyncio.sleep(GAP_S)
                elif not await _waited(changed, left):
                    yield b": quiet\n\n"
        finally:
            among.discard(changed)
            left.cancel()


async def _waited(changed: asyncio.Event, left: asyncio.Future[Any]) -> bool:
    """Wait for a change or the end of the connection; false after a quiet while."""
    waiting = asyncio.ensure_future(changed.wait())
    try:
        done, _ = await asyncio.wait({waiting, left}, timeout=QUIET_S, return_when=asyncio.FIRST_COMPLETED)
        return bool(done)
    finally:
        waiting.cancel()
