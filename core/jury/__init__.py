"""Several judges of one answer: what their confidence is worth, where they disagree, and how one verdict is formed."""
