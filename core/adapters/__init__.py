"""Adapters of language models: trained, kept as safetensors, and used like models. Torch is imported here."""
