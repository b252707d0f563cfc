"""The queue: which runs wait, in which order, and which worker has which."""
