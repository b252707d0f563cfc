"""The components of the Calibration page."""
