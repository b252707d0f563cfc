"""A lesson in conformal prediction with live figures."""

from app import state
from app.components.learn import lesson
from app.components.shared.runs import pick_run
from app.state.learn import LearnView
from core.reports.lesson import load

view = state.view(LearnView)
told = load()
lesson.head(told, view)
record = pick_run(view, "A lesson with live figures")
if record:
    lesson.step(told, view, record)
