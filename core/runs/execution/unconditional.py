"""Unconditional scores: what each option's text scores on its own, without the question, for the forms that use it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from core.errors import InputError
from core.inference.engine import Engine, SelfCheck
from core.prompting.cloze import ANSWER, BARE, bare_prompt
from core.records import OptionLogits, Prompt
from core.runs import store

OnBatch = Callable[[], None]
Checked = Callable[[Engine, Sequence[Prompt]], SelfCheck]


def score_bare(engine: Engine, prompts: Sequence[Prompt], folder: Path, *, checked: Checked, tell: OnBatch) -> None:
    """Score each distinct option text once after each bare prompt, and write that down; nothing if it is there.

    ``checked`` compares fast with slow scoring, ``tell`` is called between batches. A model whose tokenizer has no
    token to begin a text with leaves that part out.
    """
    if store.has_bare(folder):
        return
    texts = sorted({text for prompt in prompts for text in prompt.continuations})
    found: dict[str, OptionLogits] = {}
    for by in _asked(prompts[0]):
        chat = prompts[0].chat
        bare = [bare_prompt(text, by=by, chat=chat) for text in texts]
        if BARE[by] and engine.joins(bare):
            bare = [bare_prompt(text, by=by, chat=chat, joined=True) for text in texts]
        try:
            engine.prepare(bare)
        except InputError as error:
            store.log(folder, f"options are not scored on their own by {by}: {error}")
            continue
        checked(engine, bare)
        batches = []
        for batch in engine.score(bare):
            batches.append(batch)
            tell()
        found[by] = OptionLogits(
            ids=tuple(name for batch in batches for name in batch.ids),
            logits=np.concatenate([batch.logits for batch in batches]),
            letter_mass=np.concatenate([batch.letter_mass for batch in batches]),
        )
    if found:
        store.write_bare(folder, found)


def _asked(prompt: Prompt) -> list[str]:
    """A bare ``Answer:`` only where the prompts end in one."""
    return [by for by, text in BARE.items() if not text or prompt.text.endswith(ANSWER)]
