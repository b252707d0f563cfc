"""Processes of this host: how one starts, stops and outlives its starter, and why one died."""
