"""Verification: tries on this machine what a run may need of it, each check in a process of its own."""
