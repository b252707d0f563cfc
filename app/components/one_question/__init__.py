"""Parts of the One question page."""
