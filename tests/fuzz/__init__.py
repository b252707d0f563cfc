"""Fuzzing: changed files, arguments, links and messages of components, by Hypothesis.

    python -m tests.fuzz TARGET --inputs N [--seed S]

Each input must end in a result or in sentences of Hedge's own, within 10 seconds of processor time and 1 GiB of memory.
An input that does not is a finding; the smallest input of each kind is kept. ``tests/test_fuzz.py`` runs a short form.
"""
