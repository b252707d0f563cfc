"""Devices: the slots of a host on which runs are executed, and the state of its GPUs."""
