"""Every figure of runs that can be written into a file, by name: its title, its caption, and what draws it."""

import math
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from charts import heat_map
from charts.accuracy_and_set_size import accuracy_against_size
from charts.bars import BY_SCORE, bars
from charts.by_alpha import LETTER, coverage_by_alpha, name_width, set_size_by_alpha
from charts.figure import Figure
from charts.forests import run_forest
from charts.measures import MEASURES
from charts.radar import radar
from charts.reliability_diagram import Diagram, reliability_panels
from charts.risk_curves import risk_curves
from charts.run_names import full_names, told_apart, unique
from charts.run_styles import legend_rows
from charts.sets_by_size import sets_by_size
from charts.sizes_when_right import sizes_when_right
from core.conformal.scores import SCORES
from core.estimates import interval_text
from core.reports import frames
from core.reports.by_alpha import by_alpha
from core.reports.calibration import calibrated
from core.reports.calibration.calibrated import CalibrationFigures
from core.reports.caveats import in_one, of_run
from core.reports.compare import benchmark, selective, side_by_side
from core.reports.compare.benchmark import SetRule
from core.reports.evaluation import Evaluation
from core.reports.report import shown
from core.runs.caveats import COLUMN

PANEL = 150
"""The fewest units across that a panel needs."""
STAR = 145
"""The fewest units across that a star of a radar needs, with the names of its axes."""
RISK_POINTS = 200
LEGEND = 0.7
"""The share of the width that a name in a legend has."""
NAMES = 0.36
"""The share of the width that a name in front of a row has."""
INTERVALS = "A line is a 95% interval."
OF_SETS = "A line is a 95% interval that covers the random draw of calibration and test questions."
BAND = "The gold band is where coverage lies for 95% of draws if the guarantee holds"


@dataclass(frozen=True, slots=True)
class Drawing:
    """A figure with what it needs away from its page: a title, and a caption that says how to read it.

    ``free`` says that its height may be chosen, not counting its rows of a legend; otherwise its own rows decide.
    ``square`` keeps panels as high as they are wide.
    """

    figure: Figure
    title: str
    reading: str = ""
    free: bool = False
    legend_rows: int = 0
    square: bool = False


@dataclass(frozen=True)
class FigureRequest:
    """Runs and the rule of their sets, with what several figures need computed once. ``units`` is the width of the
    drawing; figures of several panels have as many columns as fit."""

    runs: Sequence[Evaluation]
    rule: SetRule
    units: float = 640.0

    @property
    def score(self) -> str:
        """The score of figures that show one."""
        return self.rule.scores[0]

    @property
    def at(self) -> str:
        """Alpha, as a title says it."""
        return f"alpha {self.rule.alpha / 1000:g}"

    @cached_property
    def rows(self) -> pd.DataFrame:
        """Every run's figures by every score (:func:`core.reports.compare.benchmark.run_rows`)."""
        return benchmark.run_rows(self.runs, benchmark.reports(self.runs, self.rule))

    @cached_property
    def of_score(self) -> pd.DataFrame:
        """The figures by :attr:`score`."""
        return self.rows[self.rows["score"] == self.score]

    @cached_property
    def caveats(self) -> list[str]:
        """The caveats of each run as text; empty for a run without any."""
        return [in_one(of_run(run, method=self.rule.method)) for run in self.runs]

    @cached_property
    def names(self) -> list[str]:
        """A name for each run with its task; no two are alike. A run with caveats is marked."""
        specs = [
            {"model": run.spec.model_name, "task": run.spec.task, "bank": run.bank, COLUMN: text}
            for run, text in zip(self.runs, self.caveats, strict=True)
        ]
        settings = [
            {name: getattr(run.spec, name) for name in ("strategy", "shots", "form", "dtype")} for run in self.runs
        ]
        return full_names(pd.DataFrame([spec | more for spec, more in zip(specs, settings, strict=True)]))

    @cached_property
    def short_names(self) -> list[str]:
        """The names without what all of them share."""
        return unique(told_apart(self.names))

    @cached_property
    def lines(self) -> pd.DataFrame:
        """Coverage and set size at every alpha (:func:`core.reports.by_alpha.by_alpha`)."""
        rule = self.rule
        return by_alpha(self.runs, self.broken(LEGEND), rule.alpha, self.score, method=rule.method, empty=rule.empty)

    @property
    def legend_rows(self) -> int:
        """The rows of a legend of all runs."""
        names = self.broken(LEGEND)
        lines = max(name.count("\n") + 1 for name in names)
        return 0 if len(names) == 1 else lines * math.ceil(len(names) / max(1, self.units // name_width(names)))

    @property
    def columns(self) -> int:
        """How many panels, one for each run, stand side by side."""
        return self.panels(PANEL)

    def panels(self, least: float) -> int:
        """How many panels of at least this many units stand side by side, with rows about equally full."""
        return columns_of(len(self.runs), self.units, least)

    def broken(self, share: float) -> list[str]:
        """The short names in lines that take this share of the width."""
        letters = max(12, int(share * self.units / LETTER))
        return unique("\n".join(textwrap.wrap(name, letters)) for name in self.short_names)


def columns_of(n: int, units: float, least: float) -> int:
    """How many of n panels of at least ``least`` units stand side by side, with rows about equally full."""
    rows = math.ceil(n / max(1, int(units // least)))
    return math.ceil(n / rows)


def _reliability(request: FigureRequest) -> list[Drawing]:
    figures = [calibrated.calibrated(run)[0] for run in request.runs]
    return [reliability(request.broken(0.8 / request.columns), figures, request.columns)]


def reliability(names: Sequence[str], every: Sequence[CalibrationFigures], columns: int) -> Drawing:
    """Reliability diagrams side by side, each with its name."""
    diagrams = []
    for name, figures in zip(names, every, strict=True):
        ece = figures.estimates["ece"]
        notes = (
            f"ECE {ece.value:.3f} (chance {ece.bias or 0:.3f})",
            f"beyond chance {shown(ece.excess)},",
            interval_text(ece.low, ece.high),
        )
        diagrams.append(Diagram(name, calibrated.bins_frame(figures), notes))
    reading = (
        f"On the dashed line, accuracy equals confidence. Each mark is one of {every[0].bins} bins with the "
        "Clopper–Pearson 95% interval of its accuracy. In the gold area, the accuracy of a calibrated model lies in at "
        "least 95 of 100 samples. Grey bars are the bins' shares of the questions. ECE is the expected calibration "
        "error; the range is the 95% interval of the error beyond chance."
    )
    figure = reliability_panels(diagrams, columns)
    return Drawing(figure, "Reliability: accuracy against confidence", reading, square=True)


def _coverage_by_alpha(request: FigureRequest) -> list[Drawing]:
    first = "" if len(request.runs) == 1 else " for the first run"
    reading = (
        f"The dashed line is what is promised, 1 − alpha. {BAND}{first}. Marks show {request.at}. Questions are the "
        "test questions."
    )
    figure = coverage_by_alpha(request.lines, request.rule.alpha / 1000)
    return [
        Drawing(
            figure, f"Coverage of {SCORES[request.score].title} sets at every alpha", reading, True, request.legend_rows
        )
    ]


def _set_size_by_alpha(request: FigureRequest) -> list[Drawing]:
    title = SCORES[request.score].title
    reading = f"The mean number of options in a test question's set. Marks show {request.at}."
    figure = set_size_by_alpha(request.lines, request.rule.alpha / 1000, title)
    return [Drawing(figure, f"Mean size of {title} sets at every alpha", reading, True, request.legend_rows)]


def _sizes(request: FigureRequest, names: Sequence[str]) -> pd.DataFrame:
    return side_by_side.size_shares(request.runs, names, request.rule.alpha, request.score)


def _sets_by_size(request: FigureRequest) -> list[Drawing]:
    figure = sets_by_size(_sizes(request, request.broken(0.8 / request.columns)), request.score, request.columns)
    reading = "The share of the test questions' sets that have each number of options. A set with none is empty."
    return [
        Drawing(
            figure,
            f"How large {SCORES[request.score].title} sets are at {request.at}",
            reading,
            free=len(request.runs) == 1,
        )
    ]


def _forest(request: FigureRequest) -> list[Drawing]:
    figure = run_forest(request.of_score.assign(name=request.broken(NAMES)), request.score, request.rule.alpha / 1000)
    reading = (
        "A line is a 95% interval: Clopper–Pearson for accuracy; for set size it covers the random draw of calibration "
        f"and the test questions. {BAND}, around what is promised."
    )
    return [Drawing(figure, f"Accuracy, coverage and set size at {request.at}", reading)]


def _accuracy_and_size(request: FigureRequest) -> list[Drawing]:
    panels = accuracy_against_size(
        frames.overview(request.runs, request.rule.alpha, request.rule.scores), request.score
    )
    named = [f", on {panel.title}" if len(panels) > 1 else "" for panel in panels]
    reading = f"{INTERVALS} That of set size also covers the random draw of calibration questions."
    return [
        Drawing(
            panel.figure,
            f"Accuracy, and set size at {request.at}{on}",
            reading,
            free=True,
            legend_rows=legend_rows(list(dict.fromkeys(panel.figure.frame["model"])), request.units),
        )
        for panel, on in zip(panels, named, strict=True)
    ]


def _heat_map(measure: str) -> Callable[[FigureRequest], list[Drawing]]:
    def drawn(request: FigureRequest) -> list[Drawing]:
        # Only figures of sets depend on alpha and the score.
        sets = f" by {SCORES[request.score].title}, {request.at}" if measure in BY_SCORE else ""
        reading = "The stronger the blue of a cell, the larger its figure."
        return [Drawing(heat_map.heat_map(request.of_score, measure), MEASURES[measure][0] + sets, reading)]

    return drawn


def _bars(measure: str) -> Callable[[FigureRequest], list[Drawing]]:
    def drawn(request: FigureRequest) -> list[Drawing]:
        sets = f" at {request.at}" if measure in BY_SCORE else ""
        return [Drawing(bars(request.rows, measure), MEASURES[measure][0] + sets, READINGS[measure])]

    return drawn


READINGS = {
    "accuracy": "A line is the Clopper–Pearson 95% interval.",
    "coverage": "A line is the 95% band: if the guarantee holds, coverage lies in it for 95% of draws.",
    "mean_set_size": OF_SETS,
    "uacc": f"UAcc is accuracy · √k / mean set size. {OF_SETS}",
    "ece_excess": "The expected calibration error that chance does not explain (15 bins). A line is its 95% interval.",
}
"""From a measure to the caption of its bars."""


def _radar(request: FigureRequest) -> list[Drawing]:
    title = f"Five figures of each run, those of sets by {SCORES[request.score].title}, {request.at}"
    reading = "Each axis runs from 0 at the centre to the best possible value. The area has no meaning."
    columns = request.panels(STAR)
    figure = radar(request.of_score, names=request.broken(0.8 / columns), columns=columns)
    return [Drawing(figure, title, reading, square=True)]


def _set_sizes(request: FigureRequest) -> list[Drawing]:
    title = f"How large sets are by {SCORES[request.score].title}, {request.at}"
    return [
        Drawing(
            heat_map.set_sizes(_sizes(request, request.broken(NAMES))),
            title,
            "A cell is a share of the test questions' sets.",
        )
    ]


def _sizes_when_right(request: FigureRequest) -> list[Drawing]:
    frame = side_by_side.sizes_when_right(request.runs, request.broken(NAMES), request.rule.alpha, request.score)
    reading = "If a model's uncertainty is informative, its sets are larger where its top option is wrong."
    return [Drawing(sizes_when_right(frame), f"Set size where right and where wrong, {request.at}", reading)]


def _risk_coverage(request: FigureRequest) -> list[Drawing]:
    curves = pd.concat([risk_frame(run, name) for run, name in zip(request.runs, request.broken(LEGEND), strict=True)])
    reading = (
        "The share of wrong answers among the questions with the highest top probability. Ties count as the mean over "
        "their orders."
    )
    return [
        Drawing(risk_curves(curves), "Error if only the most certain are answered", reading, True, request.legend_rows)
    ]


def risk_frame(run: Evaluation, name: str) -> pd.DataFrame:
    """A run's risk–coverage curve, thinned to some points: ``name``, ``share``, ``risk``."""
    curve = selective.risk_coverage(run)
    m = len(curve.share)
    at = np.unique(np.linspace(0, m - 1, min(RISK_POINTS, m)).round().astype(int))
    return pd.DataFrame({"name": name, "share": curve.share[at], "risk": curve.risk[at]})


FIGURES: dict[str, Callable[[FigureRequest], list[Drawing]]] = {
    "reliability": _reliability,
    "coverage-by-alpha": _coverage_by_alpha,
    "set-size-by-alpha": _set_size_by_alpha,
    "sets-by-size": _sets_by_size,
    "forest": _forest,
    "accuracy-and-set-size": _accuracy_and_size,
    "risk-coverage": _risk_coverage,
    "sizes-when-right": _sizes_when_right,
    "set-sizes": _set_sizes,
    **{f"bars-{name.replace('_', '-')}": _bars(name) for name in MEASURES},
    **{f"heat-map-{name.replace('_', '-')}": _heat_map(name) for name in ("accuracy", "coverage", "mean_set_size")},
    "radar": _radar,
}
"""From a name of :data:`core.reports.figure_names.RUN_FIGURES` to what draws it: one drawing, or one for each task."""
