"""Parts of the Perplexity page."""
