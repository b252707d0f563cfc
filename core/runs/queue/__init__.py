"""The queue of runs, which DBOS keeps: what is asked of it, and the heartbeats of hosts."""
