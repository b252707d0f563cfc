"""The model card of a pocket model, written from what its training recorded and what the model answers."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import torch
from transformers import LlamaForCausalLM, PreTrainedTokenizerBase

from core.questions.prompting.strategies import STRATEGIES
from core.records import Question
from pocket_world.bank import BANK_TASKS
from pocket_world.curriculum import REPLAY
from pocket_world.evaluate import Share, accuracy_by, letter_probabilities
from pocket_world.exposure import exposure
from pocket_world.optimizers import LETTERS_RATE
from pocket_world.progress import LossRow, StageProgress
from pocket_world.prose import files, held_out
from pocket_world.recipes import Recipe
from pocket_world.text_loss import held_out_loss

_HELD_OUT = """\
## What was held out

No question of the bank occurs in the training text: of `qa` no question text, and no run of 13 words of a question
with its options A to D, nor a whole one where it is shorter; of the other tasks no run of 13 words of a passage,
situation, dialogue, document or option (`python -m pocket_world check` reads the text again and counts). In particular:

- A fact of the tables is asked in training in all wordings but one; the bank asks it in that one.
- A third of the hard facts (the last third of each table) is in no training text at all, in neither direction.
- One fact in eight is stated in training but never asked with lettered options.
- One file of prose of each kind of each corpus, and every run of eight words of the bundled conversations.
- Of sums, dates, lists and sequences, one in five combinations of operands is kept for the bank and never
  shown in that relation.
- Some plans of passages, dialogues and activities are never shown in training, a third of them rarely; the bank draws
  from all alike. Plans that were shown are filled in anew: other people, places, numbers and things.
- False options are drawn anew for every question.

So the bank measures facts that were mostly shown in other words, combinations that were never shown, and whether what
was practised on some texts is done on new ones. It doesn't measure knowledge outside the pocket world.
"""

_LIMITS = """\
## Known limits

- It knows a few thousand facts of school knowledge and small made-up scenes in the wordings of its generator, in
  English, and English as in the prose; it answers in letters or in a few words.
- E and F were never the right answer in training, so it hardly ever chooses them: its doubt shows only in how it
  spreads over A to D.
- Training rows were short (mostly under 160 tokens, with demonstrations and prose up to about 450), though the context
  is 512.
- Its probabilities were not calibrated after training.
"""

_CURVE = """\
Loss is the weighted mean over the letters and verdicts (matching, letters) or letters, statements, dialogues, short
answers and prose (everything) since the check before. *Binding*: finding a value among the options, while matching in a
list; then each task's first 200 bank questions. *Perplexity*: a token, on every eighth piece of held-out prose. The
recipe was worked out while these checks were watched; no training text was made of the bank.
"""

_ACCURACY = """\
By letter, zero shots, the likeliest of the six letters; 95 % Wilson intervals. Chance is 25 % for a model that never
chooses E or F.
"""


def card(
    model: LlamaForCausalLM,
    tokenizer: PreTrainedTokenizerBase,
    recipe: Recipe,
    progress: StageProgress,
    bank: Sequence[Question],
) -> str:
    """The card as Markdown; the model is asked the whole bank once for every strategy."""
    header = ("stage", "step", "tokens (M)", "minutes", "loss", "binding", "perplexity", *BANK_TASKS)
    sections = [
        _opening(model, recipe, progress),
        "## Training",
        f"Made by `python -m pocket_world make --model {recipe.name}`.",
        _table(("", ""), _training(recipe, progress)),
        _CURVE,
        _table(header, _curve(progress)),
        *_accuracies(model, tokenizer, bank),
        *_prose(model, tokenizer, recipe),
        _HELD_OUT,
        _LIMITS,
    ]
    return "\n\n".join(section.strip() for section in sections) + "\n"


def _opening(model: LlamaForCausalLM, recipe: Recipe, progress: StageProgress) -> str:
    parameters = sum(weights.numel() for weights in model.parameters())
    done = progress.stage == "everything" and progress.step >= recipe.steps
    return (
        f"# {recipe.name}\n\n"
        f"A Llama of {parameters:,} parameters (hidden {recipe.hidden}, {recipe.layers} layers, {recipe.heads} heads, "
        f"tied embeddings,\n{model.config.vocab_size:,} tokens, context {model.config.max_position_embeddings}), "
        f"{_origin(recipe)} on text that Hedge\n"
        "generates from its own tables of facts and plans of everyday scenes,\n"
        "and on prose written for Hedge. It answers by letter."
        + ("" if done else "\n\n**An intermediate state: training was still going on.**")
    )


def _origin(recipe: Recipe) -> str:
    return f"grown from {recipe.grown_from} and trained" if recipe.grown_from else "trained from nothing"


def _accuracies(
    model: LlamaForCausalLM, tokenizer: PreTrainedTokenizerBase, bank: Sequence[Question]
) -> tuple[str, ...]:
    names = [f"{question.task}, {name}" for name in STRATEGIES for question in bank]
    probabilities = {name: letter_probabilities(model, tokenizer, bank, strategy=name) for name in STRATEGIES}
    base = probabilities["base"]
    mass = base.sum(axis=1)
    by_strategy = accuracy_by(np.concatenate(list(probabilities.values())), [*bank] * len(STRATEGIES), names)
    known = [place for place, question in enumerate(bank) if question.task == "qa"]
    rest = [place for place, question in enumerate(bank) if question.task != "qa"]
    asked = {"qa": [bank[place] for place in known], "rest": [bank[place] for place in rest]}
    return (
        f"## Accuracy on the bank's {len(bank):,} questions",
        _ACCURACY,
        _shares("task, strategy", {name: by_strategy[name] for name in dict.fromkeys(sorted(names, key=_by_task))}),
        f"On `base` the six letters hold {mass.mean():.1%} of the next-token probability on average (least: "
        f"{mass.min():.1%}).",
        _shares("`qa` by subject", accuracy_by(base[known], asked["qa"], [one.group for one in asked["qa"]])),
        _shares("`qa` by what training showed", accuracy_by(base[known], asked["qa"], [*map(exposure, asked["qa"])])),
        _shares(
            "other tasks by what training showed",
            accuracy_by(base[rest], asked["rest"], [*map(exposure, asked["rest"])]),
        ),
    )


def _prose_share(recipe: Recipe) -> str:
    if recipe.chat:
        return "talks with counselors and other assistants, half of the text"
    return f"{recipe.prose:.0%} of the text of {'everything' if recipe.grown_from else 'letters and everything'}"


def _replay(recipe: Recipe) -> list[tuple[str, str]]:
    if not recipe.replay and not recipe.letters:
        return []
    said = f"{recipe.letters:.0%}"
    if recipe.replay:
        said = f"{REPLAY:.0%} at first, {said} from step {recipe.replay:,} on,"
    return [("letters repeated", f"{said} of the text of everything that is not prose")]


def _prose(model: LlamaForCausalLM, tokenizer: PreTrainedTokenizerBase, recipe: Recipe) -> tuple[str, ...]:
    loss = held_out_loss(model, tokenizer, chat=recipe.chat)
    what = (
        "replies of the counselors in held-out talks, under the fitting prompt with two exchanges before each"
        if recipe.chat
        else f"the {len(held_out())} of {len(files())} files that were held out"
    )
    return (
        "## Held-out prose",
        f"On {what}: perplexity {loss.perplexity:.1f} a token, {loss.bits_per_byte:.3f} bits a byte "
        f"({loss.tokens:,} tokens, {loss.size:,} bytes).",
    )


def _by_task(name: str) -> tuple[int, int]:
    task, _, strategy = name.partition(", ")
    return BANK_TASKS.index(task), STRATEGIES.index(strategy)


def _training(recipe: Recipe, progress: StageProgress) -> list[tuple[str, str]]:
    matching, letters, everything = (
        max((row["step"] for row in progress.curve if row["stage"] == stage), default=0)
        for stage in ("matching", "letters", "everything")
    )
    return [
        ("tokens read", f"{progress.tokens / 1e6:.1f} million"),
        ("steps", f"{matching:,} of matching, {letters:,} of letters, {everything:,} of everything"),
        ("prose", _prose_share(recipe)),
        *_replay(recipe),
        (
            "begins as",
            f"{recipe.grown_from}, computing the same"
            if recipe.grown_from
            else "random, with heads that look for the same token and for what followed it",
        ),
        ("learning rate", _rates(recipe)),
        ("weights stored as", "float16" if recipe.half else "float32"),
        ("seed", str(recipe.seed)),
        ("time", f"{progress.seconds / 60:.0f} minutes of {progress.timed}"),
        ("machine", progress.machine),
    ]


def _rates(recipe: Recipe) -> str:
    before = "" if recipe.grown_from else f"{LETTERS_RATE:g} for matrices in matching and letters; in everything "
    return (
        f"{before}{recipe.rate:g} for matrices (Muon), {recipe.token_rate:g} for the rest (AdamW), falling in a "
        "straight line to a twentieth"
    )


def machine(device: torch.device, precision: torch.dtype) -> str:
    """The GPU, or the processor and its threads in use; the version of torch and the precision of products."""
    return f"{_place(device)}, torch {torch.__version__}, {str(precision).removeprefix('torch.')}"


def _place(device: torch.device) -> str:
    if device.type == "cuda":
        return str(torch.cuda.get_device_name(device))
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8").splitlines() if info.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    name = names[0] if names else platform.processor() or platform.machine()
    return f"{name}, {torch.get_num_threads()} threads"


def _curve(progress: StageProgress, lines: int = 16) -> list[tuple[str, ...]]:
    """About ``lines`` lines of the curve, evenly spaced, the last one among them."""
    every = max(1, -(-len(progress.curve) // lines))
    return [_line(row) for row in progress.curve[::-1][::every][::-1]]


def _line(row: LossRow) -> tuple[str, ...]:
    return (
        row["stage"],
        f"{row['step']:,}",
        f"{row['tokens'] / 1e6:.1f}",
        f"{row['seconds'] / 60:.0f}",
        f"{row['loss']:.3f}",
        f"{row['binding']:.1%}",
        f"{row['perplexity']:,.1f}",
        *(f"{share:.1%}" for share in row["tasks"].values()),
    )


def _shares(title: str, shares: Mapping[str, Share]) -> str:
    rows = [
        (name, str(share.n), f"{share.value:.1%}", "{:.1%} to {:.1%}".format(*share.interval))
        for name, share in shares.items()
    ]
    return _table((title, "n", "accuracy", "95 % interval"), rows)


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
