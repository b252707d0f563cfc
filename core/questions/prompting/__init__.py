"""Prompts: questions turned into the exact text that a model reads."""
