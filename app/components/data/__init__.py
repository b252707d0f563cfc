"""The components of the Data page."""
