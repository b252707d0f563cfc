"""A class as a model: students say how sure they are, and their answers become a run beside a small model's."""

from app import state
from app.components.classroom.classroom import classroom
from app.components.shared.page_head import head
from app.errors import spoken

head(
    "Classroom",
    "How sure is a room full of people, beside a small model?",
    terms=("prediction set", "alpha", "threshold", "calibration questions"),
)
state.no_view()
with spoken():
    classroom()
