"""Parts of the Overview page."""
