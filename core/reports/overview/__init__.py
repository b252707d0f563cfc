"""The figures of the Overview page beside the runs' own."""
