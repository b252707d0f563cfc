"""Figures of the Overview page: published results, and models with similar accuracy."""
