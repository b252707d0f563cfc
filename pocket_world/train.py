"""Training a pocket model: matching, letters, then everything; it can stop after any step and continue.

The seed, the stage and the number of the step alone decide what it sees; nothing else is random.
So a resumed training reads the same text as one that never stopped, and ends in the same weights, bit by bit.
"""

import logging
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from core.errors import InputError
from core.models.perplexity import conversations
from core.records import Question
from pocket_world import bank
from pocket_world.batches import batch, batches, share_right, weighted_loss
from pocket_world.begin import begin
from pocket_world.chat.template import TEMPLATE
from pocket_world.contamination import Guard
from pocket_world.curriculum import step_documents
from pocket_world.evaluate import accuracy, held_out_loss, letter_probabilities
from pocket_world.grow import grow
from pocket_world.matching import binding_question, listed_document, phrases_document
from pocket_world.recipes import TOKENIZER_SEED, Recipe, Stage
from pocket_world.stream import Stream
from pocket_world.tokens import CONTEXT, one_token_words, published_tokenizer, train_tokenizer
from pocket_world.world import world

LOG = logging.getLogger("hedge.pocket")

TOKENIZER_DOCUMENTS = 60_000

CHECK_EVERY: dict[Stage, int] = {"matching": 100, "letters": 250, "everything": 500}
CHECK_QUESTIONS, CHECK_TEXT = 200, 8
"""A check asks this many questions of each kind, and reads every eighth piece of held-out prose."""

SAVE_SECONDS = 240.0
"""The most seconds between two checkpoints."""

LETTERS_RATE = 0.015
"""The rate of the matrices in matching and the first half of letters, where circuits have to rise from nothing."""

RISE: dict[Stage, int] = {"matching": 50, "letters": 100, "everything": 300}
"""Steps over which the learning rate rises in each stage; the words of everything would swamp what stands at once."""

LEAST_SHARE = 0.05

CHECKPOINT = "checkpoint.pt"

LossRow = dict[str, Any]
"""One line of the loss curve: stage, step, tokens, seconds; the mean loss since the last line; accuracies from 0 to 1
of binding questions (before the last stage of lists) and of each task; the perplexity a token of held-out prose."""


@dataclass(slots=True)
class StageProgress:
    """A stage, the steps done in it, and tokens and seconds over all stages.

    ``losses`` and ``counted`` are the sum and the number of the losses since the last check. ``seconds`` are those of
    what ``timed`` names; ``machine`` says where the last steps were done, in words.
    """

    stage: Stage = "matching"
    step: int = 0
    losses: float = 0.0
    counted: int = 0
    tokens: int = 0
    seconds: float = 0.0
    timed: str = ""
    machine: str = ""
    curve: list[LossRow] = field(default_factory=list)


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
    """One training and its work folder, which holds the tokenizer and ``checkpoint.pt`` (tensors and numbers only).

    ``source`` is the folder of the model that this one grows from; ``device`` is the processor or a GPU.
    """

    def __init__(
        self,
        recipe: Recipe,
        *,
        folder: Path,
        tokenizer_documents: int = TOKENIZER_DOCUMENTS,
        source: Path | None = None,
        device: str = "cpu",
    ) -> None:
        self.recipe, self.folder, self.source, self.device = recipe, folder, source, torch.device(device)
        folder.mkdir(parents=True, exist_ok=True)
        self.bank = bank.questions()
        self.stream = Stream(Guard.of(self.bank, conversations.bundled()), tasks=recipe.tasks, chat=recipe.chat)
        self.tokenizer = self._tokenizer(tokenizer_documents)
        self.values = one_token_words(self.tokenizer)
        self.progress = StageProgress(stage="everything" if recipe.grown_from else "matching")
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
        self._resume()
        self._saved = time.monotonic()

    @property
    def whole(self) -> bool:
        """Whether every step is done."""
        return self.progress.stage == "everything" and self.progress.step >= self.recipe.steps

    def run(self, *, stop: Callable[[], bool] = lambda: False) -> bool:
        """Train to the end; False if ``stop`` said so before. The state is saved."""
        while not self.whole:
            if stop():
                self._save()
                return False
            self._step()
            if self._is_check():
                self._check()
                self._save()
            elif time.monotonic() - self._saved >= SAVE_SECONDS:
                self._save()
        return True

    def _is_check(self) -> bool:
        stage, step = self.progress.stage, self.progress.step
        return step % CHECK_EVERY[stage] == 0 or step >= self.recipe.stage_steps[stage]

    def _tokenizer(self, documents: int) -> PreTrainedTokenizerFast:
        """The one that this training began with, else that of its source, else a new one; kept in the work folder."""
        folder, recipe = self.folder / "tokenizer", self.recipe
        if not folder.exists():
            if recipe.grown_from:
                tokenizer = published_tokenizer(self._source())
            else:
                tokenizer = train_tokenizer(
                    self.stream, seed=TOKENIZER_SEED, documents=documents, vocabulary=recipe.vocabulary
                )
            tokenizer.chat_template = TEMPLATE if recipe.chat else None
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
        if self.recipe.grown_from and not (self.folder / CHECKPOINT).exists():
            return grow(LlamaForCausalLM.from_pretrained(self._source(), dtype=torch.float32), config)
        model = LlamaForCausalLM(config)
        begin(model)
        return model

    def _source(self) -> Path:
        if self.source is None or not self.source.is_dir():
            raise InputError(
                f"{self.recipe.name} grows from {self.recipe.grown_from}, which is not in {self.source}; "
                "make that model first"
            )
        return self.source

    def _step(self) -> None:
        progress, recipe = self.progress, self.recipe
        started = time.monotonic()
        self.model.train()
        for optimizer, rate in zip(self.optimizers, rates(recipe, progress.stage, progress.step), strict=True):
            for group in optimizer.param_groups:
                group["lr"] = rate
        parts = step_documents(self.stream, recipe, stage=progress.stage, step=progress.step, values=self.values)
        for data in batches(parts, self.tokenizer):
            with torch.autocast(self.device.type, torch.bfloat16, enabled=self.device.type == "cuda"):
                loss = weighted_loss(self.model, data, middle=recipe.middle)
            loss.backward()
            progress.losses += float(loss.detach())
            progress.tokens += data.size
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        for optimizer in self.optimizers:
            optimizer.step()
            optimizer.zero_grad()
        progress.step += 1
        progress.counted += 1
        progress.seconds += time.monotonic() - started

    def _check(self) -> None:
        """Add a line to the curve; a stage that has reached its end gives way to the next."""
        progress = self.progress
        row = self._loss_row()
        progress.curve.append(row)
        progress.losses, progress.counted = 0.0, 0
        LOG.info("%s", ", ".join(f"{name} {value}" for name, value in row.items()))
        if not self.whole and progress.step >= self.recipe.stage_steps[progress.stage]:
            progress.stage = "letters" if progress.stage == "matching" else "everything"
            progress.step = 0

    def _loss_row(self) -> LossRow:
        """Accuracies on fresh binding questions and on the bank's first questions of each task; held-out prose.

        In stages without binding questions, lists of values or of phrases take their place.
        """
        progress, recipe = self.progress, self.recipe

        def share(questions: Sequence[Question]) -> float:
            return accuracy(letter_probabilities(self.model, self.tokenizer, questions), questions).value

        rng = random.Random(f"{recipe.seed}|check|{progress.stage}|{progress.step}")
        self.model.eval()
        if progress.stage == "everything":
            binding = share([binding_question(world(), rng) for _ in range(CHECK_QUESTIONS)])
        else:
            make = listed_document if progress.stage == "matching" else phrases_document
            documents = [make(self.values, rng) for _ in range(CHECK_QUESTIONS)]
            binding = share_right(self.model, batch(documents, self.tokenizer))
        first = {task: [question for question in self.bank if question.task == task] for task in bank.BANK_TASKS}
        return {
            "stage": progress.stage,
            "step": progress.step,
            "tokens": progress.tokens,
            "seconds": round(progress.seconds, 1),
            "loss": progress.losses / progress.counted,
            "binding": binding,
            "perplexity": held_out_loss(self.model, self.tokenizer, chat=recipe.chat, every=CHECK_TEXT).perplexity,
            "tasks": {task: share(questions[:CHECK_QUESTIONS]) for task, questions in first.items()},
        }

    def _save(self) -> None:
        """Put the state in place of the one before; a process that ends meanwhile leaves one of the two."""
        state = {
            "recipe": asdict(self.recipe),
            "epsilon": self.model.config.rms_norm_eps,
            "model": self.model.state_dict(),
            "optimizers": [optimizer.state_dict() for optimizer in self.optimizers],
            "progress": asdict(self.progress),
        }
        temporary = self.folder / "checkpoint.tmp"
        torch.save(state, temporary)
        temporary.replace(self.folder / CHECKPOINT)
        self._saved = time.monotonic()

    def _resume(self) -> None:
        """Continue from the checkpoint, if there is one. Raises :class:`InputError` if it is of another recipe."""
        if not (self.folder / CHECKPOINT).exists():
            return
        state = torch.load(self.folder / CHECKPOINT, weights_only=True, map_location=self.device)
        differing = [name for name, value in asdict(self.recipe).items() if state["recipe"].get(name) != value]
        if differing:
            raise InputError(
                f"the training in {self.folder} began with other values of {', '.join(differing)}; "
                "delete it or take back the change"
            )
        self.model.load_state_dict(state["model"])
        self.progress = StageProgress(**state["progress"])
        self.model.config.rms_norm_eps = state["epsilon"]  # growing scaled it
        for module in self.model.modules():
            if hasattr(module, "variance_epsilon"):
                module.variance_epsilon = state["epsilon"]
        for optimizer, moments in zip(self.optimizers, state["optimizers"], strict=True):
            optimizer.load_state_dict(moments)
        LOG.info("%s continues from %s step %d", self.recipe.name, self.progress.stage, self.progress.step)
