"""Parts of the New run page."""
