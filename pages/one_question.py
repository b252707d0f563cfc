"""One question: the alpha at which each option leaves its set, under every score and in every run."""

from app import state
from app.components.one_question import own_question, question
from app.components.shared.page_head import head_beside
from app.state.one_question import OneQuestionView

names_run_alone = state.came_by_run_link(without="question")
view = state.view(OneQuestionView)
place = head_beside(
    "One question",
    "Which answers can't be ruled out?",
    terms=("prediction set", "alpha", "p-value", "threshold"),
)
with place:
    question.pick_kind(view)
if view.ask == "own":
    own_question.ask(view)
else:
    question.question_of_a_run(view, place, first=names_run_alone)
