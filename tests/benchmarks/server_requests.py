"""Measure requests to a server.

``python -m tests.benchmarks.server_requests`` asks 1,000 questions of one that takes 200 ms for each, and
``python -m tests.benchmarks.server_requests decisions`` the 2,129 bundled questions of pocket-3m behind a server of
this machine: by log-probabilities, and for decisions in both formats, one by one and together.
"""

import asyncio
import json
import multiprocessing
import sys
import time
from multiprocessing.connection import Connection

from core.models.server.client import ServerClient
from core.models.server.decisions import DecisionEngine
from core.models.server.engine import ServerEngine
from core.questions import bank
from core.questions.prompting.decision import DECISION_FORMATS
from core.questions.prompting.forms import form_prompt
from core.records import Prompt

QUESTIONS = 1000
SECONDS = 0.2
TOP = {f" {letter}": -1.0 - i for i, letter in enumerate("ABCDEFGHIJKLMNOPQRST")}
REPLY = json.dumps({"choices": [{"text": " A", "logprobs": {"top_logprobs": [TOP]}}]}).encode()


def rate() -> None:
    """Ask a slow server, with 32 requests in flight and with as many as help."""
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.Process(target=serve, args=(theirs,), daemon=True)
    process.start()
    url = f"http://127.0.0.1:{ours.recv()}/v1"
    bodies = [{"prompt": f"Question {i}: what now?\nAnswer:", "max_tokens": 1} for i in range(QUESTIONS)]
    for name, most in (("32 in flight", 32), ("as many as help", 256)):
        with ServerClient([url], most=most) as client:
            begin, before = time.monotonic(), time.process_time()
            answers = sum(1 for _ in client.ask("/completions", bodies, lambda i, reply: reply))
            wall, own = time.monotonic() - begin, time.process_time() - before
            print(
                f"{name}: {answers:,} answers in {wall:.2f} s ({QUESTIONS * SECONDS / 32:.2f} s is the least at 32), "
                f"{own:.2f} s of processor time of Hedge, {client.flight.best} in flight at the end"
            )
    process.terminate()
    process.join()


def decisions() -> None:
    """Ask all questions in each way of the same server, and compare the times."""
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=hold, args=(theirs,), daemon=True)
    process.start()
    url = ours.recv()
    questions = bank.load("qa")

    def prompts(form: str) -> list[Prompt]:
        return [
            form_prompt(q, form="letters", strategy="base", demonstrations=(), prompt_format=form) for q in questions
        ]

    by_lists, _ = scored(ServerEngine.load("pocket-3m", servers=[url]), prompts("plain"))
    print(f"log-probabilities: {len(questions):,} questions in {by_lists:.1f} s")
    for form in DECISION_FORMATS:
        for most in (1, 0):
            engine = DecisionEngine.asking(form).load("pocket-3m", servers=[url])
            seconds, together = scored(engine, prompts(form), most=most)
            print(f"{form}, {together} in a request: {seconds:.1f} s, {seconds / by_lists:.2f} times as long")
    ours.send(None)
    process.join()


def scored(engine: ServerEngine, prompts: list[Prompt], *, most: int = 0) -> tuple[float, int]:
    """The seconds that all prompts take after the self-check, and how many went into a request; at most ``most`` if
    it is not 0."""
    try:
        engine.prepare(prompts)
        engine.self_check(prompts)
        if isinstance(engine, DecisionEngine):
            engine.together = most or engine.together
        begin = time.monotonic()
        assert sum(len(batch.ids) for batch in engine.score(prompts)) == len(prompts)
        return time.monotonic() - begin, getattr(engine, "together", 1)
    finally:
        engine.close()


def hold(pipe: Connection) -> None:
    """A server in another process that answers every request with pocket-3m."""
    from tests.core.models.server.loopback import loopback_server

    with loopback_server() as server:
        server.reset(decisions=tuple(f"/{form}" for form in DECISION_FORMATS))
        pipe.send(server.url)
        pipe.recv()


def serve(pipe: Connection) -> None:
    """A server that waits and says the same to everybody."""

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            try:
                head = await reader.readuntil(b"\r\n\r\n")
            except asyncio.IncompleteReadError:  # the client has closed its connections
                return writer.close()
            size = next(
                int(line.split(b":")[1]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-l")
            )
            await reader.readexactly(size)
            await asyncio.sleep(SECONDS)
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(REPLY) + REPLY)

    async def main() -> None:
        server = await asyncio.start_server(talk, "127.0.0.1", 0)
        pipe.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(main())


if __name__ == "__main__":
    decisions() if sys.argv[1:] == ["decisions"] else rate()
