"""Storage: deleted runs in the trash, and archived runs."""
