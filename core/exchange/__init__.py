"""Importers: results of other tools, read and checked. One file per format.

A format's reader turns files into :class:`~core.exchange.imported.ImportedRun`; nothing is written before every
file of an import has been read and found right.
"""
