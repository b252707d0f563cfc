"""The Alpha lab: drag alpha and see the coverage that it promises and the set size that it costs."""

from app import state
from app.components.alpha_lab.bounded_lab import bounded_lab
from app.components.alpha_lab.exact_lab import embed_lab, exact_lab
from app.components.alpha_lab.paper import lab_paper
from app.components.shared import controls
from app.components.shared.page_head import head_beside
from app.components.shared.run_picker import pick_run
from app.state.alpha_lab import AlphaLabView

place = head_beside(
    "Alpha lab",
    "How often may a set miss the truth?",
    terms=("alpha", "prediction set", "coverage", "set size", "threshold", "calibration questions"),
)
view = state.view(AlphaLabView)
record = pick_run(view, "Coverage and set size at every alpha", ranges=True)
if record:
    view = controls.with_offered_scores(view, [record], "left", "right")
if record and record.bounded:
    bounded_lab(record, view)
elif record:
    with place:
        embed_lab(record)
    exact_lab(record)
    lab_paper(record, view)
