"""The host agent and its workers: processes that are started, watched and restarted."""
