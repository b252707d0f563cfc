"""Embeds in a browser, from ``file://``: what is dragged is what Python computes, and no request leaves."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from app.caches import jury_cache, run_cache
from app.components.learn import course
from app.showcase import showcase
from app.state.one_question import OneQuestionView
from charts.embed import LARGEST
from core.jury.agreement import effective_votes
from core.reports import evaluation, one_question
from core.reports.report import report
from core.reports.stream_lab import stream_pool
from core.runs import store
from tests.benchmarks import embed_sizes
from tests.browser import axe
from tests.browser.conftest import NOT_TOO_WIDE, Lab, Visitor, eventually, holds, in_home, resize, settled, still
from tests.browser.test_one_question import said
from tests.conftest import synthetic_questions, synthetic_run
from tests.reference.streams import question_stream, stream_figures

HOSTILE = "</script><script>document.title='caught'</script><img src=x onerror=\"document.title='caught'\"> & <b>b</b>"
STEPS = ("sets 1 certainty", "calibration 3 ece", "juries 4 votes", "asking 1 ways")
BACKGROUND = "getComputedStyle(document.body).backgroundColor"


@pytest.fixture(scope="session")
def hostile_run(shared_home: Path) -> str:
    """A run of 400 questions; its first test question and its model's name are hostile."""
    with in_home(shared_home):
        name = synthetic_run(400, model="m<img src=x onerror=alert(1)>", seed=2)
        questions = synthetic_questions(400, seed=2)
        questions[200] = replace(questions[200], question=HOSTILE, context=HOSTILE)
        store.write_questions(store.folder_of(name), questions, ["calibration"] * 200 + ["test"] * 200)
        return name


@pytest.fixture
def run_id(hostile_run: str, shared_home: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The run, whose home is this process's."""
    monkeypatch.setenv("HEDGE_HOME", str(shared_home))
    return hostile_run


@pytest.fixture(scope="session")
def files(hostile_run: str, shared_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An embed of each kind, with a step of each lesson."""
    folder = tmp_path_factory.mktemp("embeds")
    with in_home(shared_home):
        record = run_cache.record(hostile_run)
        steps = {**dict(embed_sizes.run_steps(hostile_run)), **dict(embed_sizes.course_steps())}
        embeds = {
            "lab": embed_sizes.lab_of(hostile_run),
            "question": embed_sizes.question_of(hostile_run),
            "streams": embed_sizes.streams_of(record, record),
            **{name: steps[name]() for name in STEPS},
        }
    for name, content in embeds.items():
        assert len(content) <= LARGEST
        (folder / f"{name}.html").write_bytes(content)
    return folder


@pytest.fixture
def opened(visit: Visitor, files: Path):
    """Opens an embed. When the test is over it has asked for nothing but itself."""
    requests: list[str] = []
    addresses: list[str] = []

    def show(name: str, *, theme: str = "light", width: int = 1280, height: int = 720) -> Page:
        window = visit("file://", width=width, height=height, theme=theme)
        window.page.on("request", lambda request: requests.append(request.url))
        addresses.append((files / f"{name}.html").as_uri())
        return window.open(addresses[-1].removeprefix("file://"))

    yield show
    assert [url for url in requests if url not in addresses and not url.startswith(("data:", "blob:"))] == []


def seen_well(page: Page) -> None:
    """Without a serious fault in both themes, and not too wide, at 1280 and at 390 pixels."""
    eventually(page, lambda: axe.faults(page))  # a script colours the figures a moment after the theme changes
    light = page.evaluate(BACKGROUND)
    page.emulate_media(color_scheme="dark")
    eventually(page, lambda: page.evaluate(BACKGROUND) == light)
    eventually(page, lambda: axe.faults(page, rules=axe.COLOURS))
    holds(page, NOT_TOO_WIDE)
    resize(page, 390, 844)
    holds(page, NOT_TOO_WIDE)
    eventually(page, lambda: axe.faults(page))
    page.emulate_media(color_scheme="light")
    eventually(page, lambda: page.evaluate(BACKGROUND) != light)


def test_the_lab_moves_as_in_the_app(opened, run_id: str):
    page = opened("lab")
    lab = Lab(page).ready()
    lab.expect_alpha(100)
    lab.expect_report(run_id)
    box = still(lab.alpha)
    page.mouse.move(box["x"] + box["width"] * 0.1, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.3, box["y"] + box["height"] / 2, steps=4)
    lab.expect_report(run_id)  # while it is dragged
    page.mouse.up()
    eventually(page, lambda: not 250 < lab.thousandths() < 350)
    lab.alpha.press("ArrowRight")
    lab.alpha.press("PageUp")
    lab.expect_report(run_id)
    page.get_by_label("score on the right").select_option("raps")
    lab.expect_report(run_id, scores=("lac", "raps"))
    plot, switches = (still(page.locator(name)) for name in ("[data-plot=coverage]", ".forming"))
    assert plot["y"] + plot["height"] < 760  # a slide of 720 pixels shows the first figures
    assert switches["y"] > plot["y"]
    expect(page.get_by_role("button", name="Present")).to_have_count(0)
    expect(page.get_by_role("button", name="Open question")).to_have_count(0)
    expect(page.locator(".cards .asked").first).to_have_text(HOSTILE)
    expect(page.locator("h1")).to_contain_text("m<img src=x onerror=alert(1)>")
    expect(page.locator("footer")).to_contain_text(
        re.compile(r"200 calibration questions and 200 test .*Made with Hedge")
    )
    assert run_id not in page.inner_text("body")
    line = page.locator("[data-plot=coverage] .chart .curve").first
    colour = line.evaluate("(line) => getComputedStyle(line).stroke")
    seen_well(page)
    page.emulate_media(color_scheme="dark")
    eventually(page, lambda: line.evaluate("(line) => getComputedStyle(line).stroke") == colour)
    assert page.title() != "caught"


def test_a_question_moves_as_in_the_app(opened, run_id: str):
    page = opened("question", theme="dark")
    by = one_question.bench(evaluation.load(run_id))
    by_score = {
        standing.name: standing
        for standing in one_question.standings(by, evaluation.load(run_id).probabilities[200], place=200)
    }
    alpha = page.get_by_role("slider", name="alpha")
    expect(page.locator(".asked-question")).to_have_text(HOSTILE)

    def shows(score: str) -> None:
        members = by_score[score].members(int(alpha.input_value()), empty=OneQuestionView().empty)
        words = page.locator(".state .word")
        expect(words).to_have_text(["in" if is_in else "out" for is_in in members])
        options = [synthetic_questions(400, seed=2)[200].options[j] for j in np.flatnonzero(members)]
        expect(page.locator(".answer")).to_have_text(said(options, len(members)))

    shows("lac")
    alpha.press("PageUp")
    alpha.press("ArrowRight")
    expect(alpha).to_have_value("111")
    shows("lac")
    grid = still(page.locator(".overlay"))
    page.mouse.click(grid["x"] + grid["width"] * 0.6, grid["y"] + grid["height"] / 2)
    eventually(page, lambda: not 590 < int(alpha.input_value()) < 610)
    shows("lac")
    page.get_by_role("radio", name="APS", exact=True).check()
    shows("aps")
    page.emulate_media(color_scheme="light")
    seen_well(page)
    assert page.title() == "One question: Question answering"


def guessed(page: Page) -> str:
    """Guess, and return the file's answer."""
    page.get_by_role("button", name="Check my guess").press("Enter")
    expect(page.locator(".told-answer")).to_be_visible()
    expect(page.locator(".answer")).to_be_visible()
    return page.locator(".told-answer").inner_text()


def text_share(tables: dict[str, Any]) -> float:
    """The percentage of questions that are right by text without examples."""
    place = next(i for i, reading in enumerate(tables["readings"]) if (reading["way"], reading["shots"]) == ("raw", 0))
    picks = tables["picks"].to_pandas()
    picked = picks[picks["reading"] == place]
    return 100 * float((picked["pick"] == picked["truth"]).mean())


def test_steps_of_all_lessons_judge_a_guess(opened, run_id: str):
    page = opened("sets 1 certainty")
    run = evaluation.load(run_id)
    expect(page.get_by_role("heading", level=2)).to_have_text("Accuracy is not certainty")
    page.keyboard.press("ArrowRight")  # there is no other step
    expect(page.get_by_role("heading", level=2)).to_have_text("Accuracy is not certainty")
    page.get_by_role("slider", name="your guess").press("Home")
    single = 100 * report(run, 100).scores["lac"].sizes[1] / len(run.test)
    assert f"It is {single:.1f}%" in guessed(page)
    alpha = page.get_by_role("slider", name="alpha", exact=True)
    alpha.press("PageUp")
    at = int(alpha.input_value())
    assert at > 100
    now = 100 * report(run, at).scores["lac"].sizes[1] / len(run.test)
    expect(page.locator(".lesson .plot")).to_contain_text(f"{now:.1f}%")
    expect(page.get_by_role("button", name=re.compile("Next|Back|Present"))).to_have_count(0)
    seen_well(page)
    ece = report(run, 100).ece
    page = opened("calibration 3 ece", theme="dark")
    assert f"It is {100 * ece:.1f}" in guessed(page)
    page = opened("juries 4 votes")
    judged = jury_cache.judgements(showcase().jury)
    assert f"It is {effective_votes(1 - judged.right):.2f} votes" in guessed(page)
    page = opened("asking 1 ways", width=390)
    texts = course.asking_tables(showcase().prompting)
    assert f"It is {text_share(texts):.1f}%" in guessed(page)
    holds(page, NOT_TOO_WIDE)


def test_the_stream_lab_moves_as_in_the_app(opened, run_id: str):
    page = opened("streams")
    run = evaluation.load(run_id)
    pool = stream_pool(run, run, "lac")
    alpha = page.get_by_role("slider", name="alpha")
    alpha.press("PageUp")
    expect(alpha).to_have_value("110")
    change = int(page.get_by_role("slider", name="change after").input_value())
    figures = stream_figures(question_stream(pool, change=change), alpha=110, gamma=5)
    after = page.locator("[data-figure=fixed-after]")
    eventually(
        page,
        lambda: (
            float(after.get_attribute("data-value")) != pytest.approx(1 - figures.missed[change:].mean(), abs=1e-12)
        ),
    )
    seen_well(page)


def test_the_button_saves_the_file(visit: Visitor, address: str, run_id: str, tmp_path: Path):
    page = settled(visit(address).open(f"/one_question?run={run_id}&alpha=250"))
    page.get_by_role("button", name="Embed").click()
    page.get_by_text("Dark", exact=True).click()
    expect(page.locator("code")).to_contain_text('_alpha-0.25_one-question.html"')
    with page.expect_download() as saved:
        settled(page).get_by_role("button", name="Save the file").click()
    assert (
        saved.value.suggested_filename
        == "hedge_m-img-src-x-onerror-alert-1_question-answering_alpha-0.25_one-question.html"
    )
    saved.value.save_as(tmp_path / "embed.html")
    window = visit("file://", theme="light")
    page = window.open(str(tmp_path / "embed.html"))
    expect(page.get_by_role("slider", name="alpha")).to_have_value("250")
    expect(page.locator(".asked-question")).to_have_text(HOSTILE)
    assert page.evaluate(BACKGROUND) != "rgb(255, 255, 255)"  # dark, whatever the reader has
