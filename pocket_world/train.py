"""Training a pocket model: matching, letters, then everything; it can stop after any step and continue.

A model is made after the one that it grows from.

Each step depends only on the seed, the stage and its number, and nothing else in it is random.
So a resumed training reads the same text as one that never stopped, and ends in the same weights, bit by bit.
"""

import logging
import shutil
import time
from dataclasses import asdict
from pathlib import Path

import torch
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from core.errors import InputError
from core.models.perplexity import conversations
from core.settings import ASSETS
from core.storage.atomic import replacing
from pocket_world import bank
from pocket_world.batches import batches, weighted_loss
from pocket_world.begin import begin, grow
from pocket_world.chat.template import TEMPLATE
from pocket_world.contamination import Guard
from pocket_world.curriculum import step_documents
from pocket_world.recipes import RECIPES, Recipe, Stage, work_folder
from pocket_world.record import record_fingerprints
from pocket_world.stream import Stream
from pocket_world.tokens import CONTEXT, one_token_words, published_tokenizer, train_tokenizer

LOG = logging.getLogger("hedge.pocket")

LOG_EVERY = 100
"""Steps from one line of the log to the next."""

SAVE_SECONDS = 240.0
"""Seconds between two checkpoints."""

LETTERS_RATE = 0.015
"""The rate of the matrices in matching and the first half of letters, where circuits have to rise from nothing."""

RISE: dict[Stage, int] = {"matching": 50, "letters": 100, "everything": 300}
"""Steps over which the learning rate rises in each stage; the words of everything would swamp what stands at once."""

LEAST_SHARE = 0.05


def rates(recipe: Recipe, stage: Stage, step: int) -> tuple[float, float]:
    """The learning rates of the matrices and of the rest at a step.

    Both rise at the beginning of a stage. That of the matrices falls in the second half of letters to the rate of
    everything. In everything both fall in a straight line to a twentieth: Muon's steps are all of one length, so that
    at a rate that stays high, chance alone wears away what was learned.
    """
    rise = min(1.0, (step + 1) / RISE[stage])
    if stage == "everything":
        share = min(rise, max(1 - step / recipe.steps, LEAST_SHARE))
        return recipe.rate * share, recipe.token_rate * share
    fallen = max(0.0, 2 * step / recipe.letters_steps - 1) if stage == "letters" else 0.0
    return (LETTERS_RATE + fallen * (recipe.rate - LETTERS_RATE)) * rise, recipe.token_rate * rise


class Trainer:
    """One training and its work folder, which holds the tokenizer and ``checkpoint.pt``.

    ``source`` is the folder of the model that this one grows from; ``device`` is the processor or a GPU.
    """

    def __init__(self, recipe: Recipe, *, folder: Path, source: Path | None = None, device: str = "cpu") -> None:
        self.recipe, self.source, self.device = recipe, source, torch.device(device)
        folder.mkdir(parents=True, exist_ok=True)
        self._checkpoint = folder / "checkpoint.pt"
        guard = Guard.of(bank.questions(), conversations.bundled())
        self.stream = Stream(guard, chat=recipe.chat)
        self.tokenizer = self._tokenizer(folder / "tokenizer")
        self.values = one_token_words(self.tokenizer)
        self.steps_done = 0
        torch.manual_seed(recipe.seed)
        self.model = self._model().to(self.device)
        # In these models the circuits that binding needs rise in a few hundred steps of Muon (Jordan et al. 2024); with
        # AdamW they took thousands.
        embeddings = self.model.model.embed_tokens.weight
        matrices = [weights for weights in self.model.parameters() if weights.ndim == 2 and weights is not embeddings]
        rest = [weights for weights in self.model.parameters() if weights.ndim != 2 or weights is embeddings]
        self.optimizers = (
            torch.optim.Muon(matrices, weight_decay=0.0),
            torch.optim.AdamW(rest, weight_decay=0.0, betas=(0.9, 0.95), fused=True),
        )
        if self._checkpoint.exists():
            self._resume()

    def run(self) -> None:
        """Train to the end, with a checkpoint every :data:`SAVE_SECONDS`."""
        saved, losses = time.monotonic(), list[float]()
        while position := self.recipe.position(self.steps_done):
            losses.append(self._step(*position))
            if self.steps_done % LOG_EVERY == 0:
                LOG.info("%s, %s, step %d: loss %.3f", self.recipe.name, *position, sum(losses) / len(losses))
                losses.clear()
            if time.monotonic() - saved >= SAVE_SECONDS:
                self._save()
                saved = time.monotonic()

    def _tokenizer(self, folder: Path) -> PreTrainedTokenizerFast:
        """The one that this training began with, else that of its source, else a new one; saved in the work folder."""
        if not folder.exists():
            tokenizer = published_tokenizer(self.source) if self.source else train_tokenizer(self.stream)
            tokenizer.chat_template = TEMPLATE if self.recipe.chat else None
            tokenizer.save_pretrained(folder)
        return published_tokenizer(folder)

    def _model(self) -> LlamaForCausalLM:
        """The model before its first step; its weights are of no matter where a checkpoint follows."""
        config = LlamaConfig(
            vocab_size=len(self.tokenizer),
            hidden_size=self.recipe.hidden,
            num_hidden_layers=self.recipe.layers,
            num_attention_heads=self.recipe.heads,
            num_key_value_heads=self.recipe.heads,
            intermediate_size=self.recipe.intermediate,
            max_position_embeddings=CONTEXT,
            tie_word_embeddings=True,
            bos_token_id=None,
            eos_token_id=self.tokenizer.eos_token_id,
            pad_token_id=self.tokenizer.pad_token_id,
            dtype="float32",
        )
        if self.source:
            return grow(LlamaForCausalLM.from_pretrained(self.source, dtype=torch.float32), config)
        model = LlamaForCausalLM(config)
        begin(model)
        return model

    def _step(self, stage: Stage, step: int) -> float:
        """One step of the optimizers; returns its loss."""
        self.model.train()
        for optimizer, rate in zip(self.optimizers, rates(self.recipe, stage, step), strict=True):
            for group in optimizer.param_groups:
                group["lr"] = rate
        total = 0.0
        for rows in batches(step_documents(self.stream, self.recipe, stage, step, self.values), self.tokenizer):
            with torch.autocast(self.device.type, torch.bfloat16, enabled=self.device.type == "cuda"):
                loss = weighted_loss(self.model, rows, middle=self.recipe.middle)
            loss.backward()
            total += float(loss.detach())
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        for optimizer in self.optimizers:
            optimizer.step()
            optimizer.zero_grad()
        self.steps_done += 1
        return total

    def _save(self) -> None:
        state = {
            "recipe": asdict(self.recipe),
            "steps_done": self.steps_done,
            "model": self.model.state_dict(),
            "optimizers": [optimizer.state_dict() for optimizer in self.optimizers],
        }
        with replacing(self._checkpoint) as part:
            torch.save(state, part)

    def _resume(self) -> None:
        """Continue from the checkpoint. Raises :class:`InputError` if it is of another recipe."""
        state = torch.load(self._checkpoint, weights_only=True, map_location=self.device)
        if state["recipe"] != asdict(self.recipe):
            raise InputError(f"{self._checkpoint} was written with another recipe; delete it or take back the change")
        self.model.load_state_dict(state["model"])
        self.steps_done = state["steps_done"]
        for optimizer, moments in zip(self.optimizers, state["optimizers"], strict=True):
            optimizer.load_state_dict(moments)


def make(name: str, *, device: str = "cpu") -> Path:
    """The folder of a finished model. It and those that it grows from are trained unless they are finished."""
    recipe, target = RECIPES[name], work_folder(name) / "model"
    if not target.is_dir():
        source = make(recipe.grown_from, device=device) if recipe.grown_from else None
        trainer = Trainer(recipe, folder=work_folder(name), source=source, device=device)
        trainer.run()
        part = target.with_name("model.part")
        (trainer.model.half() if recipe.half else trainer.model).save_pretrained(part)
        trainer.tokenizer.save_pretrained(part)
        for path in part.iterdir():
            path.chmod(0o644)  # safetensors writes for its owner alone
        part.rename(target)
    return target


def publish(name: str) -> Path:
    """Copy a finished model into ``assets/models``, beside its card."""
    target = ASSETS / "models" / name
    shutil.copytree(work_folder(name) / "model", target, dirs_exist_ok=True)
    record_fingerprints()
    return target
