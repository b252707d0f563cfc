"""Measure requests to a server: 1,000 questions to one that takes 200 ms for each.

``python -m tests.benchmarks.server_requests``
"""

import asyncio
import json
import multiprocessing
import time
from multiprocessing.connection import Connection

from core.models.server.client import ServerClient

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
    rate()
