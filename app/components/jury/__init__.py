"""A jury's verdicts, live: a person switches the rule, moves the threshold, and opens each answer.

Every rule's verdicts and figures are computed in Python. They are sent without intervals first, and once more with
them, because intervals take a while. ``verdicts.js`` orders them, ``cases.js`` shows an answer, and ``jury.js``
combines them. As in the Alpha lab, data stays the same between reruns. The browser's starting state changes only if
something other than the component changed the view.
"""

from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa

from app import state
from app.components.shared.bundled import component
from app.components.shared.messages import message_texts
from app.components.shared.seed import browser_shows, seed
from app.state.jury import JuryView
from core.jury.adjudication import Rule, rules_in_words
from core.jury.experiment import MEASURES
from core.reports.jury import JurySplit, RulesOfJury
from core.reports.jury_answer import jury_answer

KEY = "jury"
NAMES = ("rule", "at", "cases", "order", "card")
"""The fields of a view that the component shows and changes."""

_mount = component("jury", Path(__file__).with_name("jury.html"))


def jury(bench: JurySplit, rules: RulesOfJury, *, complete: bool, version: str, view: JuryView, pairwise: bool) -> None:
    """Mount one split's answers (``bench``) with the figures of every rule.

    The intervals are known if ``complete``. ``version`` identifies the answers. If ``pairwise``, an answer is a pair,
    and True means that the first one is better.
    """
    tried, risk, words = rules.experiment, rules.risk, rules_in_words(pairwise=pairwise)
    start = seed(KEY, version, _shown(view))
    answer = jury_answer(tried, pairwise=pairwise)
    texts = ["id", "question", "answer"]
    _mount(
        key=KEY,
        data={
            "version": version,
            "jurors": list(bench.jurors),
            "rules": [
                _rule(outcome, words[outcome.rule], risk[risk["rule"] == outcome.rule], answer.constant)
                for outcome in tried.outcomes
            ],
            "complete": complete,
            "rows": pa.Table.from_pandas(_numbers(bench), preserve_index=False),
            "texts": pa.Table.from_pandas(bench.rows[texts], preserve_index=False),
            "pairwise": pairwise,
            "splits": len(tried.protocol.seeds),
            "answer": answer.headline if complete else "Comparing the rules …",
            "detail": answer.detail,
            "constant": answer.constant,
            "view": start.start,
            "revision": start.revision,
        },
        on_view_change=_take_view,
    )


def _numbers(bench: JurySplit) -> Any:
    """The rows without their texts, with verdicts as 0, ½ and 1."""
    rows = bench.rows.drop(columns=["id", "question", "answer"])
    verdicts = [name for name in rows.columns if name[:2] == "r_" or name[:1] == "v"]
    return rows.astype({"label": "uint8", **dict.fromkeys(verdicts, "float32")})


def _rule(outcome: Any, about: Rule, risk: pd.DataFrame, constant: str) -> dict[str, Any]:
    leads = {"majority": outcome.to_majority, "constant": getattr(outcome, f"to_{constant}")}
    return {
        "name": outcome.rule,
        "title": about.title,
        "sentence": about.sentence,
        "ties": about.ties,
        "published": about.published,
        "measures": {name: getattr(outcome, name).value for name in MEASURES},
        "intervals": {name: _known([getattr(outcome, name).low, getattr(outcome, name).high]) for name in MEASURES},
        "gains": {name: _known([lead.value, lead.low, lead.high]) for name, lead in leads.items()},
        "risk": {name: _known(risk[name].tolist()) for name in ("answered", "wrong", "low", "high")},
    }


def _known(values: list[float]) -> list[float | None]:
    return [None if value != value else value for value in values]


def _shown(view: JuryView) -> dict[str, Any]:
    return {name: getattr(view, name) for name in NAMES}


def _take_view() -> None:
    reported = message_texts(KEY, "view")
    view = state.read_changes(JuryView, {name: reported[name] for name in NAMES if name in reported})
    browser_shows(KEY, _shown(view))
