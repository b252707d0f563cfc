"""The components of the One question page."""
