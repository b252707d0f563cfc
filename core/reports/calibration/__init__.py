"""Calibration figures: by stratum, after recalibration, at a temperature."""
