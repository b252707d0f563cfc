"""The pages of formulas, generated from the tables and the docstrings of the code that computes them."""

import ast
from collections.abc import Iterable
from pathlib import Path

from core.calibration.recalibration import METHODS
from core.conformal.scores import SCORES
from core.conformal.threshold import THRESHOLDS
from core.jury.adjudication import RULES
from core.jury.confidence import CONFIDENCES
from core.settings import ROOT
from docs.docstrings import markdown


def scores() -> str:
    """Every nonconformity score with its formula, its source and an example."""
    rows = [(f"[{score.title}](#{name})", f"`{name}`", score.formula, score.source) for name, score in SCORES.items()]
    parts = [
        "# Scores",
        "A nonconformity score says how badly an option fits its question, by the model's probabilities p. A set holds "
        "every option whose score is at most the threshold. This page is generated from the table `SCORES`.",
        _table(("Score", "Name", "Formula", "Source"), rows),
    ]
    for name, score in SCORES.items():
        marks = [word for word, is_so in (("randomised", score.randomised), ("tuned", score.tuned)) if is_so]
        parts += [
            f"## {score.title} {{ #{name} }}",
            f"**{score.formula}**" + (f" ({', '.join(marks)})" if marks else ""),
        ]
        parts += [score.sentence, markdown(score.function.__doc__), f"Source: {score.source}."]
    return _page(parts)


def coverage() -> str:
    """Thresholds, coverage and the intervals of what is counted from sets."""
    rows = [(f"`{name}`", markdown(rule.__doc__).split("\n\n")[0]) for name, rule in THRESHOLDS.items()]
    return _page(
        [
            "# Thresholds, coverage and intervals",
            "How the threshold is counted, what coverage may be expected, and how each interval is formed. The "
            "sections are generated from the modules of `core/conformal`.",
            _table(("Threshold", "How it is counted"), rows),
            *_modules("conformal"),
        ]
    )


def calibration() -> str:
    """Calibration errors with their intervals, and the maps that recalibrate."""
    rows = [(f"`{name}`", markdown(fit.__doc__).split("\n\n")[0]) for name, fit in METHODS.items()]
    return _page(
        [
            "# Calibration",
            "How each calibration error is computed, and its interval. The sections are generated from the modules of "
            "`core/calibration`.",
            _table(("Recalibration", "How it is fitted"), rows),
            *_modules("calibration"),
        ]
    )


def juries() -> str:
    """The rules that combine verdicts, and the scales of confidence."""
    rules = [(rule.title, f"`{name}`", rule.sentence, rule.ties) for name, rule in RULES.items()]
    scales = [(confidence.title, f"`{name}`", confidence.sentence) for name, confidence in CONFIDENCES.items()]
    return _page(
        [
            "# Juries",
            "The rules that turn several verdicts into one, and how sure a juror is. The sections are generated from "
            "the modules of `core/jury`.",
            _table(("Rule", "Name", "What it does", "Ties"), rules),
            _table(("Confidence", "Name", "What it is"), scales),
            *_modules("jury"),
        ]
    )


def _modules(room: str) -> list[str]:
    """A heading and the docstring of every module of a folder of core."""
    parts = []
    for path in sorted((ROOT / "core" / room).glob("*.py")):
        text = markdown(ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))))
        if path.stem != "__init__" and text:
            parts += [f"## {_title(path)}", text]
    return parts


def _title(path: Path) -> str:
    words = path.stem.replace("_", " ")
    return words[0].upper() + words[1:]


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join(f"| {' | '.join(map(_cell, line))} |" for line in lines)


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())


def _page(parts: Iterable[str]) -> str:
    return "\n\n".join(part for part in parts if part) + "\n"
