"""Models: probabilities of options and of words, adapters, perplexity, and the devices that hold them.

Torch and transformers are imported here and in :mod:`core.checks` alone; ``devices`` and ``perplexity`` need neither.
"""
