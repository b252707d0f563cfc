"""The components of the Compare page."""
