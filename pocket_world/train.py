"""Training a pocket model: matching, letters, everything, then recall; it can stop and go on at any checkpoint.

What a step sees follows from the seed, the stage and the number of the step alone, so that a resumed training
reads the same text as one that never stopped.
"""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import torch
from transformers import AutoTokenizer, LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from core.errors import InputError
from core.records import Question
from pocket_world import bank
from pocket_world.bank import BANK_TASKS
from pocket_world.batches import TokenBatch, batch, share_right, weighted_loss
from pocket_world.begin import begin
from pocket_world.binding import binding_question
from pocket_world.card import card
from pocket_world.chat.template import TEMPLATE
from pocket_world.contamination import Guard
from pocket_world.curriculum import Stage, step_documents
from pocket_world.evaluate import accuracy, letter_probabilities
from pocket_world.grow import grow
from pocket_world.matching import listed_document, phrases_document
from pocket_world.progress import LossRow, StageProgress
from pocket_world.publish import publish
from pocket_world.reader import compiled_layer, read, read_layer
from pocket_world.recipes import TOKENIZER_SEED, Recipe
from pocket_world.stream import Stream
from pocket_world.tokens import CONTEXT, one_token_answers, published_tokenizer, train_tokenizer
from pocket_world.world import world

LOG = logging.getLogger("hedge.pocket")

TOKENIZER_DOCUMENTS = 60_000

CHECK_QUESTIONS = 200

CHECK_EVERY: dict[Stage, int] = {"matching": 100, "letters": 250, "everything": 500, "recall": 400}

BEFORE_RECALL = "before-recall"
"""The folder in the work folder that keeps the model as it was before its last stage, for larger ones to grow from."""

RISE: dict[Stage, int] = {"matching": 50, "letters": 100, "everything": 300, "recall": 100}
"""Steps over which the learning rate rises in each stage; the words of everything would swamp what stands at once."""

RECALL_FALLS = 2 / 3
"""The last part of the recall over which its learning rate falls."""

_MAY_CHANGE = (
    "matching_goal",
    "matching_steps",
    "letters_goal",
    "letters_steps",
    "steps",
    "cooldown",
    "recall",
    "half",
)
"""What a recipe may change while it is trained: how long, and what is stored."""


class Trainer:
    """One training, its work folder holding the tokenizer and ``checkpoint.pt`` (tensors and numbers only).

    ``target`` is where the model is published, ``source`` where the model that it grows from lies, by default
    beside it. ``compiled`` needs a C++ compiler and takes half the time a step.
    """

    def __init__(
        self,
        recipe: Recipe,
        *,
        folder: Path,
        target: Path,
        tokenizer_documents: int = TOKENIZER_DOCUMENTS,
        source: Path | None = None,
        compiled: bool = False,
    ) -> None:
        self.recipe, self.folder, self.target = recipe, folder, target
        self.source = source or target.with_name(recipe.grown_from or recipe.name)
        folder.mkdir(parents=True, exist_ok=True)
        self.bank = bank.questions()
        self.stream = Stream(Guard.of(self.bank), tasks=recipe.tasks, chat=recipe.chat)
        self.tokenizer = self._tokenizer(tokenizer_documents)
        self.values = one_token_answers(self.tokenizer)
        torch.manual_seed(recipe.seed)
        self.model = self._untrained()
        self.layer = compiled_layer() if compiled else read_layer
        self.optimizers = optimizers(self.model, recipe)
        self.progress = StageProgress(stage="everything" if recipe.grown_from else "matching")
        self._resume()

    def run(self) -> None:
        """Train to the end, with a checkpoint at every check, and publish."""
        recipe, progress = self.recipe, self.progress
        self._until("matching", recipe.matching_steps, recipe.matching_goal, then="letters")
        self._until("letters", recipe.letters_steps, recipe.letters_goal, then="everything")
        if progress.stage == "everything":
            self._all_of("everything", recipe.steps)
            if recipe.recall:
                self.model.save_pretrained(self.folder / BEFORE_RECALL)
                self.tokenizer.save_pretrained(self.folder / BEFORE_RECALL)
                progress.stage, progress.step = "recall", 0
        if progress.stage == "recall":
            self._all_of("recall", recipe.recall)
        self.publish()

    def _all_of(self, stage: Stage, steps: int) -> None:
        """Train in ``stage`` until ``steps`` are done."""
        while self.progress.step < steps:
            self._steps(min(CHECK_EVERY[stage], steps - self.progress.step))
            self._check()
            self._save()

    def _until(self, stage: Stage, steps: int, goal: float, *, then: Stage) -> None:
        """Train in ``stage`` until its goal or for its steps, if that is where the training stands."""
        progress = self.progress
        while progress.stage == stage:
            reached = False
            if progress.step < steps:
                self._steps(min(CHECK_EVERY[stage], steps - progress.step))
                reached = self._check()["binding"] >= goal
            if reached or progress.step >= steps:
                progress.stage, progress.step = then, 0
            self._save()

    def publish(self) -> None:
        """Put the model as it is now, its tokenizer and its card into the target folder, all at once."""
        self.model.eval()
        text = card(self.model, self.tokenizer, self.recipe, self.progress, self.bank)
        publish(self.model, self.tokenizer, self.target, text, half=self.recipe.half)

    def _tokenizer(self, documents: int) -> PreTrainedTokenizerFast:
        """The one that this training began with, else that of its source, else a new one; kept in the work folder."""
        kept = self.folder / "tokenizer"
        if not kept.exists():
            made = self._made_tokenizer(documents)
            made.chat_template = TEMPLATE if self.recipe.chat else None
            made.save_pretrained(kept)
        tokenizer: PreTrainedTokenizerFast = AutoTokenizer.from_pretrained(kept)
        return tokenizer

    def _made_tokenizer(self, documents: int) -> PreTrainedTokenizerFast:
        if self.recipe.grown_from:
            return published_tokenizer(self._source())
        return train_tokenizer(self.stream, seed=TOKENIZER_SEED, documents=documents, vocabulary=self.recipe.vocabulary)

    def _untrained(self) -> LlamaForCausalLM:
        if self.recipe.grown_from:
            source = LlamaForCausalLM.from_pretrained(self._source(), dtype=torch.float32)
            return grow(source, new_config(self.recipe, self.tokenizer))
        model = LlamaForCausalLM(new_config(self.recipe, self.tokenizer))
        begin(model)
        return model

    def _source(self) -> Path:
        if not self.source.is_dir():
            raise InputError(f"{self.recipe.name} grows from {self.source}, which is not there; train that model first")
        return self.source

    def _steps(self, count: int) -> None:
        started, losses = time.perf_counter(), []
        self.model.train()
        for _ in range(count):
            data = self._batch()
            share = rate_share(self.recipe, self.progress.stage, self.progress.step)
            loss = weighted_loss(self.model, data, read=lambda tokens: read(self.model, tokens, layer=self.layer))
            loss.backward()
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            for optimizer, rate in zip(self.optimizers, (self.recipe.rate, self.recipe.token_rate), strict=True):
                for group in optimizer.param_groups:
                    group["lr"] = rate * share
                optimizer.step()
                optimizer.zero_grad()
            losses.append(float(loss.detach()))
            self.progress.step += 1
            self.progress.tokens += data.size
        self.progress.seconds += time.perf_counter() - started
        self._loss = sum(losses) / len(losses)

    def _batch(self) -> TokenBatch:
        progress = self.progress
        documents = step_documents(
            self.stream, seed=self.recipe.seed, stage=progress.stage, step=progress.step, values=self.values
        )
        return batch(documents, self.tokenizer)

    def _check(self) -> LossRow:
        """Accuracies on fresh binding questions and on the first questions of each task of the bank."""
        progress = self.progress
        rng = random.Random(f"{self.recipe.seed}|check|{progress.stage}|{progress.step}")
        self.model.eval()
        if progress.stage in ("matching", "letters"):
            binding = self._listed_found(rng)
        else:
            binding = self._share([binding_question(world(), rng) for _ in range(CHECK_QUESTIONS)])
        row: LossRow = {
            "stage": progress.stage,
            "step": progress.step,
            "tokens": progress.tokens,
            "seconds": round(progress.seconds, 1),
            "loss": self._loss,
            "binding": binding,
            "tasks": {
                task: self._share([q for q in self.bank if q.task == task][:CHECK_QUESTIONS]) for task in BANK_TASKS
            },
        }
        progress.curve.append(row)
        LOG.info(
            "%s step %d, %.2f M tokens, %.0f s: loss %.3f, binding %.3f, %s",
            row["stage"],
            row["step"],
            row["tokens"] / 1e6,
            row["seconds"],
            row["loss"],
            row["binding"],
            ", ".join(f"{task} {share:.3f}" for task, share in row["tasks"].items()),
        )
        return row

    def _share(self, questions: Sequence[Question]) -> float:
        return accuracy(letter_probabilities(self.model, self.tokenizer, questions), questions).value

    def _listed_found(self, rng: random.Random) -> float:
        """How often the option is found that is listed, of one token while matching, of several later."""
        make = listed_document if self.progress.stage == "matching" else phrases_document
        documents = [make(self.values, rng) for _ in range(CHECK_QUESTIONS)]
        return share_right(self.model, batch(documents, self.tokenizer))

    def _save(self) -> None:
        state = {
            "recipe": asdict(self.recipe),
            "model": self.model.state_dict(),
            "optimizers": [optimizer.state_dict() for optimizer in self.optimizers],
            "progress": asdict(self.progress),
        }
        temporary = self.folder / "checkpoint.tmp"
        torch.save(state, temporary)
        temporary.replace(self.folder / "checkpoint.pt")

    def _resume(self) -> None:
        path = self.folder / "checkpoint.pt"
        if not path.exists():
            return
        state = torch.load(path, weights_only=True)
        differing = [
            name
            for name, value in asdict(self.recipe).items()
            if name not in _MAY_CHANGE and state["recipe"].get(name) != value
        ]
        if differing:
            raise InputError(
                f"{path} was trained with other values of {', '.join(differing)}; delete it or take back the change"
            )
        if "weight_decay" not in state["optimizers"][0]["param_groups"][0]:
            raise InputError(f"{path} was written by Hedge's own Muon, before torch had one; delete it and train anew")
        self.model.load_state_dict(state["model"])
        for optimizer, kept in zip(self.optimizers, state["optimizers"], strict=True):
            optimizer.load_state_dict(kept)
        self.progress = StageProgress(**state["progress"])
        LOG.info("goes on from %s step %d", self.progress.stage, self.progress.step)


def new_config(recipe: Recipe, tokenizer: PreTrainedTokenizerFast) -> LlamaConfig:
    """A Llama of the recipe's size, input and output embeddings tied."""
    return LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=recipe.hidden,
        num_hidden_layers=recipe.layers,
        num_attention_heads=recipe.heads,
        num_key_value_heads=recipe.heads,
        intermediate_size=recipe.intermediate,
        max_position_embeddings=CONTEXT,
        tie_word_embeddings=True,
        bos_token_id=None,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        dtype="float32",
    )


def rate_share(recipe: Recipe, stage: Stage, step: int) -> float:
    """The share of the full learning rate at a step: a rise, a plateau, in the long stages a straight fall to a
    twentieth."""
    rise = min(1.0, (step + 1) / RISE[stage])
    if stage == "everything":
        return min(rise, max((recipe.steps - step) / recipe.cooldown, 0.05))
    if stage == "recall":
        return min(rise, max((recipe.recall - step) / (recipe.recall * RECALL_FALLS), 0.05))
    return rise


def optimizers(model: LlamaForCausalLM, recipe: Recipe) -> tuple[torch.optim.Muon, torch.optim.AdamW]:
    """Muon (Jordan et al. 2024) for the matrices of the layers, AdamW for embeddings and norms; no weight decays.

    In these models the circuits that binding needs rise in a few hundred steps of Muon; with AdamW they took thousands.
    """
    embeddings = model.model.embed_tokens.weight
    matrices = [weights for weights in model.parameters() if weights.ndim == 2 and weights is not embeddings]
    rest = [weights for weights in model.parameters() if weights.ndim != 2 or weights is embeddings]
    return torch.optim.Muon(matrices, lr=recipe.rate, weight_decay=0.0), torch.optim.AdamW(
        rest, lr=recipe.token_rate, weight_decay=0.0, betas=(0.9, 0.95), fused=True
    )
