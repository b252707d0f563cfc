"""What this machine can run, and what each finding means for a run."""

from app import state
from app.components.doctor import findings
from app.components.shared.page_head import head
from app.errors import spoken

head("Doctor", "What can this machine run?")
state.no_view()
with spoken():
    findings.findings()
