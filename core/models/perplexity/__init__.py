"""How system prompts change the perplexity of a counselor's words: conversations, windows, token losses, figures."""
