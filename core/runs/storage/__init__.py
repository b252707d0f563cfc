"""Storage: deleted runs in the bin, and copies of finished runs in an archive."""
