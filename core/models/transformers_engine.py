"""Scoring with a transformers causal language model: encode, share the common prefix, batch, select the fastest
path."""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
import torch
import transformers

from core import __version__
from core.errors import HedgeError, InputError
from core.models import kept_checks, masks
from core.models.boundaries import Side, boundaries, ends_of_sides, side
from core.models.budget import Budget, free, work_through
from core.models.decoder import Decoder
from core.models.encoding import Encoder, context_of
from core.models.engine import SelfCheck
from core.models.generation import SAMPLED, continuations, room
from core.models.memory import geometry, parameter_count
from core.models.model_loading import load_model
from core.models.model_sources import ModelSource
from core.models.out_of_memory import is_out_of_memory
from core.models.path_selection import WRONG_PATH, Climb, Rung, climb_down, ladder, refusal, shared_part
from core.models.paths import LetterSums, Sums
from core.models.placement import devices_of
from core.models.prefix import Prefix, shared_tokens
from core.models.quiet import quiet
from core.models.replaced_weights import other_base_of
from core.models.rows import TokenRow, Tokens, rectangle
from core.records import OptionLogits, Prompt

CHECKED_QUESTIONS = 4
WRITTEN = 24
"""The most tokens of a written answer. Only its first line counts."""
CHUNK = {"cpu": 50, "mps": 200, "cuda": 1000}
"""Questions per chunk, by device: enough to fill its batches, and few enough that a killed worker loses little."""


@dataclass(frozen=True, slots=True)
class EngineSetup:
    """How an engine scores a run: the tokens of the shared prefix, the path with the arguments of its :func:`ladder`,
    the limits of its batches, and the threads with which a processor computes."""

    prefix: Tokens
    prefix_lengths: tuple[int, ...]
    rung: str
    sides: frozenset[Side]
    letters: bool
    long: bool
    tokens: int
    bytes: int
    rows: int | None
    threads: int


@dataclass(frozen=True, slots=True)
class PackedRows:
    """Prompts as tokens, with their ids; ``texts`` says that their options are texts and not letters."""

    ids: tuple[str, ...]
    rows: tuple[TokenRow, ...]
    texts: bool


class TransformersEngine:
    """One loaded model. Deterministic: no sampling, no dropout, no autocast.

    Until :meth:`self_check` has found a faster path, everything is scored one option at a time.
    """

    def __init__(self, model: Any, tokenizer: Any, *, name: str, dtype: str, batch_size: int | None = None) -> None:
        self.model = model
        self.name = name
        self.dtype = dtype
        self.decoder = Decoder(model)
        self.encoder = Encoder(
            tokenizer, context=context_of(model.config), vocabulary=model.get_input_embeddings().weight.shape[0]
        )
        self.devices = devices_of(model)
        self.budget = Budget(self.decoder.device, geometry(model), rows=batch_size, also=self.devices)
        self.prefix: Prefix | None = None
        self.rungs: list[Rung] = []
        self.climb: Climb | None = None
        self.boundaries = boundaries(model.config)
        self._sides: frozenset[Side] = frozenset()
        self._rows: dict[str, TokenRow] = {}
        self._without: tuple[str, ...] = ()
        self.identity: str | None = None
        """A hash of the model's files, by which its self-check is kept; None: it is not kept."""
        self.other_base = ""
        """A clause if the model is an adapter that was trained on other weights (:func:`other_base`)."""

    @classmethod
    def load(
        cls,
        source: ModelSource,
        *,
        dtype: str,
        batch_size: int | None = None,
        device: str = "",
        report: Callable[[str], None] | None = None,
    ) -> TransformersEngine:
        """Load a model and its tokenizer in ``dtype`` onto ``device``, by default onto the best one, or onto several if
        one is too small. ``report`` receives the progress of the loading.

        Raises :class:`~core.errors.InputError` if they can't be loaded.
        """
        model, tokenizer = load_model(source, dtype=dtype, device=device, report=report)
        try:
            with quiet():
                engine = cls(model, tokenizer, name=source.name, dtype=dtype, batch_size=batch_size)
                engine.identity = kept_checks.identity(source)
                engine.other_base = other_base_of(source)
                return engine
        except Exception as error:  # a model's own code: this type may use other names for its parts
            if isinstance(error, HedgeError) or is_out_of_memory(error):
                raise
            raise InputError(
                f"model {source.location} ({model.config.model_type}) is built in a way that Hedge can't score "
                f"({type(error).__name__}); choose another model"
            ) from error

    @property
    def device(self) -> str:
        return str(self.decoder.device.type)

    @property
    def chunk(self) -> int:
        return CHUNK.get(self.device, CHUNK["cpu"])

    @property
    def description(self) -> dict[str, Any]:
        """The model, device and versions that compute, for ``run.json``."""
        return {
            "model": self.name,
            "architecture": type(self.model).__name__,
            "revision": getattr(self.model.config, "_commit_hash", None),
            "parameters": sum(parameter_count(p) for p in self.model.parameters()),
            "dtype": self.dtype,
            "device": self._device_name(),
            "placed": ", ".join(map(str, self.devices)),
            "context": self.encoder.context,
            "letter_tokens": self.encoder.letter_table(),
            "truncated_prompts": self.encoder.truncated,
            "dropped_demonstrations": self.encoder.dropped,
            "shortened_prompts": self.encoder.shortened,
            "shared_prefix_tokens": len(self.prefix) if self.prefix else 0,
            "rung": self.climb.rung.name if self.climb else "one by one",
            "budget": self.budget.to_json(),
            "torch": torch.__version__,
            "transformers": transformers.__version__,
        } | self._remarks()

    def _remarks(self) -> dict[str, Any]:
        """Notes on the chat template and on an adapter's base model; none for most."""
        template = self.encoder.template
        about = {
            "chat_content": "parts" if template.parts else "",
            "template_date": template.now.isoformat() if template.dated else "",
            "template_notes": list(template.notes),
            "other_base": self.other_base,
        }
        return {name: value for name, value in about.items() if value}

    def take_date(self, earlier: Mapping[str, Any]) -> None:
        """Ask the rest of a run with the date in its first prompts, according to the description ``earlier`` of its
        engine."""
        if date := earlier.get("template_date"):
            self.encoder.template.now = datetime.fromisoformat(date)

    def prepare(self, prompts: Sequence[Prompt]) -> None:
        """Tokenize all prompts, count those that are too long for the model, and compute their common beginning
        once."""
        self.encoder.count_again()
        rows = self.encoder.rows(prompts)
        self._rows = {prompt.question_id: row for prompt, row in zip(prompts, rows, strict=True)}
        self.prefix, self._without = self._shared(rows)
        letters = all(row.is_letters for row in rows)
        self.rungs = ladder(self.decoder, letters=letters, prefix=self.prefix is not None, long=self._long(rows))
        self.climb = None

    def self_check(self, prompts: Sequence[Prompt]) -> SelfCheck:
        """Find the fastest path that agrees with scoring one option at a time, on prompts from the shortest to the
        longest, and on both sides of every boundary between them (:mod:`core.models.boundaries`)."""
        rows = sorted((self._row(prompt) for prompt in prompts), key=lambda row: row.tree_length)
        rungs = [rung for rung in self.rungs if rung.takes(rows, self.prefix)]
        sides = [self._side(row) for row in rows]
        self._sides = frozenset(sides)
        longest, key = rows[-1].tree_length, self._kept_under(rungs, prompts)
        if key and (verdict := kept_checks.find(key, longest=longest)) and self._take(verdict, rungs):
            return verdict
        spread = {round(i) for i in np.linspace(0, len(rows) - 1, CHECKED_QUESTIONS)}
        spread |= ends_of_sides(sides, [row.whole_length for row in rows])
        picked = [rows[i] for i in sorted(spread)]
        self.climb = climb_down(rungs, picked, prefix=self.prefix, dtype=self.dtype, budget=self.budget)
        check = SelfCheck(
            len(picked),
            self.climb.difference,
            self.climb.tolerance,
            self.climb.rung.name,
            (*self._without, *self.climb.refused),
        )
        if key:
            kept_checks.keep(key, check, longest=longest)
        return check

    def _side(self, row: TokenRow) -> Side:
        return side(self.boundaries, len(self.prefix or ()), len(row.context), row.whole_length)

    def _kept_under(self, rungs: Sequence[Rung], prompts: Sequence[Prompt]) -> str:
        """The name under which the verdict on these rungs is kept; empty if the files of the model are not known."""
        if not self.identity:
            return ""
        return kept_checks.key(
            weights=self.identity,
            dtype=self.dtype,
            device=self._device_name(),
            attention=getattr(self.model.config, "_attn_implementation", ""),
            spread=getattr(self.model, "hf_device_map", None) is not None,
            versions=[torch.__version__, transformers.__version__, __version__],
            paths=[rung.name for rung in rungs],
            letters=[rung.letters for rung in rungs],
            sides=sorted(self._sides),
            options=max(prompt.k for prompt in prompts),
            chat=sorted({prompt.chat for prompt in prompts}),
        )

    def _device_name(self) -> str:
        if self.device == "cuda":
            return str(torch.cuda.get_device_name(self.decoder.device))
        return f"{self.device} {platform.machine()}"

    def _take(self, check: SelfCheck, rungs: Sequence[Rung]) -> bool:
        rung = next((rung for rung in rungs if rung.name == check.rung), None)
        if rung:
            self.climb = Climb(rung, check.largest_difference, check.tolerance, check.refused)
        return rung is not None

    def score(self, prompts: Sequence[Prompt]) -> Iterator[OptionLogits]:
        """Yield each batch's option log-probabilities, with -inf behind the options of prompts that have fewer."""
        return self.score_packed(self.packed(prompts))

    def packed(self, prompts: Sequence[Prompt]) -> PackedRows:
        texts = any(prompt.continuations for prompt in prompts)
        return PackedRows(tuple(p.question_id for p in prompts), tuple(self._row(p) for p in prompts), texts)

    def score_packed(self, packed: PackedRows) -> Iterator[OptionLogits]:
        rows = packed.rows
        rung = self._rung(rows)
        behind, prefix = shared_part(rung, rows, self.prefix)
        plan = self._plan(rung, rows, prefix)

        def compute(batch: list[int]) -> Sums:
            return rung.compute([behind[i] for i in batch], prefix)

        for batch, sums in work_through([rung.cost(row) for row in behind], compute, plan=plan, budget=self.budget):
            tops = self.encoder.words(sums.tops) if isinstance(sums, LetterSums) else None
            part = PackedRows(tuple(packed.ids[i] for i in batch), tuple(rows[i] for i in batch), packed.texts)
            yield _logits(part, sums, tops)

    def _plan(
        self, rung: Rung, rows: Sequence[TokenRow], prefix: Prefix | None
    ) -> Callable[[Sequence[int]], list[list[int]]]:
        copies = rung.copies(rows)

        def plan(widths: Sequence[int]) -> list[list[int]]:
            return self.budget.batches(
                widths, prefix=len(prefix or ()), copies=copies, equal=rung.repeats, masked=rung.masked
            )

        return plan

    def batches(self, prompts: Sequence[Prompt]) -> list[list[Prompt]]:
        rows = [self._row(prompt) for prompt in prompts]
        rung = self._rung(rows)
        behind, prefix = shared_part(rung, rows, self.prefix)
        parts = self._plan(rung, rows, prefix)([rung.cost(row) for row in behind])
        return [[prompts[i] for i in batch] for batch in parts]

    def setup(self) -> EngineSetup:
        """How another engine of the same model scores the prepared and checked prompts as this one does."""
        return EngineSetup(
            prefix=self.prefix.tokens if self.prefix else (),
            prefix_lengths=self.prefix.lengths if self.prefix else (),
            rung=self.climb.rung.name if self.climb else "",
            sides=self._sides,
            letters=any(rung.letters for rung in self.rungs),
            long=not any(rung.masked for rung in self.rungs),
            tokens=self.budget.tokens,
            bytes=self.budget.bytes,
            rows=self.budget.rows,
            threads=torch.get_num_threads(),
        )

    def take_setup(self, setup: EngineSetup) -> None:
        """Compute the shared prefix, and take the path and the limits of the engine that gave this setup."""
        torch.set_num_threads(setup.threads)
        self.prefix = Prefix(self.decoder, setup.prefix, setup.prefix_lengths) if setup.prefix else None
        self._sides = setup.sides
        self.rungs = ladder(self.decoder, letters=setup.letters, prefix=bool(setup.prefix), long=setup.long)
        rung = next((rung for rung in self.rungs if rung.name == setup.rung), None)
        self.climb = Climb(rung, 0.0, 0.0, ()) if rung else None
        self.budget.tokens, self.budget.bytes, self.budget.rows = setup.tokens, setup.bytes, setup.rows

    def joins(self, prompts: Sequence[Prompt]) -> bool:
        return self.encoder.joins(prompts)

    def write(
        self, prompts: Sequence[Prompt], *, repeats: int, seeds: Sequence[int]
    ) -> Iterator[tuple[int, list[str]]]:
        """The index of each prompt with ``repeats`` answers of at most :data:`WRITTEN` tokens, sampled at temperature 1
        from the whole distribution."""
        for i, (prompt, seed) in enumerate(zip(prompts, seeds, strict=True)):
            yield i, self._written(prompt, repeats=repeats, seed=seed)

    def _written(self, prompt: Prompt, *, repeats: int, seed: int) -> list[str]:
        context = self.encoder.rows([prompt])[0].context
        most = room(self.encoder, context, most=WRITTEN)
        with torch.random.fork_rng(devices=[self.decoder.device] if self.device == "cuda" else []):
            torch.manual_seed(seed)
            texts: list[str] = continuations(
                self.model, self.encoder.tokenizer, [context], most=most, repeats=repeats, sampling=SAMPLED
            )
        return texts

    def _shared(self, rows: Sequence[TokenRow]) -> tuple[Prefix | None, tuple[str, ...]]:
        """The cache of the rows' common beginning, computed once; or None, and why this model can't use one."""
        shared = shared_tokens(rows)
        if not shared:
            return None, ()
        if self._long(rows, behind=len(shared)):
            return None, ("prefix cache: rows are so long that a mask over it would take too much memory",)
        try:
            return Prefix(self.decoder, shared, [row.whole_length for row in rows]), ()
        except WRONG_PATH as error:
            reason = refusal(error)
        free(self.decoder.device)
        return None, (f"prefix cache: {reason}",)

    def _long(self, rows: Sequence[TokenRow], *, behind: int = 0) -> bool:
        """Whether the longest row, without the first ``behind`` tokens, is too long for a mask."""
        return not masks.fits_mask(max(row.tree_length for row in rows) - behind, behind=behind)

    def _rung(self, rows: Sequence[TokenRow]) -> Rung:
        """The selected path, or one option at a time if none was selected, if it can't take these rows or if one of
        them is on another side of a boundary than all that were checked."""
        if self.climb and self.climb.rung.takes(rows, self.prefix) and self._sides >= {self._side(row) for row in rows}:
            return self.climb.rung
        return ladder(self.decoder, letters=all(row.is_letters for row in rows), prefix=False)[-1]

    def _row(self, prompt: Prompt) -> TokenRow:
        row = self._rows.get(prompt.question_id)
        return row if row is not None else self.encoder.rows([prompt])[0]


def _logits(scored: PackedRows, sums: Sums, tops: tuple[str, ...] | None) -> OptionLogits:
    """The scores as a record. For letters it has their share of all probability and the most probable token of all, for
    texts the number of their tokens."""
    logits = rectangle(sums, fill=-np.inf).astype(np.float32)
    if not scored.texts:
        return OptionLogits(scored.ids, logits, np.exp(logits).sum(axis=1), top_tokens=tops)
    tokens = rectangle([[len(option) for option in row.options] for row in scored.rows], fill=0).astype(np.int32)
    return OptionLogits(scored.ids, logits, np.full(len(scored.ids), np.nan, dtype=np.float32), tokens)
