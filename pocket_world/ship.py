"""Makes everything that ships and depends on the trained models, in the order in which the steps need each other."""

import shutil
import subprocess
import sys
from collections.abc import Iterator

from core.errors import InputError, RunError
from core.models.perplexity import choices
from core.settings import ASSETS
from core.storage import sealed
from pocket_world.jury import JURORS
from pocket_world.recipes import RECIPES

ENDINGS_MODEL = "pocket-3m-instruct"
"""The model that writes endings beside the real ones, for the choice benchmark."""

TOKENS_MODEL = "pocket-3m"
"""The model whose tokens the Tokens page opens with, without and with each of :data:`TOKENS_ADAPTERS`."""

TOKENS_ADAPTERS = {"trivia-lora": "lora", "trivia-ard-lora": "ard-lora"}
"""Adapters of that model by name, with their kind."""

TOKENS_TEXT = (
    "Mount Everest is a mountain in Asia. The capital of Italy is Rome. The capital of France is the moon. "
    "The cat sat on the chair."
)


def commands() -> dict[str, list[list[str]]]:
    """The commands of each step, in order, each as the words after ``python -m``."""
    own = "pocket_world"
    return {
        "models": [[own, "publish", "--model", name] for name in RECIPES],
        "endings": [
            ["core", "perplexity", "endings", "--model", ENDINGS_MODEL, "--out", str(choices.BUNDLED)],
        ],
        "runs": [[own, "record", "--model", name] for name in RECIPES],
        "answers": [[own, "answer"]],
        "jurors": [[own, "juror", "--juror", name] for name in JURORS],
        "juries": [[own, "jury"]],
        "adapters": [
            ["core", "train-adapter", "--model", TOKENS_MODEL, "--data", "trivia", "--kind", kind, "--seed", "0",
             "--out", str(ASSETS / "adapters" / name)]
            for name, kind in TOKENS_ADAPTERS.items()
        ],
        "tokens": [*_tokens()],
    }  # fmt: skip


def _tokens() -> Iterator[list[str]]:
    """Evaluate the tokens of the model and of its adapters, and one text by each, for the Tokens page to open with."""
    folder, adapters = ASSETS / "tokens", ASSETS / "adapters"
    shown = {TOKENS_MODEL: "base", **{str(adapters / name): kind for name, kind in TOKENS_ADAPTERS.items()}}
    for place, (name, kind) in enumerate(shown.items(), start=1):
        command, file = ["core", "tokens"], f"{place}-{kind}.json"
        yield [*command, "evaluate", "--model", name, "--data", "trivia", "--num-samples", "0", "--seed", "0",
               "--output", str(folder / file)]  # fmt: skip
        yield [*command, "view", "--model", name, "--text", TOKENS_TEXT, "--output", str(folder / "views" / file)]


def ship(first: str = "models") -> None:
    """Run every command from the step ``first`` on, each in a process of its own.

    Raises :class:`InputError` for a step that does not exist and :class:`RunError` where a command fails.
    """
    steps = commands()
    if first not in steps:
        raise InputError(f"unknown step {first!r}; choose from {', '.join(steps)}")
    for name in list(steps)[list(steps).index(first) :]:
        if name == "adapters":  # training continues where a folder holds an adapter
            for adapter in TOKENS_ADAPTERS:
                shutil.rmtree(ASSETS / "adapters" / adapter, ignore_errors=True)
        for words in steps[name]:
            print(f"{name}: python -m {' '.join(words)}", file=sys.stderr, flush=True)
            ended = subprocess.run([sys.executable, "-m", *words], cwd=ASSETS.parent)
            if ended.returncode:
                raise RunError(
                    f"`python -m {' '.join(words)}` ended with status {ended.returncode}; "
                    f"`python -m pocket_world ship --from {name}` continues there"
                )
        if name == "tokens":
            for path in (ASSETS / "tokens").rglob("*.json"):
                sealed.write_json(path, sealed.read_json(path), indent=1)
