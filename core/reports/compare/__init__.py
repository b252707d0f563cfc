"""Figures of several runs: paired tests, claims, benchmark tables, selective prediction."""
