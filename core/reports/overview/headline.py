"""The Overview's answer in words: which model has the smallest sets on a task, and by how much."""

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from core.conformal.alpha import THOUSAND
from core.conformal.scores import SCORES
from core.questions.bank_names import task_title
from core.reports.overview.matrix import LEAST_EMPTY, SAME_QUESTIONS
from core.reports.run_filter import task_key, task_order


def headline(table: pd.DataFrame, names: Mapping[str, str], score: str, alpha: int, *, task: str = "") -> str:
    """Sentences about the runs of an overview frame on one task at ``alpha`` thousandths; empty if there are no runs.
    ``names`` maps each run to its name. The task is the one with the key ``task`` if some run has it, otherwise the one
    with the most runs on the same questions. Only these runs are compared, and all figures are those of the frame. The
    sentence compares the observed figures. If the 95% intervals of two mean set sizes overlap, it says so, because
    other questions could reverse the order.
    """
    if table.empty:
        return ""
    best, *others = _by_size(table, score, task).to_dict("records")
    by = "" if score == "lac" else f" by {SCORES[score].title}"
    clauses = [
        f"On {task_title(best['task'], best['bank'])}, {names[best['run']]} is right on {_share(best['accuracy'])} of "
        f"questions and needs {_options(best, score)} of {best['k']} options at alpha {alpha / THOUSAND:g}{by}"
    ]
    if not others:
        return f"{clauses[0]}.{_small_because(best, names, score, alpha)}"
    second = others[0]
    clauses.append(
        f"{names[second['run']]} is right on {_share(second['accuracy'])} and needs {_options(second, score)}"
    )
    text = f"{'; '.join(clauses)}."
    if second[f"{score}_set_size_low"] <= best[f"{score}_set_size_high"]:
        text += " The 95% intervals of these two set sizes overlap, so their order may be chance."
    if len(others) == 2:
        text += f" {names[others[1]['run']]} needs {_options(others[1], score)}."
    elif len(others) > 2:
        text += f" The other {len(others) - 1} need up to {_options(others[-1], score)}."
    return text + _small_because(best, names, score, alpha)


def by_size(table: pd.DataFrame, score: str, *, task: str = "") -> list[str]:
    """The runs that :func:`headline` compares, those with the smallest sets first."""
    return [] if table.empty else _by_size(table, score, task)["run"].tolist()


def _by_size(table: pd.DataFrame, score: str, task: str) -> pd.DataFrame:
    by = [f"{score}_set_size", "accuracy", "run"]
    return _compared(table, task).sort_values(by, ascending=[True, False, True])


def _compared(table: pd.DataFrame, task: str) -> pd.DataFrame:
    """The largest group of runs on the same questions, of the requested task if there is one."""
    keys = pd.Series(
        [task_key(name, bank) for name, bank in table[["task", "bank"]].itertuples(index=False)], index=table.index
    )
    if (keys == task).any():
        table = table[keys == task]
    groups = table.assign(key=keys).groupby(SAME_QUESTIONS)
    sizes = groups.agg(key=("key", "first"), models=("model", "nunique"), runs=("run", "size"))
    in_order = sorted(sizes.itertuples(), key=lambda group: task_order(str(group.key)))
    best = max(in_order, key=lambda group: (group.models, group.runs))  # the first of equally large groups
    return table.take(np.asarray(groups.indices[best.Index]))


def _options(run: Mapping[Hashable, Any], score: str) -> str:
    return f"{run[f'{score}_set_size']:.1f}"


def _share(share: float) -> str:
    return f"{100 * share:.0f}%"


def _small_because(run: Mapping[Hashable, Any], names: Mapping[str, str], score: str, alpha: int) -> str:
    """A warning if the sets are small because some are empty, or because too few of them hold the truth."""
    empty = run[f"{score}_empty_rate"]
    warning = f" {_share(empty)} of the sets of {names[run['run']]} are empty." if empty >= LEAST_EMPTY else ""
    if run[f"{score}_coverage"] >= run[f"{score}_coverage_low"]:
        return warning
    return warning + (
        f" But only {_share(run[f'{score}_coverage'])} of the sets of {names[run['run']]} contain the truth. Where "
        f"{(THOUSAND - alpha) / (THOUSAND // 100):g}% are promised, chance alone rarely gives so few."
    )
