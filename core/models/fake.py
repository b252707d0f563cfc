"""A fake engine, for tests of everything that is not a model.

It is available only if ``HEDGE_FAKE_ENGINE`` is set to a JSON object with any of these keys: ``ms``, the milliseconds a
question takes (0); ``pace``, a file that holds this number instead and is read at each question; ``load_ms``, the
milliseconds of loading (0); ``die_at``, the question at which the process kills itself; ``hang_at``, the question at
which it stops for a minute; ``eat_at``, the question at which it allocates 2 GiB; ``fault``, added to the
self-check's difference (0); ``trace``, a file to which the id of every scored question is appended; ``needs_gib``, the
memory that the run claims to need (0).
"""

import hashlib
import json
import os
import signal
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from core.models.engine import SelfCheck
from core.models.model_sources import FAKE_ENGINE_VARIABLE
from core.models.rows import rectangle
from core.records import LETTERS, OptionLogits, Prompt

BATCH = 5
HANG_S = 60
EATEN = 2 * 2**30
"""If nothing limits the memory of this process, it must not take that of the whole machine."""
SENSE = 0.9


class FakeEngine:
    """Logits from a hash of the prompt, so that repeating a run gives the same logits."""

    def __init__(self) -> None:
        options = json.loads(os.environ[FAKE_ENGINE_VARIABLE])
        self.ms: float = options.get("ms", 0)
        self.pace: str = options.get("pace", "")
        self.die_at: int = options.get("die_at", -1)
        self.hang_at: int = options.get("hang_at", -1)
        self.eat_at: int = options.get("eat_at", -1)
        self.trace: str = options.get("trace", "")
        self.fault: float = options.get("fault", 0)
        self.scored = 0
        time.sleep(options.get("load_ms", 0) / 1000)

    @property
    def description(self) -> dict[str, Any]:
        return {"model": "fake", "device": "none", "parameters": 0}

    @property
    def chunk(self) -> int:
        return 50

    def prepare(self, prompts: Sequence[Prompt]) -> None:
        """Nothing to prepare."""

    def self_check(self, prompts: Sequence[Prompt]) -> SelfCheck:
        return SelfCheck(min(len(prompts), 8), self.fault, 1e-4)

    def score(self, prompts: Sequence[Prompt]) -> Iterator[OptionLogits]:
        for start in range(0, len(prompts), BATCH):
            batch = prompts[start : start + BATCH]
            for each in batch:
                self._one(each.question_id)
            texts = bool(batch[0].continuations)
            yield OptionLogits(
                ids=tuple(p.question_id for p in batch),
                logits=rectangle([_logits(p).tolist() for p in batch], fill=-np.inf).astype(np.float32),
                letter_mass=np.full(len(batch), np.nan if texts else 1, dtype=np.float32),
                option_tokens=_counts(batch) if texts else None,
                top_tokens=None if texts else tuple(LETTERS[int(_logits(p).argmax())] for p in batch),
            )

    def batches(self, prompts: Sequence[Prompt]) -> list[list[Prompt]]:
        return [list(prompts[start : start + BATCH]) for start in range(0, len(prompts), BATCH)]

    def setup(self) -> None:
        """Nothing to hand over."""

    def take_setup(self, setup: None) -> None:
        """Nothing to take over."""

    def packed(self, prompts: Sequence[Prompt]) -> list[Prompt]:
        return list(prompts)

    def score_packed(self, packed: list[Prompt]) -> Iterator[OptionLogits]:
        return self.score(packed)

    def joins(self, prompts: Sequence[Prompt]) -> bool:
        return False

    def write(
        self, prompts: Sequence[Prompt], *, repeats: int, seeds: Sequence[int]
    ) -> Iterator[tuple[int, list[str]]]:
        """Letters drawn from the logits, and sometimes a text that names no letter."""
        for i, (prompt, seed) in enumerate(zip(prompts, seeds, strict=True)):
            logits = _logits(prompt).astype(np.float64)
            odds = np.exp(logits - logits.max())
            rng = np.random.default_rng([seed, 0xFA])
            drawn = rng.choice(prompt.k, size=repeats, p=odds / odds.sum())
            yield i, [f" {LETTERS[j]}" if rng.random() < SENSE else " hm" for j in drawn]

    def _one(self, name: str) -> None:
        if self.pace and (ms := Path(self.pace).read_text(encoding="ascii")):  # empty while it is being written
            self.ms = float(ms)
        time.sleep(self.ms / 1000)
        if self.scored == self.die_at:
            os.kill(os.getpid(), signal.SIGKILL)
        if self.scored == self.hang_at:
            time.sleep(HANG_S)
        # At once: a process that nears its limit in small steps may stand still there for minutes, because the system
        # drops the program's own pages again and again before it kills.
        _ = b"\1" * (EATEN * (self.scored == self.eat_at))
        if self.trace:
            with open(self.trace, "a", encoding="utf-8") as file:
                file.write(f"{name}\n")
        self.scored += 1


def _counts(batch: Sequence[Prompt]) -> np.ndarray[Any, np.dtype[np.int32]]:
    return rectangle([[len(text.split()) for text in p.continuations] for p in batch], fill=0).astype(np.int32)


def _logits(prompt: Prompt) -> np.ndarray[Any, np.dtype[np.float32]]:
    seed = int.from_bytes(hashlib.sha256(prompt.text.encode()).digest()[:8], "big")
    return np.random.default_rng(seed).normal(size=prompt.k).astype(np.float32)
