"""Calibration figures by stratum, after recalibration, and at a temperature."""
