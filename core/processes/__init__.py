"""Processes of this host: how one starts and stops, why one died, and those that read what comes from outside."""
