"""The data of the further lessons of the course: calibration, juries, asking. The browser computes their figures."""
