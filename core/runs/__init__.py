"""Runs: their specs, their files, their execution, and the processes that execute them.

``CONTRIBUTING.md`` leads from a click on a page to its figures in seven files.
"""
