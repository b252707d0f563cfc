"""The components of the Learn page."""
