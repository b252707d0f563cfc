"""Devices: the slots of a host on which models are run, what they can hold, and the state of its GPUs."""
