"""Jurors: LoRA adapters that say True or False of a question and a proposed answer (Hu et al. 2021).

With ``dtype`` int4 or int8 the model under the adapter is quantised (QLoRA, Dettmers et al. 2023), which needs an
NVIDIA GPU and bitsandbytes. A step's rows follow from the seed and its number, and a checkpoint holds the adapter and
the optimizer, so a stopped training continues as if it had not been stopped.
"""

import inspect
import json
import random
import shutil
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from peft import LoraConfig, get_peft_model, prepare_model_for_kbit_training, set_peft_model_state_dict
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from core.errors import InputError, RunCancelled
from core.models.adapters.inject import peft_by_its_old_name, trainable
from core.models.adapters.texts import IGNORED, Tokenized, batch_of
from core.models.budget import free
from core.models.encoding import Encoder, context_of
from core.models.folders import ADAPTER, TRAINING
from core.models.imports import adapters
from core.models.model_loading import QUANTIZED, load_model
from core.models.model_sources import canonical
from core.models.out_of_memory import is_out_of_memory
from core.models.replaced_weights import TRAINED_ON, weights_of
from core.models.rows import TokenRow
from core.questions.prompting.verdict import verdict_prompt
from core.storage.json_text import loads
from core.storage.sealed import DamagedError, check_files, damage, digests_of, read_json, write_json

WARM_UP = 20
LEAST_RATE = 0.05
"""The learning rate falls to this share of its peak."""
LAYERS = "all-linear"


@dataclass(frozen=True, slots=True)
class Tuning:
    """How a juror is tuned: the rank of its matrices, steps of ``rows`` judgements, the highest learning rate.

    ``at_once`` rows go through the model together; where memory runs out, half as many. Raises :class:`InputError` for
    invalid numbers.
    """

    rank: int = 8
    steps: int = 300
    rows: int = 32
    rate: float = 2e-3
    at_once: int = 32
    save_every: int = 50
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("rank", "steps", "rows", "at_once", "save_every"):
            if getattr(self, name) < 1:
                raise InputError(f"{name} must be at least 1, got {getattr(self, name)}")
        if not 0 < self.rate < 1:
            raise InputError(f"the learning rate must lie in (0, 1), got {self.rate}")


@dataclass(frozen=True, slots=True)
class Example:
    """A question with a proposed answer, and whether that answer is right."""

    question: str
    answer: str
    right: bool


Report = Callable[[int, int, float], None]
"""Called with steps done, steps in all, and the loss of the last one."""


def fine_tune(
    model: str,
    examples: Sequence[Example],
    folder: Path,
    tuning: Tuning,
    *,
    dtype: str = "float32",
    on_step: Report = lambda done, total, loss: None,
    cancelled: Callable[[], bool] = lambda: False,
    log: Callable[[str], None] = lambda line: None,
) -> list[float]:
    """Tune an adapter of ``model`` in ``folder``, or continue from a checkpoint there; returns the loss of every step.

    A damaged checkpoint is not used, and ``log`` gets a line about it. Right and wrong answers are learned from as
    often as they are there. Raises :class:`InputError` if a kind is missing, and :class:`RunCancelled` where
    ``cancelled`` says so, after a checkpoint.
    """
    right = sum(example.right for example in examples)
    if not 0 < right < len(examples):
        raise InputError(
            f"a juror learns from right and wrong answers, but {right} of {len(examples)} are right; take more "
            "questions or another base model"
        )
    source = trainable(model)
    torch.manual_seed(tuning.seed)
    weights = weights_of(model)
    loaded, tokenizer = load_model(source, dtype=dtype)
    encoder = Encoder(
        tokenizer, context=context_of(loaded.config), vocabulary=loaded.get_input_embeddings().weight.shape[0]
    )
    trained = _with_adapter(loaded, tuning, quantized=dtype in QUANTIZED)
    training = _Training(trained, encoder, tuning, folder, weights)
    if problem := training.resume():
        log(f"the checkpoint of this training was damaged ({problem}); the training begins at its first step")
    while training.step < tuning.steps:
        if cancelled():
            training.save()
            raise RunCancelled(f"stopped after {training.step} of {tuning.steps} steps; it will continue from there")
        training.take(_drawn(examples, tuning, training.step))
        on_step(training.step, tuning.steps, training.losses[-1])
        if training.step % tuning.save_every == 0 and training.step < tuning.steps:
            training.save()
    training.publish(canonical(model), dtype)
    return training.losses


def _drawn(examples: Sequence[Example], tuning: Tuning, step: int) -> list[Example]:
    """The rows of a step. Each pass over the examples uses each of them once, in its own random order."""
    drawn: list[Example] = []
    at, n = step * tuning.rows, len(examples)
    while len(drawn) < tuning.rows:
        order = list(range(n))
        random.Random(f"{tuning.seed}|juror|{at // n}").shuffle(order)
        left = order[at % n :][: tuning.rows - len(drawn)]
        drawn += [examples[i] for i in left]
        at += len(left)
    return drawn


def _with_adapter(model: Any, tuning: Tuning, *, quantized: bool) -> Any:
    adapters()
    if quantized:
        prepare: Callable[[Any], Any] = prepare_model_for_kbit_training
        model = prepare(model)
    config = LoraConfig(r=tuning.rank, lora_alpha=2 * tuning.rank, target_modules=LAYERS, task_type="CAUSAL_LM")
    with peft_by_its_old_name():
        return get_peft_model(model, config).train()


class _Training:
    """An adapter in training: the model, its optimizer, the number of finished steps and their losses."""

    def __init__(self, model: Any, encoder: Encoder, tuning: Tuning, folder: Path, base_weights: str) -> None:
        self.model = model
        self.base_weights = base_weights
        self.encoder = encoder
        self.tuning = tuning
        self.folder = folder
        self.weights = {name: w for name, w in model.named_parameters() if w.requires_grad}
        self.device = next(iter(self.weights.values())).device
        self.optimizer = torch.optim.AdamW(list(self.weights.values()), lr=tuning.rate)
        self._keeps_some = "logits_to_keep" in inspect.signature(model.get_base_model().forward).parameters
        self.step = 0
        self.at_once = tuning.at_once
        self.losses: list[float] = []

    def take(self, examples: Sequence[Example]) -> None:
        """One step of the optimizer."""
        rows = self.encoder.rows(
            [verdict_prompt(str(i), example.question, example.answer) for i, example in enumerate(examples)]
        )
        verdicts = [0 if example.right else 1 for example in examples]
        loss = self._gradients(rows, verdicts)
        warm = min((self.step + 1) / WARM_UP, 1 - (1 - LEAST_RATE) * self.step / self.tuning.steps)
        for group in self.optimizer.param_groups:
            group["lr"] = self.tuning.rate * warm
        torch.nn.utils.clip_grad_norm_(list(self.weights.values()), 1.0)
        self.optimizer.step()
        self.optimizer.zero_grad()
        self.step += 1
        self.losses.append(loss)

    def _gradients(self, rows: Sequence[TokenRow], verdicts: Sequence[int]) -> float:
        """Add up the gradients of the mean loss, in parts as large as memory allows."""
        while True:
            try:
                total = 0.0
                for start in range(0, len(rows), self.at_once):
                    stop = start + self.at_once
                    loss = self._loss(rows[start:stop], verdicts[start:stop]) / len(rows)
                    loss.backward()
                    total += float(loss.detach())
                return total
            except (RuntimeError, MemoryError) as error:
                if not is_out_of_memory(error) or self.at_once == 1:
                    raise
            self.at_once //= 2
            self.optimizer.zero_grad()
            free(self.device)

    def _loss(self, rows: Sequence[TokenRow], verdicts: Sequence[int]) -> torch.Tensor:
        """Σ over rows of the mean −log p of the verdict's tokens; padding stands behind and counts nowhere."""
        options = [row.options[verdict] for row, verdict in zip(rows, verdicts, strict=True)]
        texts = [Tokenized(row.context + option, len(row.context)) for row, option in zip(rows, options, strict=True)]
        batch = batch_of(texts, self.device)
        weights = (batch.labels != IGNORED) / torch.tensor([[len(option)] for option in options], device=self.device)
        # A vocabulary's logits at every place would cost a small model more than all its layers.
        places = weights[:, 1:].any(dim=0).nonzero().flatten()
        fewer = {"logits_to_keep": places} if self._keeps_some else {}
        logits = self.model(input_ids=batch.tokens, attention_mask=batch.mask, use_cache=False, **fewer).logits
        logits = (logits if self._keeps_some else logits[:, places]).float()
        truth = batch.tokens[:, places + 1]
        losses = torch.nn.functional.cross_entropy(logits.transpose(1, 2), truth, reduction="none")
        summed: torch.Tensor = (losses * weights[:, places + 1]).sum()
        return summed

    # ---- on disk

    @property
    def _checkpoint(self) -> Path:
        return self.folder / "checkpoint"

    def save(self) -> None:
        """Write a checkpoint atomically."""
        part = self.folder / ".checkpoint.part"
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir(parents=True)
        self.model.save_pretrained(str(part))
        state = self.optimizer.state_dict()["state"]
        flat = {f"{i}.{key}": value.contiguous() for i, tensors in state.items() for key, value in tensors.items()}
        save_file(flat, part / "optimizer.safetensors")
        values = {"step": self.step, "losses": self.losses, "tuning": asdict(self.tuning)}
        files = digests_of(part.glob("*.safetensors"))
        write_json(part / TRAINING, values | {TRAINED_ON: self.base_weights, "files": files})
        shutil.rmtree(self._checkpoint, ignore_errors=True)
        part.rename(self._checkpoint)

    def resume(self) -> str:
        """Continue from the checkpoint of the same tuning on the same weights, if there is one. Returns why it is not
        used if it is damaged."""
        folder = self._checkpoint
        if not (folder / TRAINING).is_file():
            return ""
        try:
            values = read_json(folder / TRAINING)
            check_files(folder, values.get("files", {}))
            tuning, tuned_on = values["tuning"], values.get(TRAINED_ON, self.base_weights)
            adapter, optimizer = (load_file(folder / f"{name}.safetensors") for name in ("adapter_model", "optimizer"))
        except (DamagedError, SafetensorError, OSError, KeyError) as error:
            return damage(error)
        if tuning != asdict(self.tuning) or tuned_on != self.base_weights:
            return ""
        set_peft_model_state_dict(self.model, adapter)
        state: dict[int, dict[str, torch.Tensor]] = {}
        for name, value in optimizer.items():
            number, key = name.split(".", 1)
            state.setdefault(int(number), {})[key] = value
        groups = self.optimizer.state_dict()["param_groups"]
        self.optimizer.load_state_dict({"state": state, "param_groups": groups})
        self.step, self.losses = values["step"], values["losses"]
        return ""

    def publish(self, model: str, dtype: str) -> None:
        """Write the adapter and its training record, and delete checkpoints."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self.model.save_pretrained(str(self.folder))
        path = self.folder / ADAPTER
        config = loads(path.read_bytes()) | {"base_model_name_or_path": model}
        path.write_text(json.dumps(config, indent=1), encoding="utf-8")
        values = {"model": model, "dtype": dtype, "tuning": asdict(self.tuning), "losses": self.losses}
        files = digests_of([*self.folder.glob("*.safetensors"), path])
        write_json(self.folder / TRAINING, values | {TRAINED_ON: self.base_weights, "files": files}, indent=1)
        shutil.rmtree(self._checkpoint, ignore_errors=True)
