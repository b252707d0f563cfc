"""Adapters with uncertainty: ARD-LoRA, LoRA as its baseline, and the uncertainty of single tokens."""
