"""The drop zone in a real browser: files and an archive together, and a folder, become runs side by side."""

import base64
import io
import re
import zipfile
from pathlib import Path

from playwright.sync_api import Page, expect

from core.exchange.dropped.kinds import KINDS, UNCLEAR
from tests.browser import axe
from tests.browser.conftest import Visitor, choose_page, expect_whole, resize, settled

QUESTIONS = 40
DROP = """(zone, files) => {
  const dropped = new DataTransfer();
  for (const [name, content] of files) {
    const bytes = Uint8Array.from(atob(content), (letter) => letter.charCodeAt(0));
    dropped.items.add(new File([bytes], name));
  }
  for (const type of ["dragenter", "dragover", "drop"])
    zone.dispatchEvent(new DragEvent(type, { dataTransfer: dropped, bubbles: true, cancelable: true }));
}"""
"""Drops files on an element as a mouse does. Browsers make entries of folders for a hand alone."""


def table(sure: float, **columns: str) -> str:
    """The answers of a model that is right in three of four questions, as CSV. Each of ``columns`` has one value."""
    lines = [",".join(["question", "A", "B", "answer", *columns])]
    for i in range(QUESTIONS):
        first = sure - 0.005 * i if i % 4 else 0.4
        lines.append(",".join([f"Which is {i}?", f"{first:.3f}", f"{1 - first:.3f}", "A", *columns.values()]))
    return "\n".join(lines) + "\n"


def zipped(**files: str) -> bytes:
    into = io.BytesIO()
    with zipfile.ZipFile(into, "w") as archive:
        for name, text in files.items():
            archive.writestr(name.replace("_dot_", "."), text)
    return into.getvalue()


def drop(page: Page, files: dict[str, bytes]) -> None:
    zone = page.get_by_test_id("stFileUploaderDropzone")
    expect(zone).to_be_visible()
    zone.evaluate(DROP, [[name, base64.b64encode(content).decode()] for name, content in files.items()])


def examples() -> dict[str, bytes]:
    """Twenty files: results, juries, questions, texts and files without any of them."""
    wanted = {
        "table": (0, 1, 2, 5),
        "workbook": (0,),
        "lm-eval": (0,),
        "inspect": (1,),
        "helm": (0,),
        "jury": (0,),
        "questions": (0, 2),
        UNCLEAR: (0,),
        "conversation": (0, 1),
        "choices": (0,),
        "summary": (0,),
        "config": (0,),
    }
    files: dict[str, bytes] = {}
    for kind, places in wanted.items():
        for place in places:
            files |= KINDS[kind].examples[place].files()
    return files | {"notes.md": b"Nothing to see here.\n", "empty.csv": b""}


def test_twenty_mixed_files_are_each_read_or_named(visit: Visitor, address: str):
    files = examples()
    assert len(files) == 20
    page = visit(address, width=1440).open("/data")
    drop(page, files)
    expect(page.get_by_text("Does prices.csv have questions or a model's results?")).to_be_visible()
    doubt = page.get_by_role("radiogroup", name="Questions or results")
    expect(page.get_by_text("4 of 20 files are not imported")).to_be_visible()
    expect(page.get_by_role("button", name="Import 8 runs and 1 jury")).to_be_visible()
    for sentence in (
        "scores.json: It holds scores of a whole run",
        "settings.json: It holds settings, no results.",
        "notes.md: It is text without results.",
        "empty.csv: Expected results, found an empty file.",
        "2 question banks: bank.jsonl, sums.csv.",
        "2 conversations: talk.jsonl, sharegpt.json.",
        "1 file of choices: choices.json.",
        "Jury of 3 jurors from jury.csv",
    ):
        expect(page.get_by_text(sentence).first).to_be_visible()
    doubt.get_by_text("Questions", exact=True).click()
    expect(page.get_by_text("3 question banks: ")).to_be_visible()
    for width in (1440, 390):
        resize(page, width)
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            expect_whole(settled(page))
    axe.required()
    assert axe.faults(settled(page)) == []
    resize(page, 1440)
    page.get_by_role("button", name="Use on New run").click()
    expect(page).to_have_url(re.compile("/new_run"))
    for bank in ("bank", "sums", "prices"):
        expect(page.get_by_test_id("stMultiSelect").get_by_text(bank).first).to_be_visible()
    page = visit(address, width=1440).open("/data")
    drop(page, files)
    settled(page).get_by_role("button", name="Open on Perplexity").first.click()
    expect(page).to_have_url(re.compile("/perplexity.*talks="))
    settled(page).get_by_text("More: the prompts' texts").click()
    expect(page.get_by_text("talk.jsonl: 1 conversation")).to_be_visible()
    page = visit(address, width=1440).open("/data")
    drop(page, files)
    settled(page).get_by_role("button", name="Import 8 runs and 1 jury").click()
    expect(page.get_by_text("8 runs and 1 jury imported.").first).to_be_visible()
    expect(page.get_by_role("link", name=re.compile("on the Jury page"))).to_be_visible()
    settled(page).get_by_role("link", name=re.compile("^Compare ")).first.click()
    expect(page).to_have_url(re.compile("/compare.*runs="))
    expect(page.locator(".dots .name").first).to_be_visible()


def test_files_an_archive_and_a_folder_become_runs(visit: Visitor, address: str, tmp_path: Path):
    page = visit(address, width=1440).open("/data")
    files_and_an_archive_dropped_in_one_go_are_compared(page)
    choose_page(settled(page), "Data")
    a_chosen_folder_keeps_its_name(settled(page), tmp_path)


def files_and_an_archive_dropped_in_one_go_are_compared(page: Page) -> None:
    archive = zipped(gamma_dot_csv=table(0.9, model="gamma", task="riddles"), notes_dot_md="Nothing to see here.\n")
    drop(
        page,
        {"alpha.csv": table(0.97).encode(), "beta.csv": table(0.8).encode(), "more.zip": archive, "empty.csv": b""},
    )
    task = page.get_by_role("textbox", name="Task of the 2 runs that do not name one")
    task.fill("riddles")
    task.press("Enter")
    expect(page.get_by_role("textbox", name=re.compile("^Model of the 2 runs"))).to_be_visible()
    expect(page.get_by_text("it is text without results")).to_be_visible()
    expect(page.get_by_text("expected results, found an empty file")).to_be_visible()
    expect(page.get_by_role("button", name="Import 3 runs")).to_be_visible()
    axe.required()
    assert axe.faults(settled(page)) == []
    page.get_by_role("button", name="Import 3 runs").click()
    expect(page.get_by_text("3 runs imported.").first).to_be_visible()
    settled(page).get_by_role("link", name="Compare these").click()
    for model in ("alpha", "beta", "gamma"):
        expect(page.locator(".dots .name", has_text=model).first).to_be_visible()
    expect(page.locator(".counts button").first).to_contain_text(re.compile(r"\d"))


def a_chosen_folder_keeps_its_name(page: Page, tmp_path: Path) -> None:
    folder = tmp_path / "delta folder"
    folder.mkdir()
    (folder / "answers.csv").write_text(table(0.7, model="delta"), encoding="utf-8")
    page.get_by_role("button", name="What can be dropped").click()
    page.get_by_test_id("stCheckbox").filter(has_text="Let the button choose a folder").locator("label").click()
    page.keyboard.press("Escape")
    chooser = page.locator("[data-testid=stFileUploaderDropzone] input[webkitdirectory]")
    chooser.set_input_files(folder)
    expect(page.get_by_role("textbox", name="Task of the run that does not name one")).to_be_visible()
    expect(page.get_by_text("delta folder/answers.csv").first).to_be_visible()
    settled(page).get_by_role("button", name="Import 1 run").click()
    expect(page.get_by_role("link", name="Open in the Alpha lab")).to_be_visible()
