"""The process that loads models and answers (``python -m core.runs.answering.answerer``).

The desk starts it and holds both ends: a question a line comes in on standard input, news a line go out on standard
output. It ends with the desk, which closes its input.
"""

from __future__ import annotations

import json
import os
import queue
import sys
import threading
import traceback
from typing import IO, Any

from core.errors import HedgeError
from core.runs.answering import answers
from core.runs.answering.custom_question import OwnQuestion
from core.runs.answering.model_cache import Shelf, is_memory

NICENESS = 5
"""Below the pages, above the runs: somebody waits for the answer."""


class Answerer:
    """One question after another."""

    def __init__(self, out: IO[str], shelf: Shelf) -> None:
        self.out = out
        self.shelf = shelf
        self.lock = threading.Lock()  # a download is told of from a thread of its own

    def do(self, asked: dict[str, Any]) -> None:
        """Answer one question and say what became of it."""
        from core.runs.answering.scoring import answer

        name = asked["id"]
        try:
            own = OwnQuestion.from_json(asked["own"])
            given = answer(own, self.shelf, lambda stage, **what: self.tell(name, stage, **what))
            answers.write(given)
        except HedgeError as error:
            self.tell(name, "failed", message=str(error))
        except Exception as error:
            traceback.print_exc()
            if is_memory(error):
                self.shelf.clear()
            self.tell(name, "failed", message=in_words(error))
        else:
            self.tell(name, "answered", seconds=given.loading_s)

    def warm(self, model: str, dtype: str) -> None:
        """Load a model that will probably be asked; what is wrong with it is said when it is."""
        try:
            self.shelf.get((model, dtype))
        except Exception:
            traceback.print_exc()

    def tell(self, name: str, stage: str, **what: Any) -> None:
        """Say how far a question is."""
        with self.lock:
            print(json.dumps({"answer_id": name, "stage": stage, **what}), file=self.out, flush=True)


def in_words(error: Exception) -> str:
    """An error that nobody foresaw, as a sentence."""
    if is_memory(error):
        return "memory ran out; choose a smaller model, or a run in float16 or bfloat16"
    return f"the model stopped with {type(error).__name__}: {str(error)[:300]}; the answerer's log has the details"


def main() -> None:
    """Answer until the desk closes standard input."""
    os.nice(NICENESS)
    # Libraries print; what they say goes to the log, and the desk hears only what is meant for it.
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    inbox: queue.Queue[dict[str, Any]] = queue.Queue()
    threading.Thread(target=_listen, args=(inbox,), daemon=True, name="hedge-inbox").start()
    answerer = Answerer(out, Shelf())
    while True:
        asked = inbox.get()
        if "warm" in asked:
            answerer.warm(*asked["warm"])
        else:
            answerer.do(asked)


def _listen(inbox: queue.Queue[dict[str, Any]]) -> None:
    for line in sys.stdin.buffer:
        inbox.put(json.loads(line))
    # Not sys.exit: one that is deep in a model must not outlive its desk.
    os._exit(3)


if __name__ == "__main__":
    main()
