"""Several judges of one answer: where they disagree, what their confidence is worth, which rule decides best."""

from app import state
from app.components.jury import make_jury
from app.components.jury.jury_choice import linked_jury
from app.components.jury.jury_figures import section
from app.components.shared.page_head import head
from app.errors import spoken
from app.state.jury import JuryView
from core import access
from core.access import UserRole

head(
    "Jury",
    "Which verdict should you trust when judges disagree?",
    terms=("juror", "rule", "abstention", "kappa", "effective votes"),
)
view = state.view(JuryView)
record = linked_jury(view)
if record:
    with spoken():
        section(record, view)
if access.may(UserRole.LAUNCHER):
    make_jury.section()
