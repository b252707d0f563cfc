"""Models on a server: any server that speaks the OpenAI protocol and gives log-probabilities.

``address → client (concurrency, retries, spending) → replies → abilities → engine``
"""
