"""The queue of runs, which DBOS keeps: what is asked of it, its database, and the heartbeats of hosts."""
