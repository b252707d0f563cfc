"""Figures as files: not blank, as wide as asked for, in both themes, with captions, names and provenance inside."""

import hashlib
import io
import json
import os
import re
import struct
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
import zlib
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from charts import figure_files
from charts.figure_files import KINDS, FigureFile, figure, figures, jury_figure
from charts.figure_style import FONT_FOLDER, FONTS, WIDTHS, FigureStyle
from charts.forests import jury_votes
from charts.palette import theme_colors
from charts.run_figures import FIGURES
from core.errors import InputError
from core.jury import experiment
from core.jury.experiment import JuryExperiment, Protocol
from core.jury.judgements import Judgements
from core.jury.pipeline import jury_store
from core.reports import provenance
from core.reports.compare.benchmark import SetRule
from core.reports.evaluation import Evaluation, load
from core.reports.figure_names import FILE_KINDS, JURY_FIGURES, RUN_FIGURES
from core.reports.report import report
from core.settings import ROOT
from tests.conftest import synthetic_run

DC = "{http://purl.org/dc/elements/1.1/}"
JURY = "answers-of-pocket-8m-to-trivia"


@pytest.fixture
def runs(home: Path) -> list[Evaluation]:
    return [load(synthetic_run(seed=i, model=f"model-{i}")) for i in range(3)]


def light_of(color: str) -> float:
    return sum(int(color[i : i + 2], 16) for i in (1, 3, 5)) / 765


def pixels(figure_file: FigureFile) -> Image.Image:
    return Image.open(io.BytesIO(figure_file.png()))


@cache
def tried() -> tuple[Judgements, JuryExperiment]:
    judgements = jury_store.read(jury_store.folder_of(JURY).name)
    return judgements, experiment.run(judgements, Protocol(seeds=(0,), rules=("majority", "mean_probability")))


def jury(name: str, style: FigureStyle | None = None) -> FigureFile:
    return jury_figure(name, *tried(), "Trivia & co", style)


def test_every_figure_has_a_title_and_something_that_draws_it():
    assert list(FIGURES) == list(RUN_FIGURES)


IN_A_PAPER = ("reliability", "coverage-by-alpha", "set-size-by-alpha", "sets-by-size", "forest")


@pytest.mark.parametrize(
    ("width", "theme", "names"),
    [
        ("single", "light", IN_A_PAPER),
        pytest.param("double", "dark", ("reliability", "forest"), marks=pytest.mark.nightly),
        pytest.param("slide", "dark", ("forest",), marks=pytest.mark.nightly),
        (5.0, "light", ("forest",)),
    ],
)
def test_a_figure_is_as_wide_as_asked_for_on_its_themes_page_and_not_blank(runs, width, theme, names):
    style = FigureStyle(width, theme=theme)
    page = theme_colors(theme).background
    for figure_file in figures(names, runs, 100, style):
        root = ElementTree.fromstring(figure_file.svg())
        assert root.attrib["width"] == f"{style.inches:.4g}in", figure_file.name
        image = pixels(figure_file)
        assert image.width == pytest.approx(style.inches * 300, abs=2), figure_file.name
        assert image.info["dpi"] == pytest.approx((300, 300), abs=0.1)
        if width == "slide":
            assert image.width / image.height == pytest.approx(16 / 9, rel=0.01), figure_file.name
        grey = np.asarray(image.convert("L")) / 255
        assert grey[2, 2] == pytest.approx(light_of(page), abs=0.02)
        inked = np.abs(grey - grey[2, 2]) > 0.3
        assert 0.002 < inked.mean() < 0.9, figure_file.name
        # Nothing is cut off: the page's colour is all around.
        assert not inked[:3].any(), figure_file.name
        assert not inked[-3:].any(), figure_file.name
        assert not inked[:, :3].any(), figure_file.name
        assert not inked[:, -3:].any(), figure_file.name


def test_texts_have_the_size_of_a_paper_s_at_each_width(runs):
    for width in ("single", "double"):
        svg = figure("forest", runs, 100, FigureStyle(width)).svg().decode()
        box = re.search(r'viewBox="0 0 ([\d.]+)', svg)
        assert box is not None
        points = WIDTHS[width] * 72 / float(box[1])
        sizes = {float(size) * points for size in re.findall(r'font-size="([\d.]+)px"', svg)}
        assert 6 <= min(sizes) <= max(sizes) <= 9


def test_the_font_is_the_one_that_is_asked_for(runs):
    serif = figure("forest", runs, 100, FigureStyle(font="serif"))
    assert 'font-family="Liberation Serif, Times New Roman' in serif.svg().decode()
    assert b"HedgeSerif" in serif.pdf()
    assert b"HedgeSans" in figure("forest", runs).pdf()
    named = figure("forest", runs, 100, FigureStyle(font="Hedge Test Roman"))
    assert 'font-family="Hedge Test Roman, Liberation Serif' in named.svg().decode()
    assert b"HedgeSerif" in named.pdf()  # no machine has the other font


def digests(run_id: str) -> dict[str, str]:
    """Digests of figures with two weights of each font, from characters outside ASCII."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(provenance, "today", lambda: "2026-11-22")
        drawn = {font: figure("sizes-when-right", [load(run_id)], 100, FigureStyle(font=font)) for font in FONTS}
    files = {f"{font}.{kind}": KINDS[kind](figure_file) for font, figure_file in drawn.items() for kind in FILE_KINDS}
    return {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}


def renamed(font: bytes, family: str) -> bytes:
    """A TrueType font as a font of another name."""
    records = texts = b""
    for number, text in {1: family, 2: "Regular", 6: family.replace(" ", "")}.items():
        value = text.encode("utf-16-be")
        records += struct.pack(">6H", 3, 1, 0x409, number, len(value), len(texts))
        texts += value
    table = struct.pack(">3H", 0, 3, 6 + len(records)) + records + texts
    entry = font.index(b"name")
    return font[: entry + 8] + struct.pack(">2I", len(font), len(table)) + font[entry + 16 :] + table


def test_a_figure_has_the_same_bytes_on_a_machine_with_other_fonts(home: Path, tmp_path: Path):
    run_id = synthetic_run(model="modèle-α−×→Ж…")
    fonts = tmp_path / "fonts"
    fonts.mkdir()
    for name, other in (("Sans", "Serif"), ("Serif", "Sans")):
        path = fonts / f"{name}.ttf"
        path.write_bytes(renamed((FONT_FOLDER / f"Hedge{other}-Regular.ttf").read_bytes(), f"Liberation {name}"))
    (fonts / "fonts.conf").write_text(f"<fontconfig><dir>{fonts}</dir></fontconfig>", encoding="utf-8")
    code = "import sys, tests.charts.test_figure_files as t; print(t.json.dumps(t.digests(sys.argv[1])))"
    elsewhere = subprocess.run(
        [sys.executable, "-c", code, run_id],
        cwd=ROOT,
        env={**os.environ, "FONTCONFIG_FILE": str(fonts / "fonts.conf")},
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(elsewhere.stdout) == digests(run_id)


def test_a_pdf_has_the_same_bytes_each_time_it_is_drawn(runs):
    file = figure("reliability", runs)
    assert len({file.pdf() for _ in range(4)}) == 1


def test_a_svg_says_where_it_comes_from(runs):
    figure_file = figure("reliability", runs)
    root = ElementTree.fromstring(figure_file.svg())
    metadata = {child.tag.removeprefix(DC): child.text for child in root.iter() if child.tag.startswith(DC)}
    assert metadata["title"] == "Reliability: accuracy against confidence"
    assert metadata["description"] == figure_file.caption
    assert all(run.run_id in (metadata["source"] or "") for run in runs)
    assert "alpha: 0.1" in (metadata["source"] or "")
    assert root.find("{http://www.w3.org/2000/svg}title") is not None


def test_a_pdf_says_where_it_comes_from_and_is_as_wide_as_asked_for(runs):
    figure_file = figure("coverage-by-alpha", runs, 100, FigureStyle("double"))
    result = figure_file.pdf()
    box = re.search(rb"/MediaBox ?\[0 0 ([\d.]+) ([\d.]+)\]", result)
    assert box is not None
    assert float(box[1]) == pytest.approx(6.75 * 72, abs=0.5)
    trailer = result[result.rindex(b"trailer") :]
    (number,) = re.findall(rb"/Info (\d+) 0 R", trailer)
    (start,) = re.findall(rb"startxref\s+(\d+)", trailer)
    places = re.findall(rb"(\d{10}) \d{5} [nf]\r\n", result[int(start) :])
    assert result[int(start) :].startswith(b"xref\n0 %d\n" % len(places))
    for each in range(1, len(places)):
        assert result[int(places[each]) :].startswith(b"%d 0 obj\n" % each)
    entry = result[int(places[int(number)]) :]
    metadata = {
        name.decode(): bytes.fromhex(value.decode()).decode("utf-16")
        for name, value in re.findall(rb"/(\w+) <([0-9a-f]+)>", entry[: entry.index(b"endobj")])
    }
    assert metadata["Title"] == figure_file.drawing.title
    assert metadata["Subject"] == figure_file.caption
    assert metadata["Provenance"] == figure_file.provenance.text()


def test_a_png_says_where_it_comes_from(runs):
    figure_file = figure("forest", runs)
    image = pixels(figure_file)
    assert image.info["Title"] == figure_file.drawing.title
    assert image.info["Provenance"] == figure_file.provenance.text()
    data, at = figure_file.png(), 8
    while at < len(data):
        length = int.from_bytes(data[at : at + 4], "big")
        chunk = data[at + 4 : at + 8 + length]
        assert zlib.crc32(chunk) == int.from_bytes(data[at + 8 + length : at + 12 + length], "big")
        at += 12 + length


def test_the_text_beside_a_figure_has_its_caption_the_figure_in_words_and_its_provenance(runs):
    figure_file = figure("forest", runs[:1], SetRule(200, ("aps", "lac")))
    expected = report(runs[0], 200, scores=("aps",))
    assert figure_file.caption.startswith("Accuracy, coverage and set size at alpha 0.2.")
    assert f"coverage {expected.scores['aps'].coverage:.1%}" in figure_file.text
    assert f"Run: {runs[0].run_id} (no instruction" in figure_file.text
    assert "\n" not in figure_file.text.partition("In words: ")[2].partition("\n\n")[0]
    assert "Scores: APS, LAC" in figure_file.text
    assert figure_file.file_name("pdf") == "hedge_model-0_question-answering_alpha-0.20_forest.pdf"


def test_lines_by_alpha_are_the_curve_of_the_reports(runs):
    frame = figure("coverage-by-alpha", runs[:1], SetRule(123)).drawing.figure.frame
    here = frame[np.isclose(frame["alpha"], 0.123)].iloc[0]
    result = report(runs[0], 123).scores["lac"]
    assert (here["coverage"], here["mean_set_size"]) == pytest.approx((result.coverage, result.mean_set_size))
    assert (here["low"], here["high"]) == pytest.approx(result.coverage_band)
    assert len(frame) == 199 + 1  # every fifth thousandth, and 0.123
    filled = figure("set-size-by-alpha", runs[:1], SetRule(800, empty="top1")).drawing.figure.frame
    assert filled["mean_set_size"].min() == 1.0


def test_shares_of_sizes_sum_to_one_for_each_run(runs):
    frame = figure("sets-by-size", runs).drawing.figure.frame
    assert frame.groupby("name")["share"].sum().tolist() == pytest.approx([1.0, 1.0, 1.0])


@pytest.mark.parametrize("name", JURY_FIGURES)
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_jury_s_figures_are_drawn(name: str, theme: str):
    figure_file = jury(name, FigureStyle("single", theme=theme))
    assert pixels(figure_file).width == 975
    assert figure_file.file_name("svg") == f"hedge_trivia-co_{name}.svg"
    assert "Jurors: juror-3m, juror-3m-instruct, juror-8m" in figure_file.text


def test_votes_count_every_answer_once():
    judgements = jury_store.read(jury_store.folder_of(JURY).name)
    frame = jury("jury-votes").drawing.figure.frame
    assert frame["answers"].sum() == len(judgements)
    says = frame[frame["label"] == "True"]
    assert says["answers"].sum() == judgements.labels.sum()
    assert (frame["votes"] * frame["answers"]).sum() == judgements.verdicts.sum()


def test_votes_on_pairs_are_for_the_first_or_the_second():
    votes = pd.DataFrame({"votes": [0, 0, 1, 1], "label": ["True", "False"] * 2, "answers": [1, 2, 3, 4]})
    figure = jury_votes(votes, pairwise=True)
    assert figure.frame["label"].tolist() == ["First", "Second"] * 2
    assert figure.alt.startswith("Answers by the number of jurors who say First: 0 jurors, label First: 1;")
    assert not re.search(r"\b(True|False)\b", json.dumps(figure.chart.to_dict()))


def test_a_jury_s_forest_has_every_rule_and_juror_the_best_first():
    frame = jury("jury-forest").drawing.figure.frame
    assert sorted(frame["kind"]) == ["rule"] * 2 + ["single juror"] * 3
    assert frame["accuracy"].is_monotonic_decreasing
    assert ((frame["low"] <= frame["accuracy"]) & (frame["accuracy"] <= frame["high"])).all()


def test_titles_name_alpha_only_where_it_changes_the_figure(runs):
    titles = {
        figure_file.name: figure_file.drawing.title
        for figure_file in figures(["bars-accuracy", "bars-uacc", "heat-map-coverage"], runs)
    }
    assert titles == {
        "bars-accuracy": "Accuracy",
        "bars-uacc": "UAcc at alpha 0.1",
        "heat-map-coverage": "Coverage by LAC, alpha 0.1",
    }


def test_a_figure_of_one_task_is_there_once_for_each(home: Path):
    runs = [load(synthetic_run(seed=i, model=f"model-{i}", task=("qa", "rc")[i % 2])) for i in range(3)]
    result = figures(["accuracy-and-set-size"], runs)
    assert [figure_file.drawing.title for figure_file in result] == [
        "Accuracy, and set size at alpha 0.1, on Question answering",
        "Accuracy, and set size at alpha 0.1, on Reading comprehension",
    ]
    with pytest.raises(InputError, match="shows one task, and these runs are of 2; choose runs of one"):
        figure("accuracy-and-set-size", runs)


def test_a_figure_as_html_asks_no_foreign_host(runs):
    page = figure("set-size-by-alpha", runs).html().decode()
    assert "<script" in page
    assert not re.search(r'(src|href)="https?://', page)


def test_what_can_not_be_drawn_is_refused_in_a_sentence(runs):
    for wrong, message in (
        ({"width": "wide"}, "unknown width 'wide'; choose single, double, slide, or give inches"),
        ({"width": 50.0}, "from 2 to 20 inches, got 50"),
        ({"font": 'a"b'}, "the font must be sans, serif or the name of one"),
        ({"theme": "sepia"}, "unknown theme 'sepia'; choose light or dark"),
    ):
        with pytest.raises(InputError, match=re.escape(message)):
            FigureStyle(**wrong)
    with pytest.raises(InputError, match="unknown figure 'pie'"):
        figure("pie", runs)
    with pytest.raises(InputError, match="at least one run"):
        figure("forest", [])
    with pytest.raises(InputError, match="unknown figure 'pie'; choose from jury-forest, jury-votes, jury-labels"):
        jury("pie")
    with pytest.raises(InputError, match="has no trailer"):
        figure_files.with_pdf_information(b"%PDF-1.7 trailer", {})
