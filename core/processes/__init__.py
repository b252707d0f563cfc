"""Processes of this host: how one is started that outlives its starter, and why one died."""
