"""Juries of several models that judge the same answers: confidence, agreement, one verdict, and making juries."""
