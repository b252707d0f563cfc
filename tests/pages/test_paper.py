"""The dialog "For a paper" of each page: its numbers are those of the page, and its LaTeX compiles."""

import json
import shutil
import subprocess
from functools import partial
from pathlib import Path

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from core.calibration.jackknife import random_groups
from core.estimates import signed
from core.jury.pipeline import jury_store
from core.models.perplexity.prompts import FITTING, UNFITTING
from core.reports import evaluation
from core.reports.compare.run_matrix import run_matrix
from core.reports.paper.writers import document
from core.reports.report import report
from core.runs import store
from core.settings import ASSETS
from tests.conftest import synthetic_run
from tests.core.jury.verdicts import seeded_jury
from tests.needs import missing
from tests.pages.conftest import Open, _Cells, page_text, sent, static_tables, unfolded
from tests.pages.test_perplexity import perplexities_shown


def opened(app: AppTest) -> AppTest:
    """The page with its dialog open."""
    (button,) = [button for button in app.button if (button.key or "").endswith("_paper")]
    return button.click().run()


def paper_table(app: AppTest) -> pd.DataFrame:
    """The table of the open dialog, as a person reads it."""
    (body,) = [each.proto.body for each in app.get("html") if 'aria-label="The table as it will be"' in each.proto.body]
    cells = _Cells()
    cells.feed(body)
    return pd.DataFrame(cells.rows[1:], columns=cells.rows[0])


def latex(app: AppTest) -> str:
    """The LaTeX of the open dialog."""
    return next(code.value for code in app.code if "tabular" in code.value)


def draws_every_figure(app: AppTest, page: str) -> None:
    """Whether each figure of the dialog is drawn, with a button for each kind of file."""
    app.segmented_control(key=f"{page}_paper_part").set_value("figure").run()
    control = app.selectbox(key=f"{page}_paper_figure")
    for title in control.options:
        app.selectbox(key=f"{page}_paper_figure").set_value(title).run()
        assert {"SVG", "PDF", "PNG", "HTML"} <= {button.label for button in app.get("download_button")}
        assert "Made with Hedge" in page_text(app)


def on_the_same_questions(n: int = 2) -> list[str]:
    return [synthetic_run(model=f"m_{i} & co", signal=1 + i) for i in range(n)]


def ship(pattern: str) -> None:
    """Copy runs that ship with Hedge into the home of the test."""
    for path in (ASSETS / "runs").glob(pattern):
        shutil.copytree(path, store.ASSETS / "runs" / path.name)


PROMPTING, PERPLEXITY = "pocket-8m-qa-base-0shot-float32*", "pocket-1m-perplexity-*"


def test_overview(open_page: Open):
    for i, task in enumerate(("qa", "rc", "qa", "rc")):
        synthetic_run(model=f"m-{i // 2}", task=task, signal=1 + i)
    app = opened(open_page("overview"))
    table = paper_table(app)
    assert list(table.columns[1:3]) == ["Question answering, Accuracy (%)", "Question answering, Set size"]
    said = json.dumps(sent(app, "matrix"))
    for column in table.columns[1:]:
        for cell in table[column]:
            value, low, high = cell.replace("(", "").replace(")", "").replace("to ", "").split()
            assert (f"{value}% ({low}% to {high}%)" if "%" in column else f"Mean set size {value} of") in said


def test_compare_has_the_page_s_figures_and_differences(open_page: Open):
    runs = on_the_same_questions()
    app = open_page("compare", runs=",".join(runs))
    app = opened(app.run())
    table = paper_table(app).set_index("Model")
    words = page_text(app)
    for name in ("m_0 & co", "m_1 & co"):
        right, size = (table.loc[name, column].split()[0] for column in ("Accuracy (%)", "Set size"))
        assert f"{name} is right on {right}%" in words or f"and {name} on {right}%" in words
        assert f"{size} " in words
    app.selectbox(key="compare_paper_reference").set_value("m_0 & co").run()
    (pair,) = run_matrix([evaluation.load(name) for name in runs], 100).pairs["accuracy"]
    low, high = (signed(100 * end, 1) for end in pair.difference.ends)
    assert paper_table(app).set_index("Model").loc["m_1 & co", "Δ Accuracy (points)"].endswith(f" ({low} to {high})")
    assert r"m\_1 \& co &" in latex(app)


def test_calibration(open_page: Open):
    app = opened(open_page("calibration", runs=on_the_same_questions()[0]).run())
    shown = static_tables(app)[0].set_index("Figure").iloc[:, 0]
    (row,) = paper_table(app).to_dict("records")
    for title in ("NLL", "Brier score", "ECE beyond chance"):
        assert shown[title].startswith(row[title]), title
    draws_every_figure(app, "calibration")


def test_alpha_lab_has_the_split_of_the_view(open_page: Open):
    name = synthetic_run()
    app = opened(open_page("alpha_lab", run=name, alpha="250", empty="top1"))
    lac = report(evaluation.load(name), 250, empty="top1").scores["lac"]
    (row,) = paper_table(app).to_dict("records")
    low, high = lac.mean_set_size_interval
    assert row["Set size"] == f"{lac.mean_set_size:.2f} ({low:.2f} to {high:.2f})"
    assert row["Coverage (%)"].startswith(f"{100 * lac.coverage:.1f} ")
    assert "Alpha is 0.25" in page_text(app)


def test_jury(open_page: Open, home: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("core.jury.experiment.random_groups", partial(random_groups, groups=4))
    monkeypatch.setattr("core.jury.pipeline.jury_store.ASSETS", home.parent / "assets")
    name = jury_store.save(seeded_jury(120), name="Mine_1", origin="a test")
    app = opened(unfolded(open_page("jury", jury=name, judged="all"), "jury_table_open"))
    rules = next(table for table in static_tables(app) if "Rule" in table).set_index("Rule")
    table = paper_table(app).set_index("Rule or juror")
    for rule in rules.index:
        assert table.loc[rule, "Accuracy (%)"] == rules.loc[rule, "Accuracy"].replace("%", "")
    app.selectbox(key="jury_paper_reference").set_value("Majority").run()
    table = paper_table(app).set_index("Rule or juror")
    for rule in rules.index.drop("Majority"):
        assert table.loc[rule, "Δ Accuracy (points)"] == rules.loc[rule, "Accuracy minus Majority, points"]


def test_prompting(open_page: Open):
    ship(PROMPTING)
    app = opened(open_page("prompting"))
    base = app.selectbox(key="prompting_method").value
    app.selectbox(key="prompting_paper_reference").set_value(base).run()
    table, tests = paper_table(app), next(table for table in static_tables(app) if "Asked by" in table)
    own = table.set_index(table["Way of asking"] + ", 0 shots")
    assert len(tests) == 3
    for row in tests.to_dict("records"):
        assert own.loc[row["Asked by"], "Δ Accuracy (points)"] == row["Accuracy, points"]
        assert own.loc[row["Asked by"], "Δ Set size"] == row["Mean set size"]
    draws_every_figure(app, "prompting")


def test_perplexity(open_page: Open):
    ship(PERPLEXITY)
    app = opened(open_page("perplexity", models="pocket-1m"))
    table = paper_table(app)
    every = table.iloc[-1]
    assert [every[name] for name in table.columns if name.endswith(", Perplexity")][:2] == perplexities_shown(app)
    app.segmented_control(key="perplexity_paper_layout_list_prompt").set_value("list").run()
    app.selectbox(key="perplexity_paper_reference").set_value(f"B: {UNFITTING.name}").run()
    rows = paper_table(app).set_index(["Conversation", "Prompt"])
    cell = rows.loc[("all conversations", f"A: {FITTING.name}"), "Δ Loss (nats per token)"]
    assert f"A − B is {cell.split()[0]} nats per token" in page_text(app)
    draws_every_figure(app, "perplexity")


def test_tokens(open_page: Open):
    app = opened(open_page("tokens"))
    shown, table = next(each for each in static_tables(app) if "ECE beyond chance" in each), paper_table(app)
    assert table["ECE beyond chance"].tolist() == shown["ECE beyond chance"].tolist()
    assert table["NLL (nats)"].tolist() == shown["NLL"].tolist()
    last = table["Model"].iloc[-1]
    app.selectbox(key="tokens_paper_reference").set_value(last).run()
    pairs = next(each for each in static_tables(app) if "Less surprised" in each)
    own = paper_table(app).set_index("Model")["Δ NLL (nats)"]
    for row in pairs[pairs["Less surprised"] == last].to_dict("records"):
        assert own[row["More surprised"]] == row["Difference of the mean surprisal, nats per token"]
    draws_every_figure(app, "tokens")


def test_a_person_chooses_columns_layout_width_and_a_figure(open_page: Open):
    for i, task in enumerate(("qa", "rc")):
        synthetic_run(model="m", task=task, signal=1 + i)
    app = opened(open_page("overview"))
    assert r"\begin{table}" in latex(app)
    measures = ["accuracy", "coverage", "mean_set_size", "uacc"]
    app.multiselect(key="overview_paper_columns").set_value(measures).run()
    assert r"\begin{table*}" in latex(app)  # the table is now wider than a column
    app.segmented_control(key="overview_paper_layout_list_task").set_value("list").run()
    assert list(paper_table(app).columns)[:4] == ["Model", "Task", "Accuracy (%)", "Coverage (%)"]
    app.multiselect(key="overview_paper_columns").set_value(["uacc"]).run()
    assert paper_table(app).columns[-1] == "UAcc"
    assert r"\begin{table}" in latex(app)
    app.segmented_control(key="overview_paper_part").set_value("figure").run()
    assert [button.label for button in app.get("download_button")][-6:-2] == ["SVG", "PDF", "PNG", "HTML"]
    app.selectbox(key="overview_paper_width").set_value("double").run()


COMPILED = ("overview", "compare", "calibration", "alpha_lab", "jury", "prompting", "perplexity", "tokens", "data")
RUNS_IN_ADDRESS = ("compare", "calibration", "data")


@pytest.mark.nightly
@pytest.mark.parametrize("page", COMPILED)
def test_the_latex_of_every_page_compiles(open_page: Open, tmp_path: Path, page: str):
    """With all columns and differences, in a column and across the page; model names have what LaTeX reads."""
    pdflatex = shutil.which("pdflatex") or missing("LaTeX")
    ship(PROMPTING)
    ship(PERPLEXITY)
    jury_store.save(seeded_jury(120), name="A_jury {of} 100% & \\input", origin="a test")
    runs = [*on_the_same_questions(3), synthetic_run(model="[x] ~ð", task="rc")]
    of_runs = {"runs": ",".join(runs)}
    view = {"perplexity": {"models": "pocket-1m"}}.get(page, of_runs if page in RUNS_IN_ADDRESS else {})
    app = opened(open_page(page, **view).run())
    for control in app.multiselect:
        if (control.key or "").endswith(("_paper_columns", "_paper_scores")):
            control.set_value(control.options).run()
    tables = [latex(app)]
    references = [control for control in app.selectbox if (control.key or "").endswith("_paper_reference")]
    tables += [latex(control.set_value(control.options[-1]).run()) for control in references]
    (tmp_path / "paper.tex").write_text(document(*tables), encoding="utf-8")
    command = [pdflatex, "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", "paper.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, errors="replace")
    assert done.returncode == 0, done.stdout[-2000:]
    assert (tmp_path / "paper.pdf").read_bytes().startswith(b"%PDF")
