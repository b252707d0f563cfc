"""Hedge's manual: written pages in ``text``, pages generated from the code, and how they look in ``look``.

``python -m docs`` writes it (:func:`docs.manual.write_manual`).
"""
