"""Tables of true facts, one file a field; within a table the best known facts come first."""
