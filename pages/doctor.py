"""What this machine can run, and what each finding means for a run."""

from app import state
from app.components.doctor import findings, verification
from app.components.shared.page_head import head
from app.errors import spoken

head("Doctor", "What can this machine run?", terms=("run", "precision"))
state.no_view()
with spoken():
    verification.verification()
    findings.findings()
