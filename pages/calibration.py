"""How far a run's confidence can be trusted, and what temperature scaling does to it."""

from app import state
from app.caches import run_cache
from app.components.calibration import bin_questions, diagrams, figures_table, paper, recalibration
from app.components.shared import controls
from app.components.shared.caveat_notes import caveat_notes
from app.components.shared.page_head import head
from app.components.shared.run_picker import pick_runs
from app.state.calibration import CalibrationView

head(
    "Calibration",
    "When a model says 90%, is it right 90% of the time?",
    terms=("confidence", "reliability", "ece", "nll", "temperature"),
)
view = state.view(CalibrationView)
chosen = pick_runs(view, "Reliability diagrams", first=3)

if chosen:
    records = [run_cache.record(run_id) for run_id in chosen]
    view = controls.with_offered_scores(view, records, "score")
    caveat_notes(records)
    named = diagrams.diagrams_of(chosen, view)
    if named:
        diagrams.answer(named)
        diagrams.diagrams(named)
    diagrams.choices(view)
    if named:
        figures_table.table(named)
        bin_questions.questions(named, view)
    recalibration.temperature(chosen, view)
    diagrams.every_alpha(chosen)
    if named:
        paper.calibration_paper(named, view)
