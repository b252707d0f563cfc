"""The components of the New run page."""
