"""Hedge's documentation: written pages in ``text`` and pages generated from the code.

``mkdocs build --strict`` builds it.
"""
