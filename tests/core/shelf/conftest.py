"""A mirror, and entries that point at it."""

import hashlib
import pickle
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from core.settings import settings
from tests.core.shelf.mirror import Mirror, serving


@pytest.fixture
def mirror(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Mirror]:
    """A mirror that the shelf takes instead of the Git host, in an empty home."""
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    with serving() as made:
        monkeypatch.setenv("HEDGE_SHELF_MIRROR", made.url)
        monkeypatch.delenv("HEDGE_SHELF_STALL_SECONDS", raising=False)
        yield made


def vlm_pickle(n: int, *, seed: int = 0) -> bytes:
    """Results of a made-up vision model on n questions, in the release's format."""
    rng = np.random.default_rng(seed)
    return pickle.dumps(
        [
            {
                "id": i,
                "question": f"What is in picture {seed}-{i}?",
                "answer": "ABCD"[i % 4],
                "logits": rng.normal(size=6).astype(np.float32) + 2 * (np.arange(6) == i % 4),
                **{letter: f"thing {letter} {i}" for letter in "ABCD"},
            }
            for i in range(n)
        ]
    )


MODELS = ("small-1B", "large-9B")


@pytest.fixture
def made_up(mirror: Mirror) -> Mirror:
    """The mirror with an entry ``made-up`` of two models, whose hashes and sizes are recorded."""
    contents = {f"output/{model}/mmbench.pkl": vlm_pickle(400, seed=i) for i, model in enumerate(MODELS)}
    for path, content in contents.items():
        mirror.add("some/release", "abc1234", path, content)
    entry = settings().home / "shelf" / "entries" / "made-up.toml"
    entry.parent.mkdir(parents=True)
    hashes = "\n".join(f'"{path}" = "{hashlib.sha256(content).hexdigest()}"' for path, content in contents.items())
    sizes = "\n".join(f'"{path}" = {len(content)}' for path, content in contents.items())
    entry.write_text(
        f"""
title = "Made up"
about = "Two models that do not exist."
choices = ["model"]
[[sources]]
kind = "git"
repository = "some/release"
commit = "abc1234"
paths = ["output/{{model}}/mmbench.pkl"]
at_most = 1_000_000
[sources.values]
model = {list(MODELS)!r}
[sources.sizes]
{sizes}
[sources.sha256]
{hashes}
"""
    )
    return mirror
