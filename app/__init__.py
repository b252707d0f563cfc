"""Hedge's pages: state → caches → components. Statistics live in ``core``; nothing here loads torch."""
