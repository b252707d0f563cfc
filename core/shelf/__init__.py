"""The shelf: published result sets that can be fetched, checked, imported and recomputed.

An entry is a file of ``assets/shelf``; adding one needs no code (``assets/shelf/README.md`` describes the format).
:mod:`~core.shelf.entries` reads the entries, :mod:`~core.shelf.downloads` and :mod:`~core.shelf.hub` fetch files into
:mod:`~core.shelf.cache`, :mod:`~core.shelf.bring` imports them, and :mod:`~core.shelf.recompute` compares the figures.
"""
