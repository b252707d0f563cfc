"""Hedge's engine: questions in, prediction sets and their figures out. No streamlit and no charts here."""

import os

__version__ = "0.1.0"
"""Hedge's version; the newest heading of CHANGELOG.md, and the tag ``v0.1.0`` of the commit that is released."""

# Torch's threads wait for each other asleep. By default they spin, and on processors that others use as well a run then
# takes ten times as long; the setting is read once, when torch is loaded.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
