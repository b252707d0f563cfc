"""The caches that several pages use. A cache of one page lies in that page's folder of `app/components/`.

Every session shares the cached arrays and frames, so they must be read and never written. A run's key is its id and its
stamp (the time at which ``run.json`` was last written), so a repeated run is read again.

A full cache drops the least recently used entry. A page that loops over more runs than the cache holds would therefore
never hit the cache, and would compute every run again at every view. So a cache that a page fills from all runs is a
:class:`app.caches.per_run.PerRun`. The others, mostly by :func:`app.caches.by_version.by_version`, hold what several
views need at once.

The comment beside a cache gives the memory of one entry, on average and at most, as a pickle of the shipped data. Most
entries grow with the number of questions; the largest run that ships has 2,129.
"""
