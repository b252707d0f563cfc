"""Models on a server: any server that speaks the OpenAI protocol and gives log-probabilities.

``address → permission → client (concurrency, retries, spending) → reply_body → replies → abilities → engine``
"""
