"""Training a pocket model: pairs, binding, then facts; it can stop and go on at any checkpoint.

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
from core.pocket import bank
from core.pocket.bank import BANK_TASKS
from core.pocket.batches import Batch, batch, share_right, weighted_loss
from core.pocket.binding import binding_question, pair_find
from core.pocket.card import card
from core.pocket.chat.template import TEMPLATE
from core.pocket.contamination import Guard
from core.pocket.curriculum import Stage, step_documents
from core.pocket.evaluate import accuracy, letter_probabilities
from core.pocket.grow import grow, moved
from core.pocket.progress import Progress, Row
from core.pocket.publish import publish
from core.pocket.recipes import Recipe
from core.pocket.stream import Stream
from core.pocket.tokens import CONTEXT, one_token_answers, published_tokenizer, train_tokenizer
from core.pocket.world import world
from core.records import Question

LOG = logging.getLogger("hedge.pocket")

TOKENIZER_DOCUMENTS = 60_000

CHECK_QUESTIONS = 200

CHECK_EVERY: dict[Stage, int] = {"pairs": 400, "binding": 200, "facts": 500}


class Trainer:
    """One training, its work folder holding the tokenizer and ``checkpoint.pt`` (tensors and numbers only).

    ``target`` is where the model is published, ``smaller`` where the model that it is grown from lies, by default
    beside it.
    ``compiled`` needs a C++ compiler and takes half the time a step.
    """

    def __init__(
        self,
        recipe: Recipe,
        *,
        folder: Path,
        target: Path,
        tokenizer_documents: int = TOKENIZER_DOCUMENTS,
        smaller: Path | None = None,
        compiled: bool = False,
    ) -> None:
        self.recipe, self.folder, self.target = recipe, folder, target
        self.smaller = smaller or target.with_name(recipe.grown_from or recipe.name)
        folder.mkdir(parents=True, exist_ok=True)
        self.bank = bank.questions()
        self.stream = Stream(Guard.of(self.bank), tasks=recipe.tasks, chat=recipe.chat)
        self.tokenizer = self._tokenizer(tokenizer_documents)
        self.values = one_token_answers(self.tokenizer)
        torch.manual_seed(recipe.seed)
        self.model = self._untrained()
        # On rows this short, attention by plain products is half as dear as the fused kernel, whose backward is slow.
        self.model.set_attn_implementation("eager")
        self.body = torch.compile(self.model.model, dynamic=True) if compiled else self.model.model
        self.optimizer = torch.optim.AdamW(
            self.model.parameters(), lr=0.0, weight_decay=0.05, betas=(0.9, 0.95), fused=True
        )
        self.progress = Progress(stage="facts" if recipe.grown_from else "pairs")
        self._resume()

    def run(self) -> None:
        """Train to the end, with a checkpoint at every check, and publish."""
        recipe, progress = self.recipe, self.progress
        while progress.stage == "pairs":
            self._steps(min(CHECK_EVERY["pairs"], recipe.pairs_steps - progress.step))
            row = self._check()
            if row["binding"] >= recipe.pairs_goal or progress.step >= recipe.pairs_steps:
                progress.stage, progress.step = "binding", 0
            self._save()
        while progress.stage == "binding":
            self._steps(CHECK_EVERY["binding"])
            row = self._check()
            if row["binding"] >= recipe.binding_goal or progress.step >= recipe.binding_steps:
                progress.stage, progress.step = "facts", 0
            self._save()
        while progress.step < recipe.steps:
            self._steps(min(CHECK_EVERY["facts"], recipe.steps - progress.step))
            self._check()
            self._save()
        self.publish()

    def publish(self) -> None:
        """Put the model as it is now, its tokenizer and its card into the target folder, all at once."""
        self.model.eval()
        text = card(self.model, self.tokenizer, self.recipe, self.progress, self.bank)
        publish(self.model, self.tokenizer, self.target, text)

    def _tokenizer(self, documents: int) -> PreTrainedTokenizerFast:
        """The one that this training began with, else the smaller model's, else a new one; kept in the work folder."""
        kept = self.folder / "tokenizer"
        if not kept.exists():
            made = self._grown_tokenizer(documents)
            made.chat_template = TEMPLATE if self.recipe.chat else None
            made.save_pretrained(kept)
        tokenizer: PreTrainedTokenizerFast = AutoTokenizer.from_pretrained(kept)
        return tokenizer

    def _grown_tokenizer(self, documents: int) -> PreTrainedTokenizerFast:
        recipe = self.recipe
        if recipe.grown_from and len(kept := published_tokenizer(self._smaller())) == recipe.vocabulary:
            return kept
        return train_tokenizer(self.stream, seed=recipe.seed, documents=documents, vocabulary=recipe.vocabulary)

    def _untrained(self) -> LlamaForCausalLM:
        config = new_config(self.recipe, self.tokenizer)
        if not self.recipe.grown_from:
            return LlamaForCausalLM(config)
        small = LlamaForCausalLM.from_pretrained(self._smaller(), dtype=torch.float32)
        tokenizer = published_tokenizer(self._smaller())
        if tokenizer.get_vocab() != self.tokenizer.get_vocab():
            same_size = LlamaConfig.from_dict(small.config.to_dict() | {"vocab_size": len(self.tokenizer)})
            small = moved(small, tokenizer, self.tokenizer, same_size)
        return grow(small, config)

    def _smaller(self) -> Path:
        if not self.smaller.is_dir():
            raise InputError(
                f"{self.recipe.name} grows from {self.smaller}, which is not there; train that model first"
            )
        return self.smaller

    def _steps(self, count: int) -> None:
        started, losses = time.perf_counter(), []
        self.model.train()
        for _ in range(count):
            data = self._batch()
            for group in self.optimizer.param_groups:
                group["lr"] = learning_rate(self.recipe, self.progress.stage, self.progress.step)
            loss = weighted_loss(self.model, data, self.body)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            self.optimizer.step()
            self.optimizer.zero_grad()
            losses.append(float(loss.detach()))
            self.progress.step += 1
            self.progress.tokens += data.size
        self.progress.seconds += time.perf_counter() - started
        self._loss = sum(losses) / len(losses)

    def _batch(self) -> Batch:
        progress = self.progress
        documents = step_documents(
            self.stream, seed=self.recipe.seed, stage=progress.stage, step=progress.step, values=self.values
        )
        return batch(documents, self.tokenizer)

    def _check(self) -> Row:
        """Accuracies on fresh binding questions and on the first questions of each task of the bank."""
        progress = self.progress
        rng = random.Random(f"{self.recipe.seed}|check|{progress.stage}|{progress.step}")
        self.model.eval()
        if progress.stage == "pairs":
            binding = self._pairs_found(rng)
        else:
            binding = self._share([binding_question(world(), rng) for _ in range(CHECK_QUESTIONS)])
        row: Row = {
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

    def _pairs_found(self, rng: random.Random) -> float:
        """How often the letter before a one-token value is found."""
        drawn = [rng.sample(self.values, 4) for _ in range(CHECK_QUESTIONS)]
        documents = [pair_find(options, options, rng) for options in drawn]
        return share_right(self.model, batch(documents, self.tokenizer))

    def _save(self) -> None:
        state = {
            "recipe": asdict(self.recipe),
            "model": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
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
            if name not in ("pairs_goal", "pairs_steps", "binding_goal", "steps", "cooldown")
            and state["recipe"].get(name) != value
        ]
        if differing:
            raise InputError(
                f"{path} was trained with other values of {', '.join(differing)}; delete it or take back the change"
            )
        self.model.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.progress = Progress(**state["progress"])
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


def learning_rate(recipe: Recipe, stage: Stage, step: int) -> float:
    """The rate at a step: a rise over 100 steps, a plateau, and for facts a straight fall to a twentieth."""
    rise = min(1.0, (step + 1) / 100)
    if stage != "facts":
        return recipe.binding_rate * rise
    left = (recipe.steps - step) / recipe.cooldown
    return recipe.rate * min(rise, max(left, 0.05))
