"""Storage: deleted runs in the trash, archived runs, and the columns of Parquet files."""
