"""Watch whether PostgreSQL says anything at all, for all connections of a process together.

A server whose processes stand still (its machine, its disk or the way to it) takes connections
and answers nothing: whoever asks would wait as long as a statement may take.  So a connection that
has heard nothing for a while asks for a *probe*: a connection of its own that asks for a constant.
Where nothing was heard of the server for ``patience`` seconds, by the probe neither, the breaker
is open: everybody is refused at once, until a probe is answered.  One that works and is slow, or
that keeps somebody waiting for a lock, answers the probe.
"""

import os
import threading
from collections.abc import Callable
from time import monotonic, sleep

from penstock.persistence.postgresql.failures import Silent

PAUSE_SECONDS = 0.5
"""Between two probes of a server that is silent."""


class Breaker:
    """Hold what is known of one server.  ``probe`` tells whether it answers, whatever it says."""

    def __init__(self, probe: Callable[[], bool], patience: float) -> None:
        self.patience = patience
        self._probe = probe
        self._process = 0
        self._start()

    def _start(self) -> None:
        if self._process != os.getpid():  # a child has no thread of its parent's
            self._process = os.getpid()
            self._lock = threading.Lock()
            self._probing, self._last_probe = False, 0.0
            self.open = False
            self._heard = monotonic()

    def require_closed(self) -> None:
        """Raise ``Silent`` where the server is known to say nothing."""
        self._start()
        if self.open:
            raise Silent("nothing is heard of the server, which is asked again and again")

    def heard(self) -> None:
        """Note that the server has said something."""
        self._heard = monotonic()
        if self.open:
            self._start()
            self.open = False

    def silent(self, since: float) -> bool:
        """Return True if to give up who has heard nothing since a moment of ``monotonic``.

        Asks for a probe when half of the patience is over, and gives that the other half: a
        process that stood still itself has heard nothing for long either.
        """
        self._start()
        now = monotonic()
        quiet = now - max(since, self._heard)
        if quiet <= self.patience / 2:
            return False
        began = self._ask()
        if quiet <= self.patience or now - began < self.patience / 2:
            return False
        self.trip()
        return True

    def trip(self) -> None:
        """Refuse everybody until a probe is answered."""
        self._start()
        self.open = True
        self._ask()

    def _ask(self) -> float:
        """Have the server probed; since when it is."""
        with self._lock:
            if not self._probing:
                self._probing, self._last_probe = True, monotonic()
                threading.Thread(target=self._listen, name="probing", daemon=True).start()
            return self._last_probe

    def _listen(self) -> None:
        """Probe once, and where everybody is refused until that is answered."""
        while True:
            if self._probe():
                self.heard()
            with self._lock:
                if not self.open:
                    self._probing = False
                    return
            sleep(PAUSE_SECONDS)
