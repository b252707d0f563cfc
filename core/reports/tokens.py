"""Token evaluations and token views on disk, as ``hedge tokens`` writes them, for pages. Loads no torch."""

import math
import re
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from core.calibration.estimate import CalibrationEstimate
from core.errors import InputError
from core.models.model_fingerprint import short
from core.settings import ASSETS, settings
from core.storage.sealed import DamagedError, damage, read_json

KINDS = {"base": "base", "lora": "LoRA", "ard-lora": "ARD-LoRA"}
FIGURES = ("accuracy", "nll", "ece", "smooth_ece")
NEEDED = ("model", "kind", "data", "n_samples", "figures", "reliability", "bins", "seed")


@dataclass(frozen=True, slots=True)
class TokenResult:
    """One evaluation: its file, its name for people, and the file's contents."""

    path: Path
    name: str
    values: dict[str, Any]

    @property
    def kind(self) -> str:
        """``base``, ``lora`` or ``ard-lora``."""
        return str(self.values["kind"])

    @property
    def ships(self) -> bool:
        """Whether it ships with Hedge."""
        return self.path.is_relative_to(ASSETS)

    @property
    def weights(self) -> str:
        """The model's fingerprint; empty in files of older versions, which do not record it."""
        return str(self.values.get("weights", ""))


def results() -> tuple[tuple[TokenResult, ...], tuple[str, ...]]:
    """All evaluations, bundled ones first, and a sentence for each file that can't be read."""
    tokens, problems = [], []
    for folder in (ASSETS / "tokens", settings().home / "tokens"):
        for path in sorted(folder.glob("*.json")):
            try:
                tokens.append(read(path))
                _check_figures(tokens[-1])
            except InputError as error:
                problems.append(str(error))
            except (KeyError, TypeError, ValueError, AttributeError):  # of a file without a digest
                tokens.pop()
                problems.append(f"{path} is damaged, because its figures can't be used; {_way_out(path)}")
    return _with_distinct_names(tokens), tuple(problems)


def _check_figures(tokens: TokenResult) -> None:
    """Raise an error of Python if what the page shows of an evaluation has values of other kinds."""
    for figure in FIGURES:
        estimate_of(tokens, figure).text()
    for row in tokens.values["reliability"]:
        if row["n"] is None or not all(value is None or isinstance(value, (int, float)) for value in row.values()):
            raise TypeError("a bin has a value that is no number")
    variances_frame(tokens)
    if texts := tokens.values.get("texts"):
        counts, losses = np.array(texts["tokens"], dtype=np.int64), np.array(texts["loss"], dtype=np.float64)
        if counts.shape != losses.shape or (counts < 1).any() or not np.isfinite(losses).all():
            raise ValueError("the losses of the texts can't be used")
        str(texts["digest"])
    dict(tokens.values.get("uncertainty", {}))
    "".join(tokens.values.get("notes") or ())


def _with_distinct_names(token_results: list[TokenResult]) -> tuple[TokenResult, ...]:
    """The evaluations; the weights are added to names that are alike, as far as they were recorded."""
    times = Counter(tokens.name for tokens in token_results)
    return tuple(
        replace(tokens, name=f"{tokens.name}, weights {short(tokens.weights)}")
        if times[tokens.name] > 1 and tokens.weights
        else tokens
        for tokens in token_results
    )


def _way_out(path: Path) -> str:
    return "install Hedge again" if path.is_relative_to(ASSETS) else "delete it or evaluate again"


def read(path: Path) -> TokenResult:
    """The contents of an evaluation's file. Raises :class:`InputError` if it is not one."""
    try:
        values = read_json(path)
        if values.pop("file", path.name) != path.name:
            raise DamagedError("it is that of another file")
        lacks = [name for name in NEEDED if name not in values]
    except (OSError, ValueError, TypeError) as error:
        raise InputError(f"{path} is no token evaluation, or damaged ({damage(error)}); {_way_out(path)}") from error
    if lacks or values["kind"] not in KINDS:
        raise InputError(
            f"{path} is no token evaluation: it lacks {', '.join(lacks) or 'a known kind'}; evaluate again"
        )
    passes = f", {values['passes']} passes" if values.get("passes") else ""
    name = f"{values['model']} on {values['data']}{passes}, seed {values['seed']}"
    return TokenResult(path, name, values)


def figures_frame(token_results: tuple[TokenResult, ...]) -> pd.DataFrame:
    """One row per evaluation: its names, tokens, each figure with its interval and its part by chance, ranks."""
    rows = []
    for tokens in token_results:
        values = tokens.values
        row: dict[str, Any] = {"name": tokens.name, "kind": KINDS[tokens.kind], "tokens": values["n_samples"]}
        for figure in FIGURES:
            estimate = values["figures"][figure]
            # A file written before losses were counted without a floor has no such count.
            value = math.inf if estimate.get("infinite") else estimate["value"]
            row |= {figure: value, f"{figure}_low": estimate["low"], f"{figure}_high": estimate["high"]}
            if estimate["bias"] is not None:
                row[f"{figure}_luck"] = estimate["bias"]
            if estimate.get("excess") is not None:
                row[f"{figure}_excess"] = estimate["excess"]
        row["nll_infinite"] = values["figures"]["nll"].get("infinite")
        row |= {name: values.get("uncertainty", {}).get(name) for name in ("aleatoric", "epistemic")}
        row |= {"active_ranks": values.get("active_ranks"), "ranks": values.get("ranks")}
        rows.append(row)
    return pd.DataFrame(rows)


def estimate_of(tokens: TokenResult, figure: str) -> CalibrationEstimate:
    """A figure with its interval. Files of older versions have no error beyond chance."""
    values = tokens.values["figures"][figure]
    ends = {name: math.nan if values[name] is None else values[name] for name in ("low", "high")}  # no interval
    return CalibrationEstimate(**values | ends | ({"value": math.inf} if values["value"] is None else {}))


def reliability_frame(token_results: tuple[TokenResult, ...]) -> pd.DataFrame:
    """One row per evaluation and filled bin."""
    frames = [
        pd.DataFrame(tokens.values["reliability"]).assign(name=tokens.name, kind=KINDS[tokens.kind])
        for tokens in token_results
    ]
    table = pd.concat(frames, ignore_index=True)
    return table[table["n"] > 0].reset_index(drop=True)


PROJECTIONS = {"q_proj": "query", "k_proj": "key", "v_proj": "value", "o_proj": "output"}


def _layer_title(name: str) -> str:
    """A layer's place, counted from 1, and its part: ``1 query``. A name of another form stays as it is.

    >>> _layer_title("model.layers.0.self_attn.q_proj")
    '1 query'
    """
    match = re.fullmatch(r"model\.layers\.(\d+)\.\w+\.(\w+)", name)
    return f"{int(match[1]) + 1} {PROJECTIONS.get(match[2], match[2].removesuffix('_proj'))}" if match else name


def variances_frame(tokens: TokenResult) -> pd.DataFrame:
    """One row per layer and rank: the variance it adds and its share of the layer's largest; empty for other
    adapters."""
    rows = [
        {
            "layer": _layer_title(layer),
            "rank": rank,
            "variance": variance,
            "share": variance / max(ranks) if max(ranks) > 0 else 0.0,
        }
        for layer, ranks in tokens.values.get("variances", {}).items()
        for rank, variance in enumerate(ranks, start=1)
    ]
    return pd.DataFrame(rows, columns=["layer", "rank", "variance", "share"])


def recorded_views() -> dict[str, dict[str, Any]]:
    """The shipped token views by model."""
    views = {}
    for path in sorted((ASSETS / "tokens" / "views").glob("*.json")):
        try:
            values = read_json(path)
        except (OSError, DamagedError) as error:
            raise InputError(f"{path} is damaged ({damage(error)}); install Hedge again") from error
        views[str(values["model"])] = values
    return views
