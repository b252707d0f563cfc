"""Stop signals: how a process with work to finish learns that it should stop."""

import signal
from types import FrameType


class StopSignals:
    """Whether this process was asked to stop, by SIGTERM, SIGINT (Ctrl-C) or SIGHUP.

    Create it in the main thread, before anything that has to be cleaned up. SIGINT counts even if the process started
    with SIGINT ignored, as a shell starts what runs behind ``&``: who sends it then means this process. SIGHUP stays
    ignored if it was, because that is what ``nohup`` is for.
    """

    def __init__(self) -> None:
        self.requested = False
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN:
                signal.signal(number, self._request)

    def _request(self, number: int, frame: FrameType | None) -> None:
        # Only a plain attribute: a lock, as in threading.Event.set(), may be held by the line that this interrupts.
        self.requested = True
