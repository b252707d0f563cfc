"""All caches, a file a page. Arrays and frames in them are shared by every session: read them, never write.

A run is keyed by its id and its stamp (when ``run.json`` was last written), so a repeated run is read anew.

A full cache drops the entry that was used longest ago. A page that goes through more runs than the cache holds thus
never finds one of them again, and computes all of them at every view. So a cache that a page fills from all runs holds
:data:`app.caches.run_cache.EVERY_RUN`, and the others hold what several views need at once. The comment beside a cache
says how much memory one entry takes, as `python -m tests.benchmarks.cache_memory` measures it on what ships: on
average, and at most. Most entries grow with the number of questions; the largest run that ships has 2,129.
"""
