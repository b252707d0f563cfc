"""The components of the Overview page."""
