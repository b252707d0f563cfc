"""A causal language model in two parts: a body, and the head that maps hidden states to the vocabulary.

The body turns tokens into hidden states. The head turns hidden states into logits over the vocabulary. Only positions
whose token is scored pass through the head, a few at a time, so the logits of a whole batch are never in memory.

In many architectures the head is more than a matrix (soft-capping in Gemma 2, scaling in Granite and Cohere,
multipliers in Falcon-H1). So the model's own ``forward`` computes it: for that call, the body is replaced by a
stand-in that returns the given hidden states. If a model can't be split (:attr:`Decoder.splits`), the whole model runs.
"""

import copy
import inspect
from collections.abc import Iterator, Sequence
from typing import Any

import torch
from transformers import DynamicCache

from core.models.output_head import give_float32
from core.models.rope_lengths import Regime, ropes_of_length, stated_lengths
from core.models.rows import check_vocabulary

VOCABULARY_BYTES = {"cpu": 64 << 20, "mps": 256 << 20, "cuda": 1 << 30}
"""The most bytes for the logits of one piece of positions, including what is computed from them."""

CACHE_BYTES = {"cpu": 512 << 10}
"""On a CPU, the part of a piece's logits that stays in the processor's cache; on other devices a whole piece is summed
at once."""

PROBE = (1, 2, 3)
EXACT = 1e-3
"""Largest relative difference between the model and its head on its body's states; half precision gets eight steps."""


class _StandIn(torch.nn.Module):  # type: ignore[misc]
    """Returns the body's outputs and has its attributes (Falcon-H1's head reads a multiplier from it)."""

    def __init__(self, body: Any, outputs: Any) -> None:
        super().__init__()
        self.__dict__["body"] = body
        self.__dict__["outputs"] = outputs

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["body"], name)

    def forward(self, *_: Any, **__: Any) -> Any:
        """The stored outputs, whatever the arguments."""
        return self.__dict__["outputs"]


class Decoder:
    """``model`` in evaluation mode, with its body found."""

    def __init__(self, model: Any) -> None:
        give_float32(model)
        self.model = model
        self._ropes = ropes_of_length(model)
        self.device: torch.device = model.get_input_embeddings().weight.device
        self.vocabulary = int(model.get_input_embeddings().weight.shape[0])
        self._leaves_out = "logits_to_keep" in inspect.signature(model.forward).parameters
        self._parent, self._name, self._outputs = self._find_body()

    def regime(self, length: int) -> Regime:
        """What the length of a whole text decides in this model. Texts of one regime are computed in the same way."""
        return tuple(value for rope in self._ropes for value in rope.regime(length))

    @property
    def splits(self) -> bool:
        """Whether body and head run separately."""
        return self._outputs is not None

    def tokens(self, rows: Sequence[Sequence[int]]) -> torch.Tensor:
        """Rows padded on the right with token 0, (rows, longest)."""
        padded = torch.zeros(len(rows), max(len(row) for row in rows), dtype=torch.long)
        for i, row in enumerate(rows):
            padded[i, : len(row)] = torch.tensor(row, dtype=torch.long)
        return padded.to(self.device)

    def new_cache(self) -> Any:
        """An empty key-value cache for this model's layers."""
        return DynamicCache(config=self.model.config)

    @torch.inference_mode()  # type: ignore[untyped-decorator]
    def hidden(
        self,
        tokens: torch.Tensor,
        *,
        cache: Any = None,
        positions: torch.Tensor | None = None,
        mask: Any = None,
        lengths: Sequence[int] | None = None,
    ) -> torch.Tensor:
        """Hidden states (rows, width, size) of ``tokens`` (rows, width), which follow what ``cache`` holds.

        The tokens are added to the cache. ``positions`` (rows, width) are the tokens' positions and ``mask`` is what
        they attend to; by default each token attends to all tokens before it. ``lengths`` are the numbers of tokens
        of the rows' whole texts, to which ``tokens`` belong; by default, the longest row decides for all rows.

        Raises :class:`~core.errors.InputError` if a token is not in the model's vocabulary.
        """
        check_vocabulary(int(tokens.max()), vocabulary=self.vocabulary)
        arguments: dict[str, Any] = {"input_ids": tokens, "use_cache": cache is not None}
        if cache is not None:
            arguments["past_key_values"] = cache
        if positions is not None:
            arguments["position_ids"] = positions
        if mask is not None:
            arguments["attention_mask"] = mask
        with stated_lengths(self._ropes, lengths):
            if not self.splits:
                return self.model(**arguments).logits
            return getattr(self._parent, self._name)(**arguments).last_hidden_state

    @torch.inference_mode()  # type: ignore[untyped-decorator]
    def log_probabilities(self, hidden: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
        """Log-probabilities (m, t), float32, of ``tokens`` (m, t) after each of m ``hidden`` states (m, size)."""
        return torch.cat([scored for scored, _ in self._scored(hidden, tokens)])

    @torch.inference_mode()  # type: ignore[untyped-decorator]
    def with_top(self, hidden: torch.Tensor, tokens: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """The log-probabilities, and the most probable token of the vocabulary after each state, (m,)."""
        parts = [(scored, logits.argmax(dim=-1)) for scored, logits in self._scored(hidden, tokens)]
        return torch.cat([scored for scored, _ in parts]), torch.cat([top for _, top in parts])

    def _scored(self, hidden: torch.Tensor, tokens: torch.Tensor) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
        """Log-probabilities of a few states at a time, with the logits they were computed from."""
        for start, logits in self.logits(hidden):
            wanted = tokens[start : start + len(logits)].to(logits.device)
            yield logits.gather(1, wanted) - self._log_sums(logits), logits

    def logits(self, hidden: torch.Tensor, *, copies: int = 2) -> Iterator[tuple[int, torch.Tensor]]:
        """Logits over the whole vocabulary, float32, after each of m ``hidden`` states (m, size), a few states at a
        time.

        Yields the index of the first state and an array (few, vocabulary). ``copies`` of it fit into the memory limit.
        """
        size = int(self.model.config.get_text_config().vocab_size)
        step = max(1, VOCABULARY_BYTES.get(self.device.type, 64 << 20) // (4 * copies * size))
        for start in range(0, len(hidden), step):
            with torch.inference_mode():
                piece = self._head(hidden[start : start + step]).float()
            yield start, piece

    @torch.inference_mode()  # type: ignore[untyped-decorator]
    def whole(self, tokens: Sequence[int], *, last: int | None = None) -> torch.Tensor:
        """The reference: logits (width, vocabulary) of one row by the model's own call, or only those of its ``last``
        places. The logits of 32,000 tokens over a vocabulary of 150,000 would take 19 GB, so a model that can omit the
        other places does so.
        """
        check_vocabulary(max(tokens), vocabulary=self.vocabulary)
        row = torch.tensor([list(tokens)], dtype=torch.long, device=self.device)
        arguments: dict[str, Any] = {"logits_to_keep": last} if last and self._leaves_out else {}
        logits = self.model(input_ids=row, use_cache=False, **arguments).logits[0]
        return (logits[-last:] if last else logits).float()

    def _log_sums(self, logits: torch.Tensor) -> torch.Tensor:
        """log Σ exp of each row, (m, 1), a few rows at a time, so that the exponentials stay in the processor's
        cache."""
        room = CACHE_BYTES.get(self.device.type)
        few = max(1, room // (4 * logits.shape[1])) if room else len(logits)
        return torch.cat([part.logsumexp(dim=-1, keepdim=True) for part in logits.split(few)])

    def _head(self, hidden: torch.Tensor) -> torch.Tensor:
        if not self.splits:
            return hidden
        outputs = copy.copy(self._outputs)
        outputs["last_hidden_state"] = hidden[None]
        body = getattr(self._parent, self._name)
        setattr(self._parent, self._name, _StandIn(body, outputs))
        try:
            logits = self.model(input_ids=torch.zeros(1, 1, dtype=torch.long, device=self.device), use_cache=False)
            return logits.logits[0]
        finally:
            setattr(self._parent, self._name, body)

    @torch.inference_mode()  # type: ignore[untyped-decorator]
    def _find_body(self) -> tuple[Any, str, Any]:
        """The body's parent module, the body's attribute name, and an example of its outputs. The outputs are None if
        head(body(tokens)) differs from the model's own logits."""
        prefix = self.model.base_model_prefix
        parent = getattr(self.model, prefix, None)
        probe = torch.tensor([PROBE], device=self.device)
        expected = self.model(input_ids=probe, use_cache=False).logits[0]
        allowed = max(EXACT, 8 * torch.finfo(self.model.dtype).eps) * expected.abs().max()
        for holder, name in ((self.model, prefix), (parent, "decoder")):
            if not isinstance(getattr(holder, name, None), torch.nn.Module):
                continue
            try:
                outputs = getattr(holder, name)(input_ids=probe, use_cache=False)
                self._parent, self._name, self._outputs = holder, name, outputs
                if (self._head(outputs.last_hidden_state[0]) - expected).abs().max() <= allowed:
                    return holder, name, outputs
            except (AttributeError, TypeError, KeyError):
                continue
        return self.model, prefix, None
