"""Every place that shows a run shows its caveats. A new page, format or command has to be added to a list here."""

import html
import json
import re
import zipfile
from collections.abc import Callable
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest

import hedge
from app import navigation
from charts.figure_files import figure
from charts.run_figures import FIGURES
from core.reports.caveats import of_run
from core.reports.compare import benchmark, claims
from core.reports.compare.benchmark import SetRule
from core.reports.evaluation import load
from core.reports.paper.writers import latex_text
from core.runs import store
from core.runs.caveats import Caveat, of_run_record
from core.runs.status import RunStatus
from hedge.cli import main
from hedge.commands import exchange
from hedge.commands.exchange import EXPORTS
from tests.conftest import synthetic_run
from tests.flawed_runs import flawed_run, picked_run, unanswered_run
from tests.light_environment import needs_models
from tests.pages.conftest import Open, page_text, sent, unfolded
from tests.served import served_run

RULE = SetRule(100, ("lac", "aps"))
PAGES: dict[str, Callable[[str], dict[str, str]]] = {
    "overview": lambda run: {"figure": "runs"},
    "alpha_lab": lambda run: {"run": run},
    "one_question": lambda run: {"run": run},
    "stream_lab": lambda run: {"run": run},
    "compare": lambda run: {"runs": run},
    "calibration": lambda run: {"runs": run},
    "prompting": lambda run: {},
    "learn": lambda run: {"run": run},
    "data": lambda run: {"runs": run},
    "new_run": lambda run: {},
}
"""Each page that shows runs → the view in which it shows this one."""
WITHOUT_RUNS = {
    "classroom": "it shows the answers of a class, and its run is shown by the other pages",
    "jury": "it shows juries",
    "perplexity": "it shows scored words",
    "tokens": "it shows scored words",
    "doctor": "it shows the machine",
}
PRESENTED = ("alpha_lab", "one_question", "stream_lab")


@pytest.fixture
def run(home) -> str:
    return flawed_run()


def words(text: str) -> str:
    """A text without the escapes of HTML and Markdown."""
    return re.sub(r"[\\\s\u2060]+", " ", html.unescape(text.replace("\\", "")))


def missing(text: str, caveats: tuple[Caveat, ...]) -> list[str]:
    """The kinds of these caveats that the text does not name."""
    seen = words(text)
    return [caveat.kind for caveat in caveats if words(caveat.sentence) not in seen]


def test_every_page_is_in_one_of_the_lists():
    assert {page.name for page in navigation.PAGES} == {*PAGES, *WITHOUT_RUNS}


@pytest.mark.parametrize("page", PAGES)
def test_every_page_names_all_caveats_of_its_run(open_page: Open, run: str, page: str, monkeypatch: pytest.MonkeyPatch):
    caveats = of_run(load(run))
    assert len(caveats) == 9
    if page == "new_run":
        monkeypatch.setattr("core.runs.engine.statuses", lambda: [RunStatus(store.read_record(run), "done", "")])
    app = open_page(page, **PAGES[page](run))
    assert missing(page_text(app), caveats) == []
    if page != "learn":  # its closed Embed has a file with the caveats
        assert [caveat.kind for caveat in caveats if words(page_text(app)).count(words(caveat.sentence)) > 1] == []
    if page in PRESENTED:
        assert missing(sent(app, "caveats")["caveats"], caveats) == []


def test_a_forecast_names_the_caveats_of_its_pilot(open_page: Open, run: str):
    app = unfolded(open_page("new_run", models="fake", amount="number", samples="1000"), "question_counts_open")
    assert missing(page_text(app), of_run(load(run))) == []


@pytest.mark.parametrize("page", ["overview", "alpha_lab", "compare", "calibration"])
def test_pages_say_that_probabilities_are_frequencies(open_page: Open, page: str):
    run = picked_run()
    caveats = of_run(load(run))
    assert [caveat.kind for caveat in caveats if caveat.kind == "frequencies"] == ["frequencies"] * 2
    app = open_page(page, **PAGES[page](run))
    assert missing(page_text(app), caveats) == []
    assert "nan" not in words(page_text(app)).split()


@pytest.mark.parametrize("page", PAGES)
def test_no_page_shows_figures_of_letters_that_are_no_answer(
    open_page: Open, page: str, monkeypatch: pytest.MonkeyPatch
):
    """Neither of a run that says so nor of one of an earlier version, which is only noticed when it is read."""
    synthetic_run()
    for noted in (True, False):
        run = unanswered_run(noted=noted)
        record = store.read_record(run)
        if page == "new_run":
            monkeypatch.setattr("core.runs.engine.statuses", lambda record=record: [RunStatus(record, "done", "")])
        app = open_page(page, **PAGES[page](run))
        if noted or page not in ("data", "new_run"):  # these two show no figures
            assert "have less than 1% of the next token's probability for 30 of 30" in words(page_text(app))
        if page in PRESENTED and not noted:
            assert not sent(app, "caveats")


def test_the_overviews_matrix_marks_a_run_and_its_hover_names_the_caveats(open_page: Open, run: str):
    app = open_page("overview")
    data = sent(app, "matrix")
    cells = [cell for row in data["rows"] for cell in row["cells"] if cell]
    assert ["†" in cell["warning"] for cell in cells] == [True]
    assert missing(" ".join(cells[0]["said"]), of_run(load(run))) == []
    assert "† the run has caveats" in data["key"]["warning"]


@pytest.mark.parametrize(("page", "view"), [("overview", {"figure": "runs"}), ("compare", {}), ("calibration", {})])
def test_of_several_runs_only_those_with_caveats_are_marked(open_page: Open, page: str, view: dict[str, str]):
    run, ordinary = flawed_run(shots=0), synthetic_run()
    app = open_page(page, runs=f"{run},{ordinary}", **view)
    text = page_text(app) + json.dumps(
        [sent(app, name) for name in ("matrix", "groups", "runs")], ensure_ascii=False, default=str
    )
    text += "".join(str(list(frame.value["model"])) for frame in app.dataframe if "model" in frame.value)
    assert re.search(r"fake( · [^†\"']*)? †", words(text))
    assert not re.search(r"synthetic( · [^†\"',]*)? †", words(text))


@pytest.mark.parametrize("page", ["overview", "alpha_lab", "one_question"])
def test_a_run_with_bounds_names_its_other_caveats_too(open_page: Open, page: str):
    name = served_run(60, listed=2)
    app = open_page(page, run=name)
    assert "Only 30 calibration and 30 test questions" in words(page_text(app))


def test_the_runs_of_a_link_without_caveats_show_no_mark(open_page: Open):
    name = synthetic_run()
    for page in ("alpha_lab", "compare", "overview"):
        assert "†" not in page_text(open_page(page, run=name, runs=name))


@needs_models
def test_a_pocket_model_with_more_shots_than_it_reads(
    open_page: Open, capsys: pytest.CaptureFixture[str], tmp_path: Path
):
    """16 shots in 512 tokens, asked of the model itself, which also writes answers to the same prompts."""
    options = ["--model", "pocket-1m", "--task", "qa", "--shots", "16", "--samples", "12", "--repeats", "1"]
    assert main(["run", *options, "--device", "cpu", "--dtype", "float32"]) == 0
    out, err = capsys.readouterr()
    assert "About 12 of 12 prompts are longer than the 512 tokens that pocket-1m reads" in err
    (run,) = [name for name in store.run_ids() if "16shot" in name]
    cut, few = of_run(load(run))
    dropped = store.read_record(run).provenance["prompts"]["dropped_demonstrations"]
    assert 12 <= dropped < 12 * 16
    assert cut.sentence == (
        f"12 of 12 prompts were longer than the 512 tokens that the model reads, and lost {dropped:,} demonstrations."
    )
    assert missing(out, (cut, few)) == []
    assert main(["runs"]) == 0
    assert missing(capsys.readouterr().out, (cut,)) == []
    for page in ("alpha_lab", "prompting"):
        assert missing(page_text(open_page(page, run=run, runs=run)), (cut, few)) == []
    assert missing(_exported("md", run, tmp_path), (cut, few)) == []


# ---------------------------------------------------------------- files


def _exported(kind: str, run: str, out: Path) -> str:
    paths = EXPORTS[kind]([load(run)], RULE, out)
    texts = []
    for path in paths:
        content = path.read_bytes()
        if path.suffix == ".xlsx":
            with zipfile.ZipFile(BytesIO(content)) as book:
                content = b" ".join(book.read(name) for name in book.namelist())
        if path.suffix == ".parquet":
            content = str(exchange.writing.pq.read_table(BytesIO(content))["caveats"].to_pylist()).encode()
        texts.append(content.decode(errors="replace").replace('""', '"').replace("&lt;", "<"))
    return "\n".join(texts)


QUESTIONS = ("csv", "parquet", "jsonl")
"""Tables of questions: they hold what their columns do not show."""


@pytest.mark.parametrize("kind", [kind for kind in EXPORTS if kind not in ("figures", "bibtex")])
def test_every_file_of_runs_names_their_caveats(run: str, kind: str, tmp_path: Path):
    text = _exported(kind, run, tmp_path)
    caveats = of_run_record(store.read_record(run)) if kind in QUESTIONS else of_run(load(run))
    if kind == "latex":
        caveats = tuple(replace(caveat, sentence=latex_text(caveat.sentence)) for caveat in caveats)
    assert missing(text.encode().decode("unicode_escape") if kind == "json" else text, caveats) == []


@pytest.mark.parametrize("name", ["reliability", "forest", "bars-accuracy"])
def test_the_caption_of_a_figure_names_the_caveats(run: str, name: str):
    assert name in FIGURES
    drawn = figure(name, [load(run)])
    assert missing(drawn.caption, of_run(load(run))) == []
    assert missing(drawn.text, of_run(load(run))) == []


def test_marks_of_figures_stand_behind_the_names_of_their_runs(run: str):
    ordinary = synthetic_run()
    drawn = figure("bars-accuracy", [load(run), load(ordinary)])
    names = set(drawn.drawing.figure.frame["name"])
    assert names == {"fake · 16 shots †", "synthetic"}


# ---------------------------------------------------------------- commands and the notebook


@pytest.mark.parametrize("command", ["report", "compare"])
def test_every_command_names_the_caveats(run: str, command: str, capsys: pytest.CaptureFixture[str]):
    caveats = of_run(load(run))
    assert main([command, run]) == 0
    assert missing(capsys.readouterr().out, caveats) == []
    assert main([command, run, "--json"]) == 0
    values = json.loads(capsys.readouterr().out)
    assert missing(json.dumps(values, ensure_ascii=False).replace('\\"', '"'), caveats) == []


def test_a_claim_says_which_of_its_models_have_caveats(run: str):
    ordinary = [synthetic_run(model=f"model-{i}b", seed=i) for i in range(2)]
    runs = [load(name) for name in (run, *ordinary)]
    rows = benchmark.run_rows(runs, benchmark.reports(runs, RULE))
    rows = rows[rows["score"] == "lac"].assign(questions="same", k=6)
    accuracy, scale, _ = claims.claims(rows)
    assert accuracy.caveat == "† This counts runs with caveats, of fake."
    assert sorted(accuracy.points["model"]) == ["fake †", "model-0b", "model-1b"]
    assert scale.caveat == ""  # a model of unknown size is no point of it


def test_a_notebook_names_the_caveats(run: str):
    caveats = of_run(load(run))
    figures = hedge.report(run)
    assert missing(repr(figures), caveats) == missing(figures._repr_html_(), caveats) == []
    rng = np.random.default_rng(0)
    sets = hedge.sets(rng.dirichlet(np.ones(3), size=40), rng.integers(0, 3, 40))
    assert "† Only 20 calibration and 20 test questions" in repr(sets)
    assert "Only 20 calibration and 20 test questions" in sets._repr_html_()


def test_a_lab_in_a_notebook_ends_with_the_caveats(run: str):
    pytest.importorskip("anywidget")
    assert missing(hedge.lab(run).data["caveats"], of_run(load(run))) == []
