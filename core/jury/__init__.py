"""Juries of several models that judge the same answers: confidence, agreement, and rules for one verdict."""
