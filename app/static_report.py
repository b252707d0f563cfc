"""Figures as files and the static report, without a server and without a browser.

    python -m app.static_report figures|html RUN... --out DIR [--alpha 0.1] [--score lac]

``python -m core export`` starts it. A figure is drawn by vl-convert from the same specification as on the page, in the
light theme's colours, with a title and its source. The report is one HTML file that needs no network: the runs'
figures as Python computed them, and the alpha lab itself with the runs' data inside.
"""

from __future__ import annotations

import argparse
import base64
import html
import json
import math
import re
import sys
import tomllib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from app.charts import compare
from app.charts.figure import Figure
from app.charts.overview import accuracy_against_size
from app.charts.tasks import task_labels
from core.conformal.alpha import thousandths
from core.conformal.scores import SCORE_NAMES, SCORES
from core.errors import HedgeError
from core.exchange.writing import write
from core.reports import frames
from core.reports.compare import benchmark, selective, side_by_side
from core.reports.compare.benchmark import SetRule
from core.reports.evaluation import Evaluation, load
from core.reports.report import shown_with
from core.runs import store
from core.runs.banks import labelled
from core.settings import ROOT

WIDTH = 640
SCALE = 2
LAB = ROOT / "app" / "components" / "alpha_lab"
SHOWN = ("accuracy", "coverage", "mean_set_size", "uacc", "ece_excess")
OF_SETS = ("coverage", "mean_set_size", "uacc")
"""Figures that alpha and the score change."""


@dataclass(frozen=True, slots=True)
class Theme:
    """The colours of one theme of ``.streamlit/config.toml``."""

    background: str
    second: str
    text: str
    border: str
    colors: tuple[str, ...]
    font: str


@cache
def theme(name: str) -> Theme:
    """``light`` or ``dark``."""
    settings = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))["theme"]
    of = settings[name]
    return Theme(
        of["backgroundColor"],
        of["secondaryBackgroundColor"],
        of["textColor"],
        of["borderColor"],
        tuple(of["chartCategoricalColors"]),
        settings["font"],
    )


# ---------------------------------------------------------------- figures


@dataclass(frozen=True, slots=True)
class Drawing:
    """A figure with what it needs away from its page: a title and where its figures come from."""

    figure: Figure
    title: str
    source: str


def drawings(runs: Sequence[Evaluation], asked: SetRule) -> list[Drawing]:
    """Every figure of a benchmark's runs."""
    made = benchmark.reports(runs, asked)
    rows = benchmark.run_rows(runs, made)
    score = asked.scores[0]
    of_score = rows[rows["score"] == score]
    names = unique(compare.short_names(of_score) + "  " + task_labels(of_score))
    source = _source(runs, asked)
    alpha, by = f"alpha {asked.alpha / 1000:.3f}", f"by {SCORES[score].title}"
    found = [
        Drawing(
            accuracy_against_size(frames.overview(runs, asked.alpha, asked.scores), score),
            f"Accuracy, and set size at {alpha}",
            source,
        )
    ]
    titles = {measure: title for measure, (title, _) in compare.MEASURES.items()}

    def title(measure: str, of_sets: str) -> str:
        """Only figures of sets depend on alpha and the score."""
        return titles[measure] + (of_sets if measure in OF_SETS else "")

    found += [
        Drawing(compare.heat_map(of_score, measure), title(measure, f" {by}, {alpha}"), source)
        for measure in ("accuracy", "coverage", "mean_set_size")
    ]
    found += [Drawing(compare.bars(rows, measure), title(measure, f" at {alpha}"), source) for measure in SHOWN]
    found.append(
        Drawing(
            compare.radar(of_score),
            f"Five figures of each run, those of sets {by}, {alpha}",
            source,
        )
    )
    shares = side_by_side.size_shares(runs, names, asked.alpha, score)
    found.append(Drawing(compare.set_sizes(shares), f"How large sets are {by}, {alpha}", source))
    when = side_by_side.sizes_when_right(runs, names, asked.alpha, score)
    found.append(Drawing(compare.sizes_when_right(when), f"Set size where right and where wrong, {alpha}", source))
    curves = pd.concat([risk_frame(run, name) for run, name in zip(runs, names, strict=True)])
    found.append(Drawing(compare.risk_curves(curves), "Error where only the surest are answered", source))
    return found


def unique(names: Iterable[str]) -> list[str]:
    """The names, with a number behind those that were there before."""
    seen: dict[str, int] = {}
    told = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        told.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return told


def risk_frame(run: Evaluation, name: str, *, points: int = 200) -> pd.DataFrame:
    """A run's risk–coverage curve, thinned to some points: ``name``, ``share``, ``risk``."""
    made = selective.risk_coverage(run)
    m = len(made.share)
    at = np.unique(np.linspace(0, m - 1, min(points, m)).round().astype(int))
    return pd.DataFrame({"name": name, "share": made.share[at], "risk": made.risk[at]})


def _source(runs: Sequence[Evaluation], asked: SetRule) -> str:
    questions = sum(len(run.test) for run in runs)
    return (
        f"Hedge · {len(runs)} runs, {questions:,} test questions · {asked.method} threshold · empty sets: {asked.empty}"
    )


def standalone(drawing: Drawing, *, name: str = "light") -> dict[str, Any]:
    """The figure's Vega-Lite specification with its data, title, source and a theme's colours."""
    look = theme(name)
    rows = json.loads(drawing.figure.frame.to_json(orient="records", double_precision=12))
    spec = {
        **drawing.figure.spec,
        "data": {"values": rows},
        "title": {"text": drawing.title, "subtitle": drawing.source, "anchor": "start", "offset": 14},
        "description": drawing.figure.alt,
        "background": look.background,
        "padding": 14,
    }
    if "facet" not in spec:
        spec["width"] = WIDTH
    axis = {"labelColor": look.text, "titleColor": look.text, "gridColor": look.border, "domainColor": look.border}
    spec["config"] = {
        "font": "DejaVu Sans, Arial, sans-serif",
        "range": {"category": list(look.colors)},
        "title": {"color": look.text, "subtitleColor": look.text, "fontSize": 16, "subtitleFontSize": 11},
        "axis": {**axis, "tickColor": look.border, "labelFontSize": 11, "titleFontSize": 12},
        "legend": {"labelColor": look.text, "titleColor": look.text},
        "header": {"labelColor": look.text, "labelFontSize": 12},
        "view": {"stroke": None},
        **drawing.figure.spec.get("config", {}),
    }
    return spec


def svg(drawing: Drawing) -> bytes:
    """The figure as SVG."""
    import vl_convert

    return str(vl_convert.vegalite_to_svg(standalone(drawing))).encode()


def png(drawing: Drawing) -> bytes:
    """The figure as PNG, two pixels a unit."""
    import vl_convert

    return bytes(vl_convert.vegalite_to_png(standalone(drawing), scale=SCALE))


def page(drawing: Drawing) -> bytes:
    """The figure as an HTML file of its own, with its scripts inside: hovers work offline."""
    import vl_convert

    return str(vl_convert.vegalite_to_html(standalone(drawing), bundle=True)).encode()


KINDS: dict[str, Callable[[Drawing], bytes]] = {"svg": svg, "png": png, "html": page}
"""From a file's ending to what draws it."""


# ---------------------------------------------------------------- the static report


def report_html(runs: Sequence[Evaluation], asked: SetRule, *, title: str = "Prediction sets") -> bytes:
    """One HTML file: the runs' figures as a table, and the alpha lab of each, alive without a network."""
    from app.components.alpha_lab import SCRIPT, lab_view
    from app.components.shared.scripts import LIVE_CSS, bundle
    from app.state.alpha_lab import AlphaLabView
    from core.conformal.scores.table import score_table

    rows = benchmark.run_rows(runs, benchmark.reports(runs, asked))
    names = unique(
        [
            f"{run.spec.model_name} · {labelled(run.spec.task, run.bank)} · {run.spec.strategy} · {run.spec.dtype}"
            for run in runs
        ]
    )
    labs = []
    for run, name in zip(runs, names, strict=True):
        tables = frames.lab_tables(run)
        labs.append(
            {
                **{key: _columns(value) if isinstance(value, pa.Table) else value for key, value in tables.items()},
                "version": run.run_id,
                "name": name,
                "scores": score_table(),
                "view": lab_view(AlphaLabView()) | {"alpha": asked.alpha, "empty": asked.empty},
                "revision": 0,
            }
        )
    script = bundle(SCRIPT)
    if script.count("export default function") != 1:
        raise HedgeError("the alpha lab's script has no single entry; the report can't be made of it")
    script = script.replace("export default function", "const mountLab = function", 1)
    template = (ROOT / "app" / "static_report.html").read_text(encoding="utf-8")
    parts = {
        "TITLE": html.escape(title),
        "THEMES": _theme_css(),
        "SUBTITLE": html.escape(_source(runs, asked)),
        "TABLE": _table_html(rows, dict(zip([run.run_id for run in runs], names, strict=True))),
        "LAB_HTML": _script_json((LAB / "alpha_lab.html").read_text(encoding="utf-8")),
        "LAB_CSS": _script_json(LIVE_CSS.read_text(encoding="utf-8")),
        "LABS": _script_json(labs),
        "SCRIPT": script.replace("</script", "<\\/script"),
    }
    # In one pass, so that nothing within the data is taken for a place.
    return re.sub(r"%%([A-Z_]+)%%", lambda found: parts[found[1]], template).encode()


def _script_json(value: Any) -> str:
    """JSON that can stand inside a script element."""
    return (
        json.dumps(value, ensure_ascii=False, allow_nan=False)
        .replace("<", "\\u003c")
        .replace("\u2028", "\\u2028")
        .replace("\u2029", "\\u2029")
    )


def _columns(table: pa.Table) -> dict[str, Any]:
    """A table as JSON values: numbers as base64 of little-endian arrays, texts as lists."""
    columns = {}
    for name, column in zip(table.column_names, table.columns, strict=True):
        if pa.types.is_integer(column.type) or pa.types.is_floating(column.type):
            kind = {"double": "Float64", "int32": "Int32", "uint8": "Uint8"}[str(column.type)]
            values = np.ascontiguousarray(column.to_numpy())
            columns[name] = {"kind": kind, "values": base64.b64encode(values.tobytes()).decode()}
        else:
            columns[name] = {"kind": "text", "values": column.to_pylist()}
    return {"rows": table.num_rows, "columns": columns}


def _theme_css() -> str:
    def variables(name: str) -> str:
        look = theme(name)
        values = {
            "--st-background-color": look.background,
            "--st-secondary-background-color": look.second,
            "--st-text-color": look.text,
            "--st-border-color": look.border,
            "--st-chart-categorical-colors": ",".join(look.colors),
            "--st-font": look.font,
            "--st-heading-font": look.font,
            "--st-code-font": "ui-monospace, monospace",
            "--st-base-font-size": "15px",
            "--st-base-radius": "6px",
            "--st-button-radius": "6px",
        }
        return ";".join(f"{key}:{value}" for key, value in values.items())

    light, dark = variables("light"), variables("dark")
    return f":root{{color-scheme:light dark;{light}}}@media (prefers-color-scheme:dark){{:root{{{dark}}}}}"


def _table_html(rows: pd.DataFrame, names: dict[str, str]) -> str:
    head = [
        "Run",
        "n, m",
        "Accuracy (95 %)",
        "ECE beyond luck (95 %); seen, luck",
        "Sets by",
        "alpha",
        "Coverage (band)",
        "Mean set size (95 %)",
        "UAcc (95 %)",
    ]
    lines = []
    for row in rows.to_dict("records"):
        uacc = f"{row['uacc']:.3f} ({row['uacc_low']:.3f} to {row['uacc_high']:.3f})"
        cells = [
            names[row["run"]],
            f"{row['n_calibration']:,}, {row['n_test']:,}",
            f"{row['accuracy']:.3f} ({row['accuracy_low']:.3f} to {row['accuracy_high']:.3f})",
            f"{row['ece_excess']:.3f} ({row['ece_low']:.3f} to {row['ece_high']:.3f}); {row['ece']:.3f}, "
            f"{row['ece_luck']:.3f}",
            SCORES[row["score"]].title,
            f"{row['alpha']:.3f}",
            f"{row['coverage']:.3f} ({row['coverage_low']:.3f} to {row['coverage_high']:.3f})",
            f"{row['mean_set_size']:.3f} ({row['set_size_low']:.3f} to {row['set_size_high']:.3f})",
            "–" if math.isnan(row["uacc"]) else uacc,
        ]
        lines.append("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in cells) + "</tr>")
    titles = "".join(f"<th>{html.escape(name)}</th>" for name in head)
    return f"<table><thead><tr>{titles}</tr></thead><tbody>{''.join(lines)}</tbody></table>"


# ---------------------------------------------------------------- the command


def main(arguments: Sequence[str] | None = None) -> int:
    """Write what is asked for; prints the paths, one a line."""
    parser = argparse.ArgumentParser(prog="python -m app.static_report", description=__doc__)
    parser.add_argument("what", choices=("figures", "html"))
    parser.add_argument("run", nargs="+")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--alpha", type=float, default=0.1)
    parser.add_argument("--score", default="lac", choices=SCORE_NAMES)
    parser.add_argument("--threshold", default="exact")
    parser.add_argument("--empty", default="allow")
    given = parser.parse_args(arguments)
    try:
        runs = [load(store.folder_of(name).name) for name in given.run]
        asked = SetRule(thousandths(given.alpha), shown_with(given.score), given.threshold, given.empty)
        if given.what == "html":
            print(write(given.out, "report.html", report_html(runs, asked)))
            return 0
        for drawing in drawings(runs, asked):
            for ending, draw in KINDS.items():
                print(write(given.out / "figures", f"{drawing.figure.name}.{ending}", draw(drawing)))
    except HedgeError as error:
        print(f"hedge: {error}", file=sys.stderr)
        return error.exit_status
    return 0


if __name__ == "__main__":
    sys.exit(main())
