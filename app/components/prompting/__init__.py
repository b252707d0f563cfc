"""Parts of the Prompting page."""
