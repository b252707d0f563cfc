"""The components of the Perplexity page."""
