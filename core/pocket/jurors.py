"""Jurors: LoRA adapters of pocket models that say True or False of a question and a proposed answer.

A juror is tuned on a third of the world's facts (:func:`tuned_on`), each with its answer or a false one, in any of its
training wordings; the facts of the other two thirds are for calibration and test. LoRA: Hu et al. 2021.
"""

from __future__ import annotations

import random
import warnings
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from peft import LoraConfig, PeftModel, get_peft_model
from transformers import LlamaForCausalLM, PreTrainedTokenizerFast

from core.errors import InputError
from core.pocket.batches import batch, weighted_loss
from core.pocket.documents import Document
from core.pocket.evaluate import Share
from core.pocket.relations import Fact
from core.pocket.scenes.replying import asked
from core.pocket.tokens import published_tokenizer
from core.pocket.verdicts import verdict_document
from core.pocket.world import twin_checksum, world
from core.prompting.verdict import FALSE, TRUE, verdict_prompt
from core.settings import ASSETS

PARTS = 3


@dataclass(frozen=True, slots=True)
class JurorRecipe:
    """A juror: the pocket model that it adapts, the rank of its matrices, and its training."""

    name: str
    base: str
    seed: int
    rank: int = 8
    steps: int = 400
    rows: int = 64
    rate: float = 2e-3


JURORS = {
    recipe.name: recipe
    for recipe in (
        JurorRecipe("juror-1m", "pocket-1m", seed=31),
        JurorRecipe("juror-3m", "pocket-3m", seed=32),
        JurorRecipe("juror-8m", "pocket-8m", seed=33),
    )
}


def juror_recipe(name: str) -> JurorRecipe:
    """A juror's recipe by name; InputError for an unknown one."""
    if name not in JURORS:
        raise InputError(f"unknown juror {name!r}; choose from {', '.join(JURORS)}")
    return JURORS[name]


def tuned_on(fact: Fact) -> bool:
    """Whether jurors are tuned on this fact and its inverse; what they are asked about later is not."""
    return twin_checksum(fact) // 24 % PARTS == 0


def tune(
    recipe: JurorRecipe, model: LlamaForCausalLM, tokenizer: PreTrainedTokenizerFast, *, facts: list[Fact] | None = None
) -> tuple[PeftModel, list[float]]:
    """Tune an adapter; returns the model with it and the mean loss of every tenth of the steps.

    The model's own weights are frozen; ``facts`` are those to tune on, by default all that :func:`tuned_on` names.
    """
    facts = facts if facts is not None else [fact for fact in world() if tuned_on(fact)]
    torch.manual_seed(recipe.seed)
    config = LoraConfig(
        r=recipe.rank,
        lora_alpha=2 * recipe.rank,
        target_modules=["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"],
        task_type="CAUSAL_LM",
    )
    with warnings.catch_warnings():
        # peft still asks transformers 5 for gradient checkpointing by its old name.
        warnings.filterwarnings("ignore", "`is_gradient_checkpointing`", FutureWarning)
        tuned = get_peft_model(model, config)
    weights = [weight for weight in tuned.parameters() if weight.requires_grad]
    optimizer = torch.optim.AdamW(weights, lr=recipe.rate)
    losses: list[float] = []
    tuned.train()
    for step in range(recipe.steps):
        rng = random.Random(f"{recipe.seed}|juror|{step}")
        data = batch([_document(rng.choice(facts), rng) for _ in range(recipe.rows)], tokenizer)
        for group in optimizer.param_groups:
            group["lr"] = recipe.rate * min((step + 1) / 50, 1 - 0.95 * step / recipe.steps)
        loss = weighted_loss(tuned.base_model.model, data)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(weights, 1.0)
        optimizer.step()
        optimizer.zero_grad()
        losses.append(float(loss.detach()))
    tuned.eval()
    tenth = max(1, recipe.steps // 10)
    return tuned, [sum(losses[start : start + tenth]) / tenth for start in range(0, len(losses) - tenth + 1, tenth)]


def verdicts(
    model: torch.nn.Module, tokenizer: PreTrainedTokenizerFast, pairs: list[tuple[str, str]], *, rows: int = 64
) -> list[tuple[float, float]]:
    """(p of True, p of False) of each (question, answer), a softmax over the two tokens."""
    ids = [tokenizer.encode(f" {word}")[0] for word in (TRUE, FALSE)]
    found: list[tuple[float, float]] = []
    for start in range(0, len(pairs), rows):
        encoded = [tokenizer.encode(verdict_prompt(*pair)) for pair in pairs[start : start + rows]]
        longest = max(map(len, encoded))
        tokens = torch.tensor([one + [0] * (longest - len(one)) for one in encoded])
        last = torch.tensor([len(one) - 1 for one in encoded])
        with torch.inference_mode():
            logits = model(input_ids=tokens).logits[torch.arange(len(encoded)), last][:, ids]
        found += [(float(true), float(false)) for true, false in logits.float().softmax(-1)]
    return found


def publish_juror(recipe: JurorRecipe, folder: Path) -> str:
    """Tune a juror on its shipped model and write adapter (safetensors) and card; returns the line of its figures."""
    base = ASSETS / "models" / recipe.base
    if not base.is_dir():
        raise InputError(f"{recipe.name} adapts {recipe.base}, which is not in {base.parent}; train that model first")
    tokenizer = published_tokenizer(base)
    model = LlamaForCausalLM.from_pretrained(base, dtype=torch.float32)
    tuned, losses = tune(recipe, model, tokenizer)
    seen, unseen = (judged(tuned, tokenizer, tuned_facts=side) for side in (True, False))
    figures = (
        f"right about {seen.value:.1%} of {seen.n} answers to facts that it was tuned on, "
        f"{unseen.value:.1%} of {unseen.n} to others"
    )
    tuned.save_pretrained(str(folder))
    (folder / "README.md").write_text(_card(recipe, losses, figures), encoding="utf-8")
    return f"{recipe.name}: {figures}"


def judged(model: torch.nn.Module, tokenizer: PreTrainedTokenizerFast, *, tuned_facts: bool, n: int = 600) -> Share:
    """How often the likelier verdict is right, over facts that jurors are tuned on or over others, half of the answers
    false."""
    rng = random.Random(f"judged|{tuned_facts}")
    facts = [fact for fact in world() if tuned_on(fact) == tuned_facts]
    pairs: list[tuple[str, str]] = []
    truths: list[bool] = []
    for _ in range(n):
        fact, true = rng.choice(facts), rng.random() < 0.5
        pairs.append((rng.choice(asked(fact)), fact.answer if true else rng.choice(fact.wrong)))
        truths.append(true)
    found = verdicts(model, tokenizer, pairs)
    return Share(sum((p > q) == true for (p, q), true in zip(found, truths, strict=True)), n)


_CARD = """\
# {name}

A LoRA adapter (rank {rank}, all linear layers) of {base} that judges answers: after a question, a proposed answer and
`Answer:` its next token is `True` or `False`. Made by `python -m core.pocket juror --juror {name}`: {steps:,} steps of
{rows} judgements, learning rate {rate:g} falling, seed {seed}.

It was tuned on a third of the facts of Hedge's tables, each with its answer or a false one; the other two thirds are
for calibration and test. It was {figures}, half of them false.

| tenth of the steps | loss |
| --- | --- |
{curve}
"""


def _card(recipe: JurorRecipe, losses: list[float], figures: str) -> str:
    curve = "\n".join(f"| {place} | {loss:.3f} |" for place, loss in enumerate(losses, start=1))
    return _CARD.format(**asdict(recipe), figures=figures, curve=curve)


def _document(fact: Fact, rng: random.Random) -> Document:
    wording = fact.questions.index(rng.choice(asked(fact)))
    return verdict_document(fact, rng, wording=wording)
