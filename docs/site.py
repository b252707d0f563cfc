"""The static site: live figures of runs that ship, the course and the manual, for people who don't have Hedge.

A page with a figure is an embed (:mod:`charts.embed`) with the site's links around it, so a browser fetches one file
for it. Any web space can serve the folder, below any path.
"""

import base64
import logging
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from app.caches import jury_cache, question_cache, run_cache
from app.components.learn import course, embedded_lesson
from app.components.one_question.option_bars import AskedQuestion, embedded_bars
from app.components.shared.caveat_notes import caveat_line
from app.components.shared.runs import title
from app.components.stream_lab import embedded_streams, kinds
from app.navigation import ICON
from app.showcase import first_run, showcase
from app.state.learn import LearnView
from app.state.one_question import OneQuestionView
from app.state.stream_lab import StreamLabView
from charts.embed import embed_html, lab_embed, run_source
from core.conformal.scores import SCORES
from core.errors import InputError
from core.reports.frames import lab_tables
from core.reports.lesson import LESSONS, load
from core.reports.titles import record_task_title
from core.reports.toy_models import what_they_are
from core.runs import store
from core.runs.store import RunRecord
from docs.manual import TEXT, write_manual

MARK = ".hedge-site"
"""The file that says that the site was written here; it lists what may be replaced, a name a line."""
FRONT, MANUAL = "index.html", "manual"
TITLE = "How sure is a language model?"
LEAD = (
    "Hedge keeps every option that a model can’t rule out: its prediction set. Drag alpha, the share of questions "
    "whose set may miss the truth."
)
COURSE, LABS, QUESTIONS, STREAM = "Course", "Labs", "Questions", "Stream lab"
ABOUT = {
    COURSE: "Lessons in small steps, with a guess in each and figures that move.",
    LABS: "Drag alpha, and see the sets, the coverage and the set size of other models and tasks.",
    QUESTIONS: "See at which alpha each option leaves the set.",
    STREAM: "Change the kind of question in mid-stream, and see which threshold keeps its promise.",
}
STREAM_BEGINS_WITH = "rc"
"""The task of the stream's first questions: the threshold that fits them is too low for those of the showcase's run."""
ADDRESS = re.compile(r"https?://[^\s<>\"'`\\]{1,500}", re.ASCII)

Around = Mapping[str, Any] | None
"""The values of ``charts/site.html``; None for an embed."""


class Link(NamedTuple):
    """A link of the site, with a line about its page; ``current`` marks the page that is shown."""

    href: str
    name: str
    about: str = ""
    current: bool = False


@dataclass(frozen=True, slots=True)
class SitePage:
    """A page with a figure: its file, the group of pages to which it belongs, its name among them, a line about it, and
    what makes it from what stands around the figure."""

    file: str
    group: str
    name: str
    about: str
    make: Callable[[Around], bytes]


def lab_of(run_id: str, around: Around = None) -> bytes:
    """The Alpha lab of a run."""
    record, run = run_cache.record(run_id), run_cache.evaluation(run_id)
    unnamed = around and around["front"]  # the front page has its own heading
    source = run_source(run, name=title(record) if unnamed else "")
    return lab_embed(lab_tables(run), title=title(record), source=source, around=around)


def question_of(run_id: str, question_id: str, around: Around = None) -> bytes:
    """A test question of a run."""
    record, shown = run_cache.record(run_id), question_cache.shown_question(run_id, question_id)
    original = shown.question
    question = AskedQuestion(original.question, original.context, original.options, original.label, shown.probabilities)
    data = embedded_bars(question, shown.standings, question_cache.calibrated_run(run_id), OneQuestionView())
    source = run_source(run_cache.evaluation(run_id), name=title(record))
    return embed_html(
        "one-question", data, title=f"One question: {record_task_title(record)}", source=source, around=around
    )


def streams_of(first: RunRecord, second: RunRecord, around: Around = None) -> bytes:
    """The Stream lab of two runs."""
    view = StreamLabView()
    tables = kinds.stream_tables(first.run_id, second.run_id, view.score)
    names = [record_task_title(record) for record in (first, second)]
    runs = {record.run_id: record for record in (first, second)}
    source = f"Data: {title(first)}, then {title(second)}. Score: {SCORES[view.score].title}."
    return embed_html(
        "stream-lab",
        embedded_streams(tables, names, view),
        title=f"Stream lab: {', then '.join(names)}",
        source=f"{source} {caveat_line(*runs.values())}".rstrip(),
        heading=True,
        around=around,
    )


def lesson_of(name: str, around: Around = None) -> bytes:
    """A lesson of the course, with the run or the jury with which it opens in the app."""
    content, source = load(LESSONS[name]), ""
    if name == "juries":
        tables = course.jury_tables(showcase().jury)
        (data_name,) = (jury.name for jury in jury_cache.records()[0] if jury.jury_id == showcase().jury)
        model = ""
    elif name == "asking":
        tables, model = (
            course.asking_tables(showcase().prompting),
            run_cache.record(showcase().prompting).spec.model_name,
        )
        data_name = f"{model}, by letter and by text"
    else:
        record = run_cache.record(first_run(name))
        tables_of = course.lesson_tables if name == "sets" else course.calibration_tables
        tables, data_name, model = tables_of(record.run_id), title(record), record.spec.model_name
        source = caveat_line(record)
    data = embedded_lesson(content, tables, name=data_name, model=model, view=LearnView(lesson=name))
    return embed_html("lesson", data, title=content.title, source=source, heading=True, around=around)


def site_pages() -> list[SitePage]:
    """Every page with a figure but the front page, in the order of the menu.

    The runs are that of the :func:`~app.showcase.showcase`, those of its model on other tasks, and its sisters.
    """
    shown = run_cache.record(showcase().run)
    bundled = [record for record in run_cache.runs().finished if store.is_bundled(record.run_id)]
    of_model = {record.spec.task: record for record in bundled if record.spec.model_name == shown.spec.model_name}
    of_model = {shown.spec.task: shown} | of_model
    sisters = [run_cache.record(run_id) for run_id in showcase().sisters]
    pages = []
    for name, path in LESSONS.items():
        content = load(path)
        pages.append(SitePage(f"lesson-{name}.html", COURSE, content.short, content.subtitle, partial(lesson_of, name)))
    for record in (*of_model.values(), *sisters):
        file = f"lab-{record.spec.model_name}-{record.spec.task}.html"
        pages.append(SitePage(file, LABS, title(record), "", partial(lab_of, record.run_id)))
    for task, record in of_model.items():
        question_id = question_cache.first_shown(record.run_id)
        about = question_cache.shown_question(record.run_id, question_id).question.question
        make = partial(question_of, record.run_id, question_id)
        pages.append(SitePage(f"question-{task}.html", QUESTIONS, record_task_title(record), about, make))
    first = of_model[STREAM_BEGINS_WITH]
    name = f"{record_task_title(first)}, then {record_task_title(shown)}"
    return [*pages, SitePage("stream-lab.html", STREAM, name, "", partial(streams_of, first, shown))]


def write_site(folder: Path, *, repository: str = "") -> list[Path]:
    """Write the site into a folder, which is created if it is missing; returns its files, the front page first.

    The folder must be empty, or have been written by this function: then it is replaced once all of it is made.
    ``repository`` is the address of Hedge's source, for a link. Raises :class:`InputError` for a folder with other
    files, and for a text in place of the address.
    """
    if repository and not ADDRESS.fullmatch(repository):
        raise InputError(
            f"the repository must be an address such as https://example.org/ann/hedge, got {repository[:100]!r}"
        )
    with _replaced(folder) as new, _without_warnings():
        pages = site_pages()
        for page in pages:
            (new / page.file).write_bytes(page.make(_around(pages, page)))
        front = _around(pages, None) | {"front": _front(pages, repository)}
        (new / FRONT).write_bytes(lab_of(showcase().run, front))
        write_manual(new / MANUAL, site=f"../{FRONT}")
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != MARK)
    return sorted(files, key=lambda path: path != folder / FRONT)


def _around(pages: Sequence[SitePage], page: SitePage | None) -> dict[str, Any]:
    """The links around a page's figure; None stands for the front page."""
    group = page.group if page else ""
    menu = [Link(FRONT, "Hedge", current=page is None)]
    for name in ABOUT:
        first = next(each for each in pages if each.group == name)
        menu.append(Link(first.file, name, current=name == group))
    menu.append(Link(f"{MANUAL}/index.html", "Manual"))
    beside = [Link(each.file, each.name, current=each is page) for each in pages if each.group == group]
    icon = f"data:image/svg+xml;base64,{base64.b64encode(ICON.read_bytes()).decode()}"
    return {"menu": menu, "beside": beside, "group": group, "icon": icon, "front": None}


def _front(pages: Sequence[SitePage], repository: str) -> dict[str, Any]:
    """What the front page says around the lab."""
    lead = f"{LEAD} {what_they_are([run_cache.record(showcase().run).spec.model_name])}"
    sections = [
        (group, about, [Link(page.file, page.name, page.about) for page in pages if page.group == group])
        for group, about in ABOUT.items()
    ]
    install = _install()
    after = [
        Link(f"{MANUAL}/faq.html", "First questions", "How large it is, where it runs, what your files must look like")
    ]
    if repository:
        install = f"git clone {repository} hedge && cd hedge\n{install}"
        after.append(Link(repository, "The source"))
    lesson = next(page.file for page in pages if page.group == COURSE)
    return {"title": TITLE, "lead": lead, "lesson": lesson, "sections": sections, "install": install, "after": after}


def _install() -> str:
    """The command of the manual's first page."""
    (install,) = re.findall(r"```sh\n(.+)\n```", (TEXT / "index.md").read_text(encoding="utf-8"))
    return str(install)


@contextmanager
def _without_warnings() -> Iterator[None]:
    """Streamlit warns that no page asks for what is cached."""
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        yield
    finally:
        logging.disable(before)


@contextmanager
def _replaced(folder: Path) -> Iterator[Path]:
    """A new folder whose content takes the place of the earlier site in ``folder``, unless the body fails."""
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is a file; name a new folder")
    folder.mkdir(parents=True, exist_ok=True)
    mark = folder / MARK
    earlier = mark.read_text(encoding="utf-8", errors="replace").splitlines() if mark.is_file() else []
    if not mark.is_file() and any(folder.iterdir()):
        raise InputError(
            f"{folder} is not empty and was not written by `hedge site`; name a new folder, or empty this one"
        )
    with tempfile.TemporaryDirectory(prefix=f"{MARK}-", dir=folder) as work:
        new, old = Path(work, "new"), Path(work, "old")
        new.mkdir()
        old.mkdir()
        yield new
        names = sorted(path.name for path in new.iterdir())
        mark.write_text("\n".join({*earlier, *names}), encoding="utf-8")  # in case this is the last that is done
        for path in [path for path in folder.iterdir() if path.name in {*earlier, *names} - {MARK}]:
            path.rename(old / path.name)
        for name in names:
            (new / name).rename(folder / name)
        mark.write_text("\n".join(names), encoding="utf-8")
