"""Makes everything that ships and depends on the trained models, in the order in which the steps need each other."""

import shutil
import subprocess
import sys
from collections.abc import Iterator

from core.models.perplexity import choices
from core.settings import ASSETS
from core.storage import sealed

TOKENS_MODEL = "pocket-3m"
"""The model whose tokens the Tokens page opens with, without and with each of :data:`TOKENS_ADAPTERS`."""

TOKENS_ADAPTERS = {"trivia-lora": "lora", "trivia-ard-lora": "ard-lora"}
"""Adapters of that model by name, with their kind."""

TOKENS_TEXT = (
    "Mount Everest is a mountain in Asia. The capital of Italy is Rome. The capital of France is the moon. "
    "The cat sat on the chair."
)


def commands() -> Iterator[list[str]]:
    """The commands in order, each as the words after ``python -m``."""
    own, adapters, tokens = "pocket_world", ASSETS / "adapters", ASSETS / "tokens"
    yield [own, "publish"]
    yield ["core", "perplexity", "endings", "--model", "pocket-3m-instruct", "--out", str(choices.BUNDLED)]
    yield from ([own, step] for step in ("humble", "record", "answer", "juror", "jury"))
    for name, kind in TOKENS_ADAPTERS.items():
        words = ["core", "train-adapter", "--model", TOKENS_MODEL, "--data", "trivia", "--kind", kind, "--seed", "0"]
        yield [*words, "--out", str(adapters / name)]
    models = {TOKENS_MODEL: "base", **{str(adapters / name): kind for name, kind in TOKENS_ADAPTERS.items()}}
    for place, (model, kind) in enumerate(models.items(), start=1):
        file, words = f"{place}-{kind}.json", ["--data", "trivia", "--num-samples", "0", "--seed", "0"]
        yield ["core", "tokens", "evaluate", "--model", model, *words, "--output", str(tokens / file)]
        view = ["--text", TOKENS_TEXT, "--output", str(tokens / "views" / file)]
        yield ["core", "tokens", "view", "--model", model, *view]


def ship(first: int = 1) -> None:
    """Run every command from the ``first`` on (1 is the first of all), each in a process of its own."""
    for number, words in enumerate(commands(), start=1):
        if number < first:
            continue
        if "train-adapter" in words:  # which would go on where the folder holds an adapter
            shutil.rmtree(words[-1], ignore_errors=True)
        print(f"{number}: python -m {' '.join(words)}", file=sys.stderr, flush=True)
        subprocess.run([sys.executable, "-m", *words], cwd=ASSETS.parent, check=True)
    for path in (ASSETS / "tokens").rglob("*.json"):
        sealed.write_json(path, sealed.read_json(path), indent=1)
