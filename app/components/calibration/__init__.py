"""Parts of the Calibration page."""
