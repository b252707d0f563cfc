"""The host agent (``hedge agent``): one per host, it keeps one worker per slot running.

It restarts workers that die, kills those that hang, writes the end of a run into ``run.json`` if its worker could not,
and records heartbeats. It executes no run itself.

Workers start when there is something to do and go five minutes after the last run (``HEDGE_WARM_MINUTES``), which
frees their memory and the GPU's; until then the next run finds one that is warm. An agent that a person starts stays
until it is stopped, or as long after the last run as ``--idle-minutes`` says. One that the app starts by itself goes
after five minutes without a run, so that trying Hedge once leaves nothing behind; the next run starts another. An agent
that is stopped with Ctrl-C or SIGTERM puts the runs that it had begun back into the queue. If it is killed, its
successor does that.
"""

import sys

from core.errors import HedgeError, InputError
from core.models.devices.slots import slots
from core.processes import log_lines
from core.processes.stop_signals import StopSignals
from core.runs.agent import liveness
from core.runs.agent.worker_process import WorkerProcess
from core.storage.file_lock import holder, take


def main(*, idle_minutes: float | None = None) -> None:
    """Be this host's agent until stopped by a signal, or, where ``idle_minutes`` is given, after this long idle.

    Raises :class:`~core.errors.InputError` if an agent lives here already.
    """
    stop = StopSignals()  # before the lock, so that a signal never leaves this process between two states
    lock = take(liveness.agent_lock())
    if lock is None:
        pid = holder(liveness.agent_lock())
        raise InputError(f"an agent already lives on this host (process {pid}); end it with `kill {pid}` first")
    log_lines.begin("agent")
    with lock:
        workers = [WorkerProcess(slot) for slot in slots()]
        for worker in workers:
            worker.tend()  # first, because they need longer to start than anything else
        from core.runs.agent.agent_loop import Agent

        agent = Agent(lock, workers, idle_s=None if idle_minutes is None else idle_minutes * 60, stop=stop)
        log_lines.say(
            f"agent of {liveness.host()}: {', '.join(worker.slot.name for worker in agent.workers)}; Ctrl-C stops it"
        )
        agent.run()
    if agent.ended_idle:
        from core.runs.engine import ensure_agent
        from core.runs.queue import run_queue

        # A run may have been queued while this agent was ending and still held the lock.
        if any(map(agent.is_for_here, run_queue.unfinished().values())):
            ensure_agent()


if __name__ == "__main__":
    try:
        main(idle_minutes=float(sys.argv[1]) if sys.argv[1:] else None)
    except HedgeError as error:
        print(error, file=sys.stderr)
        sys.exit(error.exit_status)
