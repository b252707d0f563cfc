"""Calibration: whether a model's confidence matches its accuracy, how large the error is, and how to correct it."""
