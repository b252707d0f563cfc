"""The components of the Prompting page."""
