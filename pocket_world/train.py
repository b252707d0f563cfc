"""Training a pocket model: matching, letters, then everything; it can stop after any step and go on.

What a step sees follows from the seed, the stage and the number of the step alone, and no other chance enters a step.
So a resumed training reads the same text as one that never stopped, and ends in the same weights, bit by bit.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

import torch
from transformers import AutoTokenizer, LlamaForCausalLM, PreTrainedTokenizerFast

from core.errors import InputError
from core.models.perplexity import conversations
from pocket_world import bank, checkpoint
from pocket_world.ahead import StepText, made_ahead, steps_from
from pocket_world.batches import TokenBatch, batches, weighted_loss
from pocket_world.begin import begin
from pocket_world.card import card, machine
from pocket_world.chat.template import TEMPLATE
from pocket_world.checks import loss_row
from pocket_world.contamination import Guard
from pocket_world.documents import StepPart
from pocket_world.grow import grow
from pocket_world.model import new_config, set_epsilon
from pocket_world.optimizers import optimizers, rates, set_rate
from pocket_world.packed import CapturedSteps, PackedStep, packed
from pocket_world.progress import StageProgress
from pocket_world.publish import publish
from pocket_world.reader import compiled_layer, read, read_layer
from pocket_world.recipes import TOKENIZER_SEED, Recipe, Stage
from pocket_world.stream import Stream
from pocket_world.tokens import one_token_words, published_tokenizer, train_tokenizer

LOG = logging.getLogger("hedge.pocket")

TOKENIZER_DOCUMENTS = 60_000

CHECK_EVERY: dict[Stage, int] = {"matching": 100, "letters": 250, "everything": 500}

SAVE_SECONDS = 240.0
"""The most seconds between two checkpoints."""

MODEL, TOKENIZER = "model", "tokenizer"
"""What lies in a work folder beside the state of the training: the whole model once it is trained."""

StepData = PackedStep | list[TokenBatch]


class Trainer:
    """One training and its work folder: the tokenizer, ``checkpoint.pt`` (tensors and numbers only), its progress alone
    in ``progress.json``, and at the end the whole model with its card in ``model``.

    ``source`` is the folder of the model that this one grows from. ``compiled`` needs a C++ compiler and makes a step
    faster; ``precision`` is that of the products, float32 or bfloat16. ``device`` is the processor or a GPU;
    ``workers`` are processes that make the text of the steps to come, 0 for none.
    """

    def __init__(
        self,
        recipe: Recipe,
        *,
        folder: Path,
        tokenizer_documents: int = TOKENIZER_DOCUMENTS,
        source: Path | None = None,
        compiled: bool = False,
        precision: torch.dtype = torch.float32,
        device: str = "cpu",
        workers: int = 0,
    ) -> None:
        self.recipe, self.folder, self.source = recipe, folder, source
        folder.mkdir(parents=True, exist_ok=True)
        self.bank = bank.questions()
        self.stream = Stream(Guard.of(self.bank, conversations.bundled()), tasks=recipe.tasks, chat=recipe.chat)
        self.tokenizer = self._tokenizer(tokenizer_documents)
        self.values = one_token_words(self.tokenizer)
        self.layer = compiled_layer() if compiled else read_layer
        self.precision, self.device, self.workers = precision, torch.device(device), workers
        self.progress = StageProgress(stage="everything" if recipe.grown_from else "matching")
        torch.manual_seed(recipe.seed)
        self.model = self._model().to(self.device)
        self.optimizers = optimizers(self.model)
        self._losses = torch.zeros((), dtype=torch.float64, device=self.device)
        self._resume()
        self._graphs = (
            CapturedSteps(self.model, self.optimizers, precision=precision, middle=recipe.middle)
            if self._on_gpu
            else None
        )
        self._saved = time.monotonic()
        self._at = self._clock()

    @property
    def whole(self) -> bool:
        """Whether every step is done."""
        return self.progress.stage == "everything" and self.progress.step >= self.recipe.steps

    def run(self, *, stop: Callable[[], bool] = lambda: False) -> bool:
        """Train to the end and write the whole model; False if ``stop`` said so before, with the state saved."""
        if not self.whole:
            self._note_machine()
        for data in self._data():
            if stop():
                self._save()
                return False
            self._step(data)
            if self._is_check():
                self._check()
                self._save()
            elif time.monotonic() - self._saved >= SAVE_SECONDS:
                self._save()
        self.write()
        return True

    def _note_machine(self) -> None:
        here = "one GPU" if self._on_gpu else "one processor core"
        began_here = self.progress.timed == here or not self.progress.tokens
        self.progress.timed = here if began_here else "a processor core and a GPU together"
        self.progress.machine = machine(self.device, self.precision)

    def write(self) -> None:
        """Put the model as it is now, its tokenizer and its card into the work folder, all at once."""
        self.model.eval()
        text = card(self.model, self.tokenizer, self.recipe, self.progress, self.bank)
        publish(self.model, self.tokenizer, self.folder / MODEL, text, half=self.recipe.half)

    def _is_check(self) -> bool:
        stage, step = self.progress.stage, self.progress.step
        return step % CHECK_EVERY[stage] == 0 or step >= self.recipe.stage_steps[stage]

    def _tokenizer(self, documents: int) -> PreTrainedTokenizerFast:
        """The one that this training began with, else that of its source, else a new one; kept in the work folder."""
        folder = self.folder / TOKENIZER
        if not folder.exists():
            made = self._made_tokenizer(documents)
            made.chat_template = TEMPLATE if self.recipe.chat else None
            made.save_pretrained(folder)
        tokenizer: PreTrainedTokenizerFast = AutoTokenizer.from_pretrained(folder)
        return tokenizer

    def _made_tokenizer(self, documents: int) -> PreTrainedTokenizerFast:
        if self.recipe.grown_from:
            return published_tokenizer(self._source())
        return train_tokenizer(self.stream, seed=TOKENIZER_SEED, documents=documents, vocabulary=self.recipe.vocabulary)

    def _model(self) -> LlamaForCausalLM:
        """The model before its first step; its weights are of no matter where a checkpoint follows."""
        config = new_config(self.recipe, self.tokenizer)
        if checkpoint.exists(self.folder):
            return LlamaForCausalLM(config)
        if self.recipe.grown_from:
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

    def _step(self, data: StepData) -> None:
        progress = self.progress
        self.model.train()
        for optimizer, rate in zip(self.optimizers, rates(self.recipe, progress.stage, progress.step), strict=True):
            set_rate(optimizer, rate)
        if isinstance(data, PackedStep):
            assert self._graphs is not None
            self._losses += self._graphs.step(data)
            progress.tokens += data.size
        else:
            self._losses += self._batch_by_batch(data)
            progress.tokens += sum(one.size for one in data)
        progress.step += 1
        progress.counted += 1
        now = self._clock()
        progress.seconds += now - self._at
        self._at = now

    def _batch_by_batch(self, data: Sequence[TokenBatch]) -> float:
        loss = 0.0
        for one in data:
            part = weighted_loss(
                self.model,
                one,
                read=lambda tokens: read(
                    self.model, tokens, layer=self.layer, precision=self.precision, middle=self.recipe.middle
                ),
                precision=self.precision,
                mean=False,
            )
            part.backward()
            loss += float(part.detach())
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        for optimizer in self.optimizers:
            optimizer.step()
            optimizer.zero_grad()
        return loss

    def _data(self) -> Iterator[StepData]:
        """What each step reads, from the next one to the last."""
        form: Callable[[Sequence[StepPart], PreTrainedTokenizerFast], StepData] = packed if self._on_gpu else batches
        text = StepText(self.stream, self.recipe, self.tokenizer, self.values, form)
        self._at = self._clock()
        return made_ahead(
            text, steps_from(self.recipe, (self.progress.stage, self.progress.step)), workers=self.workers
        )

    @property
    def _on_gpu(self) -> bool:
        return bool(self.device.type == "cuda")

    def _clock(self) -> float:
        """Seconds of a processor core; where a GPU computes, seconds."""
        return time.monotonic() if self._on_gpu else time.process_time()

    def _check(self) -> None:
        """Add a line to the curve; a stage that has reached its end gives way to the next."""
        self._told()
        progress, recipe = self.progress, self.recipe
        row = loss_row(self.model, self.tokenizer, recipe, progress, questions=self.bank, values=self.values)
        progress.curve.append(row)
        progress.losses, progress.counted = 0.0, 0
        LOG.info(
            "%s step %d, %.2f M tokens, %.0f s: loss %.3f, binding %.3f, perplexity %.1f, %s",
            row["stage"],
            row["step"],
            row["tokens"] / 1e6,
            row["seconds"],
            row["loss"],
            row["binding"],
            row["perplexity"],
            ", ".join(f"{task} {share:.3f}" for task, share in row["tasks"].items()),
        )
        if progress.stage != "everything" and progress.step >= recipe.stage_steps[progress.stage]:
            progress.stage = "letters" if progress.stage == "matching" else "everything"
            progress.step = 0
        self._at = self._clock()

    def _told(self) -> None:
        """Put the losses of the last steps into the progress; on a GPU that waits for them."""
        self.progress.losses += float(self._losses)
        self._losses = torch.zeros((), dtype=torch.float64, device=self.device)

    def _save(self) -> None:
        self._told()
        state = {
            "recipe": asdict(self.recipe),
            "epsilon": self.model.config.rms_norm_eps,
            "model": self.model.state_dict(),
            "optimizers": [optimizer.state_dict() for optimizer in self.optimizers],
            "progress": asdict(self.progress),
        }
        checkpoint.write(self.folder, state)
        self._saved = time.monotonic()

    def _resume(self) -> None:
        """Go on from the checkpoint, if there is one. Raises :class:`InputError` if it is of another recipe."""
        if not checkpoint.exists(self.folder):
            return
        state = checkpoint.read(self.folder, self.device)
        checkpoint.check_recipe(state, self.recipe, self.folder)
        self.model.load_state_dict(state["model"])
        self.progress = StageProgress(**state["progress"])
        set_epsilon(self.model, state["epsilon"])
        for optimizer, moments in zip(self.optimizers, state["optimizers"], strict=True):
            # The rate stays the optimizer's own: it is a tensor on a GPU alone.
            groups = optimizer.state_dict()["param_groups"]
            optimizer.load_state_dict({"state": moments["state"], "param_groups": groups})
        LOG.info("%s goes on from %s step %d", self.recipe.name, self.progress.stage, self.progress.step)
