"""What a system prompt does to every word of a counselor's: conversations, windows, token losses, perplexity."""
