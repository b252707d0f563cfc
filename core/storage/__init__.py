"""Files that are replaced in one step, locks that a process holds, and tables that are written in chunks."""
