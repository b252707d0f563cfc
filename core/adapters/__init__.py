"""Adapters that say how sure they are: ARD-LoRA, LoRA beside it, and the uncertainty of single tokens."""
