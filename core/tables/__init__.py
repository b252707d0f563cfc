"""Tables from outside as columns, within limits: CSV, JSON, JSON lines, Parquet and workbooks, and columns of lists."""
