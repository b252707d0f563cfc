"""Where the end of a lesson leads: the next lesson of the course, and the pages that show its subject."""

from dataclasses import dataclass
from urllib.parse import urlencode

from app import navigation, state
from app.navigation import PageEntry
from app.state.alpha_lab import AlphaLabView
from app.state.calibration import CalibrationView
from app.state.jury import JuryView
from app.state.learn import LearnView
from app.state.one_question import OneQuestionView
from app.state.prompting import PromptingView
from core.reports.lesson import LESSONS, readable


@dataclass(frozen=True, slots=True)
class Onward:
    """A page to which the end of the lesson leads, opened at the addresses' values ``view``.

    ``lesson`` is the next lesson of the course, which opens on the same page, or empty.
    """

    page: PageEntry
    title: str
    text: str
    view: dict[str, str]
    lesson: str = ""

    def to_json(self) -> dict[str, str]:
        """The link as the browser needs it."""
        query = f"?{urlencode(self.view)}" if self.view else ""
        name, way = (self.lesson, "lesson") if self.lesson else (self.page.name, "page")
        return {"name": name, "title": self.title, "text": self.text, "href": f"{self.page.name}{query}", "way": way}


def onwards(source: str, lesson: str = "sets") -> tuple[Onward, ...]:
    """The next lesson and the pages to which the end of a lesson leads. They open with the lesson's ``source``, the id
    of its run or jury, and with its alpha.
    """
    links = (*_next(lesson), *_pages(source, lesson))
    return tuple(link for link in links if navigation.is_open(link.page))


def _next(lesson: str) -> tuple[Onward, ...]:
    names = list(LESSONS)
    at = names.index(lesson) + 1
    if at == len(names) or not (content := readable(names[at])):
        return ()
    view = state.address_of(state.fresh(LearnView, lesson=names[at]))
    return (Onward(navigation.LEARN, f"Next lesson: {content.short}", content.subtitle, view, names[at]),)


def _pages(source: str, lesson: str) -> tuple[Onward, ...]:
    if lesson == "calibration":
        view = state.address_of(state.fresh(CalibrationView, runs=source))
        return (Onward(navigation.CALIBRATION, "Open this run on Calibration", "With intervals and other runs.", view),)
    if lesson == "juries":
        view = state.address_of(state.fresh(JuryView, jury=source))
        return (Onward(navigation.JURY, "Open this jury", "Every rule, every pair of jurors, every answer.", view),)
    if lesson == "asking":
        view = state.address_of(state.fresh(PromptingView))
        return (
            Onward(navigation.PROMPTING, "Open Prompting", "All ways of asking, with intervals and questions.", view),
            Onward(navigation.NEW_RUN, "Run a benchmark", "Ask a model in both ways.", {}),
        )
    lab = state.address_of(state.fresh(AlphaLabView, run=source))
    own = state.address_of(state.fresh(OneQuestionView, run=source, ask="own"))
    return (
        Onward(navigation.ALPHA_LAB, "Open this run in the Alpha lab", "All its scores and questions.", lab),
        Onward(navigation.ONE_QUESTION, "Ask a question of your own", "See the model's prediction set for it.", own),
        Onward(navigation.NEW_RUN, "Run a benchmark", "Measure another model or another task.", {}),
    )
