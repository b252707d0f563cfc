"""What asking a server costs, and that its letters are those of the model itself.

``python -m tests.benchmarks.server_requests letters [TASK …]`` asks the loopback server around pocket-3m all questions
that ship (or those of some tasks), with all tokens listed, and with 5 and 20 listed and no echo, and compares with the
transformers engine.
``python -m tests.benchmarks.server_requests rate`` asks 1,000 questions of a server that takes 200 ms for each.
"""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import sys
import time
from multiprocessing.connection import Connection

import numpy as np

from core.models.models import resolve
from core.models.server.client import ServerClient
from core.models.server.engine import ServerEngine
from core.questions import bank
from core.questions.prompting.strategies import prompt
from core.records import OptionLogits, Prompt, joined

QUESTIONS = 1000
SECONDS = 0.2
TOP = {f" {letter}": -1.0 - i for i, letter in enumerate("ABCDEFGHIJKLMNOPQRST")}
REPLY = json.dumps({"choices": [{"text": " A", "logprobs": {"top_logprobs": [TOP]}}]}).encode()


def letters() -> None:
    """Compare all letters with those of the transformers engine."""
    from core.models.transformers_engine import TransformersEngine
    from tests.core.models.server.loopback import loopback_server

    asked = [prompt(question) for task in sys.argv[2:] or bank.available() for question in bank.load(task)]
    k = max(one.k for one in asked)
    truth = scored(TransformersEngine.load(resolve("pocket-3m"), dtype="float32"), asked, k)
    with loopback_server() as server:
        for name, behaviour in (
            ("all tokens listed", {"all_tokens": True}),
            ("letters by their tokens' ids", {"most": 1, "by_id": True, "echo": False}),
            ("5 listed, echo", {"most": 5}),
            ("20 listed, no echo", {"most": 20, "echo": False}),
            ("5 listed, no echo", {"most": 5, "echo": False}),
        ):
            server.reset(**behaviour)
            engine = ServerEngine.load("pocket-3m", servers=[server.url])
            found = scored(engine, asked, k)
            engine.close()
            real = np.isfinite(truth.logits)
            bounded = np.zeros(real.shape, bool) if found.bounded is None else found.bounded
            difference = np.abs(found.logits - truth.logits)[real & ~bounded].max()
            short = np.maximum(truth.logits - found.logits, 0)[bounded].max(initial=0.0)
            print(
                f"{name}: {len(asked):,} questions, largest difference of a known letter {difference:.1e}, questions "
                f"with bounds {bounded.any(axis=1).sum():,}, bounds below the truth by at most {short:.1e}"
            )


def scored(engine: ServerEngine, asked: list[Prompt], k: int) -> OptionLogits:
    """All prompts, in their order."""
    engine.prepare(asked)
    engine.self_check(asked)
    return joined(list(engine.score(asked)), [one.question_id for one in asked], k=k)


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
    {"letters": letters, "rate": rate}[sys.argv[1]]()
