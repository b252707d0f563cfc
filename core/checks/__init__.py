"""Checks of a machine: Doctor's list, and what a run may need, tried, each check in a process of its own."""
