"""Several judges of one answer: where they disagree, what their confidence is worth, which rule decides best."""

from app import state
from app.components.jury.jury_choice import pick
from app.components.jury.jury_figures import section
from app.components.shared.page_head import head
from app.state.jury import JuryView

head(
    "Jury",
    "Which verdict should you trust when judges disagree?",
    terms=("juror", "rule", "abstention", "kappa", "effective votes"),
)
view = state.view(JuryView)
record = pick(view)
if record:
    section(record, view)
