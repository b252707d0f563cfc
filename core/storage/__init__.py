"""Storage: files that are replaced in one step and carry digests, locks, tables in chunks, and the database."""
