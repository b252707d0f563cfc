"""Processes with limits: what comes from outside is read in one, and it dies in place of the page or the worker.

A :class:`ForkServer` is a process that has imported what the work needs. For each piece of work it forks a child
with a limit of memory and of processor time. A child that reaches a limit is killed by the system, whatever code it is
in, and the caller gets :class:`LimitReached`.

The limit of memory is ``RLIMIT_DATA``, which counts writable private memory. ``RLIMIT_AS`` would also count the address
space that allocators and threads reserve and never use. Systems without these limits have the limit of time alone.
"""

from core.processes.confined.channel import Channel, LimitReached, Limits
from core.processes.confined.fork_server import ForkServer, Session, misunderstood

__all__ = ["Channel", "ForkServer", "LimitReached", "Limits", "Session", "misunderstood"]
