"""The figures of the alpha lab: splits, shift, saturation, tables and the NumPy recipe."""
