"""Text that a model writes: greedy answers to many prompts in batches, and one sampled continuation of a text. Only
prompts of the same length share a batch, so that nothing is padded and an answer does not depend on its neighbours,
however the architecture treats padding.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import torch
from transformers import GenerationConfig

from core.inference.budget import Budget, work_through
from core.inference.memory import geometry
from core.inference.model_loading import load_model
from core.inference.models import resolve
from core.inference.rows import Tokens, check_vocabulary
from core.inference.token_ids import token_ids

TEMPERATURE = 0.8
TOP_P = 0.95
"""Of a sampled continuation."""

LONGEST = 24
"""The most tokens of an answer."""


class Generator:
    """A loaded model that answers greedily, up to its end token, a new line or ``longest`` tokens."""

    def __init__(self, model: Any, tokenizer: Any, *, longest: int = LONGEST, rows: int | None = None) -> None:
        self.model = model.eval()
        self.tokenizer = tokenizer
        self.longest = longest
        self.budget = Budget(next(model.parameters()).device, geometry(model), rows=rows)

    @classmethod
    def load(cls, model: str, *, dtype: str, longest: int = LONGEST) -> Generator:
        """Load a model by name. Raises :class:`~core.errors.InputError` if that is not possible."""
        return cls(*load_model(resolve(model), dtype=dtype), longest=longest)

    def answers(self, prompts: Sequence[str]) -> Iterator[tuple[int, str]]:
        """Yield the index of each prompt with its answer, in any order."""
        encoded = token_ids(self.tokenizer, prompts)
        highest = max((max(row) for row in encoded if row), default=0)
        check_vocabulary(highest, vocabulary=self.model.get_input_embeddings().weight.shape[0])

        def plan(widths: Sequence[int]) -> list[list[int]]:
            return self.budget.batches(widths, equal=True)

        def compute(batch: list[int]) -> list[str]:
            return self._batch([encoded[i] for i in batch])

        widths = [len(row) + self.longest for row in encoded]
        for batch, said in work_through(widths, compute, plan=plan, budget=self.budget):
            yield from zip(batch, said, strict=True)

    def _batch(self, rows: list[Tokens]) -> list[str]:
        tokens = torch.tensor(rows, device=self.budget.device)
        stop = self.tokenizer.eos_token_id
        how = GenerationConfig(
            max_new_tokens=self.longest,
            do_sample=False,
            num_beams=1,
            eos_token_id=stop,
            pad_token_id=self.tokenizer.pad_token_id if self.tokenizer.pad_token_id is not None else stop,
        )
        with torch.inference_mode():
            made = self.model.generate(input_ids=tokens, attention_mask=torch.ones_like(tokens), generation_config=how)
        return [self._text(row[tokens.shape[1] :].tolist()) for row in made]

    def _text(self, said: list[int]) -> str:
        stop = self.tokenizer.eos_token_id
        kept = said[: said.index(stop)] if stop in said else said
        text: str = self.tokenizer.decode(kept, skip_special_tokens=True)
        return text.strip().partition("\n")[0].strip()


@torch.inference_mode()  # type: ignore[untyped-decorator]
def sample(model: Any, tokenizer: Any, text: str, *, chat: bool, seed: int, most: int) -> str:
    """The continuation of ``text``, at most ``most`` tokens, up to the end token or a new line. It is sampled with
    ``seed``; the global random generators keep their state."""
    device = model.get_input_embeddings().weight.device
    tokens = torch.tensor(token_ids(tokenizer, [text], special=not chat), device=device)
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        said = model.generate(
            input_ids=tokens,
            attention_mask=torch.ones_like(tokens),
            do_sample=True,
            temperature=TEMPERATURE,
            top_p=TOP_P,
            max_new_tokens=most,
            pad_token_id=tokenizer.pad_token_id if tokenizer.pad_token_id is not None else tokenizer.eos_token_id,
        )
    new = said[0, tokens.shape[1] :]
    spoken: str = tokenizer.decode(new, skip_special_tokens=True)
    return spoken.strip().partition("\n")[0].strip()
