"""Scoring prompts with a language model.

Only this package and ``core.models.adapters`` import torch or transformers.
"""
