"""Parts of the Doctor page."""
