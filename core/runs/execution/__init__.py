"""Execution: one run from its prompts to its files, in this process."""
