"""The components of the Doctor page."""
