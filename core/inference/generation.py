"""One sampled continuation of a text: the endings that a choice benchmark sets against the real one."""

from __future__ import annotations

from typing import Any

import torch

TEMPERATURE = 0.8
TOP_P = 0.95


@torch.inference_mode()  # type: ignore[untyped-decorator]
def sample(model: Any, tokenizer: Any, text: str, *, chat: bool, seed: int, most: int) -> str:
    """What the model says after ``text``, at most ``most`` tokens, up to its end token or a new line; sampled with
    ``seed``, which leaves the generators of others as they were."""
    device = model.get_input_embeddings().weight.device
    asked = tokenizer(text, add_special_tokens=not chat, return_tensors="pt", return_token_type_ids=False).to(device)
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        said = model.generate(
            **asked,
            do_sample=True,
            temperature=TEMPERATURE,
            top_p=TOP_P,
            max_new_tokens=most,
            pad_token_id=tokenizer.pad_token_id if tokenizer.pad_token_id is not None else tokenizer.eos_token_id,
        )
    new = said[0, asked["input_ids"].shape[1] :]
    spoken: str = tokenizer.decode(new, skip_special_tokens=True)
    return spoken.strip().partition("\n")[0].strip()
