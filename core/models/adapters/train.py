"""Training an ARD-LoRA or a LoRA adapter: cross-entropy of the answers' tokens, and for the first the KL to its prior.

Every epoch draws a fresh split of the training texts: one share finds the prior's variances, the other one takes
gradient steps (LoRA has no prior and trains on all). The seed and the number of an epoch alone decide its texts,
and a checkpoint is written after each, so that a stopped training continues as if it had not been stopped.
"""

import json
import logging
import math
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch

from core.errors import InputError, RunError
from core.models.adapters import stored
from core.models.adapters.inject import TARGETS, check_rank, inject, inject_lora
from core.models.adapters.layer import active_ranks, latents, layers_of, variances
from core.models.adapters.prior import update_prior
from core.models.adapters.texts import IGNORED, Batch, Tokenized, batches
from core.models.replaced_weights import TRAINED_ON
from core.storage.sealed import digest_of

LOG = logging.getLogger("hedge.adapters")
KINDS = ("ard-lora", "lora")
CHECKPOINT = "checkpoint.pt"
"""The checkpoint of an older version; a newer one has its digest in its name."""
WARM_STEPS = 20


@dataclass(frozen=True, slots=True)
class AdapterRecipe:
    """How an adapter is made.

    ``rank`` and ``alpha`` of its matrices, in the layers ``targets``; ``epochs`` over the texts in batches of ``rows``
    at learning rate ``rate``, which rises over 20 steps and falls to a tenth; ``kl`` the weight of the KL, which grows
    over the first ``warmup`` epochs; ``prior_share`` of the texts finds the prior.
    """

    kind: str = "ard-lora"
    rank: int = 8
    alpha: float = 16.0
    targets: tuple[str, ...] = TARGETS
    epochs: int = 3
    rows: int = 16
    rate: float = 2e-3
    kl: float = 0.01
    warmup: int = 0
    prior_share: float = 0.2
    seed: int = 0

    def __post_init__(self) -> None:
        check_rank(self.rank)
        if self.kind not in KINDS:
            raise InputError(f"unknown adapter {self.kind!r}; choose from {', '.join(KINDS)}")
        if self.epochs < 1 or self.rows < 1 or self.warmup < 0:
            raise InputError(
                f"epochs and rows count from 1 and warm-up from 0, got {self.epochs}, {self.rows}, {self.warmup}"
            )
        if not 0 < self.prior_share < 1:
            raise InputError(f"the prior's share must lie in (0, 1), got {self.prior_share:g}")
        if not (self.rate > 0 and math.isfinite(self.rate) and self.kl >= 0 and math.isfinite(self.kl)):
            raise InputError(
                f"the rate must be above 0 and the KL's weight not below, got {self.rate:g} and {self.kl:g}"
            )


@dataclass(frozen=True, slots=True)
class EpochRow:
    """One epoch: mean loss and KL of its steps, active ranks and how many there are, seconds."""

    epoch: int
    loss: float
    kl: float
    active: int
    ranks: int
    seconds: float


@dataclass(slots=True)
class TrainingHistory:
    """What a training has done: its finished epochs."""

    rows: list[EpochRow] = field(default_factory=list)


Report = Callable[[int, int, float], None]
"""(steps done, steps in all, loss of the last one)."""


class AdapterTrainer:
    """One training; ``folder`` takes its checkpoint and at the end the adapter. ``base_weights`` is the fingerprint of
    the model, which the adapter records."""

    def __init__(
        self,
        model: Any,
        texts: Sequence[Tokenized],
        recipe: AdapterRecipe,
        *,
        folder: Path,
        base: str,
        base_weights: str = "",
    ) -> None:
        self.recipe, self.folder, self.base, self.texts = recipe, folder, base, list(texts)
        self.base_weights = base_weights
        if len(self.texts) < 4:
            raise InputError(f"an adapter needs at least 4 training texts, got {len(self.texts)}")
        torch.manual_seed(recipe.seed)
        if recipe.kind == "lora":
            self.model = inject_lora(model, rank=recipe.rank, alpha=recipe.alpha, targets=recipe.targets)
        else:
            inject(model, rank=recipe.rank, alpha=recipe.alpha, targets=recipe.targets)
            self.model = model
        self.device = next(self.model.parameters()).device
        self.weights = [weight for weight in self.model.parameters() if weight.requires_grad]
        self.optimizer = torch.optim.AdamW(self.weights, lr=recipe.rate, weight_decay=0.0)
        self.progress = TrainingHistory()
        self.note = ""
        folder.mkdir(parents=True, exist_ok=True)
        self._resume()

    def run(
        self, report: Report = lambda done, total, loss: None, *, cancelled: Callable[[], bool] = lambda: False
    ) -> Any:
        """Train what is left, write the adapter, and return the model with it.

        Raises :class:`RunError` if the loss is no longer a number, or a person stopped it; ended epochs are kept.
        """
        while len(self.progress.rows) < self.recipe.epochs:
            self._epoch(len(self.progress.rows), report, cancelled)
            self._save()
        self.model.eval()
        stored.save(
            self.model,
            self.folder,
            recipe=asdict(self.recipe),
            base=self.base,
            base_weights=self.base_weights,
            progress=self.rows(),
        )
        self._drop_checkpoints()
        return self.model

    def rows(self) -> list[dict[str, Any]]:
        """The epochs as JSON values."""
        return [asdict(row) for row in self.progress.rows]

    def _epoch(self, epoch: int, report: Report, cancelled: Callable[[], bool]) -> None:
        recipe, started = self.recipe, time.perf_counter()
        order = list(self.texts)
        random.Random(f"{recipe.seed}|adapter|{epoch}").shuffle(order)
        torch.manual_seed(recipe.seed * 1000 + epoch)
        if recipe.kind == "ard-lora":
            held = max(1, round(recipe.prior_share * len(order)))
            update_prior(self.model.eval(), batches(order[:held], recipe.rows, self.device))
            order = order[held:]
        steps = batches(order, recipe.rows, self.device)
        self.model.train()
        losses, divergences = [], []
        for step, data in enumerate(steps):
            if cancelled():
                raise RunError("the training was stopped; give the same folder again to continue from its last epoch")
            for group in self.optimizer.param_groups:
                group["lr"] = self._rate(epoch * len(steps) + step, recipe.epochs * len(steps))
            loss, divergence = self._loss(data)
            weight = recipe.kl * (min(1.0, (epoch + 1) / (recipe.warmup + 1)))
            total = loss + weight * divergence
            if not torch.isfinite(total):
                raise RunError("the loss is no longer a number; choose a smaller learning rate")
            total.backward()
            torch.nn.utils.clip_grad_norm_(self.weights, 1.0)
            self.optimizer.step()
            self.optimizer.zero_grad()
            losses.append(float(loss.detach()))
            divergences.append(float(divergence.detach()))
            report(epoch * len(steps) + step + 1, recipe.epochs * len(steps), losses[-1])
        active = sum(active_ranks(variances(self.model)).values())
        ranks = sum(layer.rank for layer in layers_of(self.model).values())
        mean = [sum(values) / len(values) for values in (losses, divergences)]
        self.progress.rows.append(EpochRow(epoch, mean[0], mean[1], active, ranks, time.perf_counter() - started))

    def _rate(self, step: int, total: int) -> float:
        return self.recipe.rate * min((step + 1) / min(WARM_STEPS, total), 1 - 0.9 * step / total)

    def _loss(self, data: Batch) -> tuple[torch.Tensor, torch.Tensor]:
        """Cross-entropy of the tokens that count, and the mean KL over layers."""
        with latents(self.model, sampling=True, keeping=True) as layers:
            loss = answer_loss(self.model, data)
            divergences = [layer.divergence(data.mask) for layer in layers.values()]
        return loss, torch.stack(divergences).mean() if divergences else torch.zeros((), device=self.device)

    def _save(self) -> None:
        state = {
            "recipe": json.dumps(asdict(self.recipe), sort_keys=True),
            "weights": stored.own_tensors(self.model),
            "optimizer": self.optimizer.state_dict(),
            "rows": self.rows(),
            TRAINED_ON: self.base_weights,
        }
        part = self.folder / f".{CHECKPOINT}.part"
        torch.save(state, part)
        fresh = self.folder / f"checkpoint-{digest_of(part)}.pt"
        part.replace(fresh)
        self._drop_checkpoints(but=fresh)

    def _checkpoints(self) -> list[Path]:
        """The checkpoints that are there, the latest last; two if a training was killed after it wrote one."""
        known = [*self.folder.glob("checkpoint-*.pt"), *self.folder.glob(CHECKPOINT)]
        return sorted(known, key=lambda path: path.stat().st_mtime_ns)

    def _drop_checkpoints(self, *, but: Path | None = None) -> None:
        for path in self._checkpoints():
            if path != but:
                path.unlink(missing_ok=True)

    def _resume(self) -> None:
        path = next(reversed(self._checkpoints()), None)
        if path is None:
            return
        if path.name != CHECKPOINT and digest_of(path) not in path.stem:
            self.note = f"{path} was damaged, so the training begins at its first epoch"
            return
        try:
            state = torch.load(path, weights_only=True)
        except Exception as error:  # whatever a broken or foreign file makes torch raise
            raise InputError(f"{path} is no checkpoint of a training ({type(error).__name__}); delete it") from error
        if state["recipe"] != json.dumps(asdict(self.recipe), sort_keys=True):
            raise InputError(
                f"{self.folder} holds a training with other settings; finish that one or choose another folder"
            )
        if state.get(TRAINED_ON, self.base_weights) != self.base_weights:
            raise InputError(
                f"{self.folder} holds a training on other weights of {self.base}; put them back and finish that one, "
                "or choose another folder"
            )
        stored.put_tensors(self.model, state["weights"], where=str(path))
        self.optimizer.load_state_dict(state["optimizer"])
        self.progress.rows = [EpochRow(**row) for row in state["rows"]]


def answer_loss(model: Any, data: Batch) -> torch.Tensor:
    """Mean cross-entropy of labels[1:] under logits[:-1] where they are not −100."""
    logits = model(input_ids=data.tokens, attention_mask=data.mask).logits[:, :-1].float()
    return torch.nn.functional.cross_entropy(logits.flatten(0, 1), data.labels[:, 1:].flatten(), ignore_index=IGNORED)
