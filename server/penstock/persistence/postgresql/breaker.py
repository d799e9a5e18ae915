"""Watch whether PostgreSQL responds at all, for all connections of a process together.

A server that hangs (with its machine, its disk or its network) accepts connections and answers
nothing: every request would wait as long as a statement may take.  So a connection that has
received nothing for a while starts a *probe*: a separate connection that selects a constant.  If
neither it nor the probe has received anything for ``patience`` seconds, the breaker is open: every
request is refused at once, until a probe is answered.  A server that is slow, or that makes a
connection wait for a lock, still answers the probe.
"""

import os
import threading
from collections.abc import Callable
from contextlib import suppress
from time import monotonic, sleep

from penstock.persistence.postgresql.failures import Silent

PAUSE_SECONDS = 0.5
"""The pause between two probes of a silent server, in seconds."""


class Breaker:
    """Hold the state of one server.  ``probe`` returns whether it sends any answer."""

    def __init__(self, probe: Callable[[], bool], patience: float) -> None:
        self.patience = patience
        self._probe = probe
        self._process = 0
        self._start()

    def _start(self) -> None:
        if self._process != os.getpid():  # a forked child has no threads of its parent
            self._process = os.getpid()
            self._lock = threading.Lock()
            self._probing, self._last_probe = False, 0.0
            self.open = False
            self._heard = monotonic()

    def require_closed(self) -> None:
        """Raise ``Silent`` if the server is known to be silent; it is probed then."""
        self._start()
        if self.open:
            self._ask()
            raise Silent("the server sends nothing; it is probed again and again")

    def heard(self) -> None:
        """Note that the server has sent something."""
        self._heard = monotonic()
        if self.open:
            self._start()
            self.open = False

    def silent(self, since: float) -> bool:
        """Return True if a connection that has received nothing since a time should give up.

        The time is of ``monotonic``.  Starts a probe when half of the patience is over, and gives
        it the other half: a process that was stopped itself has received nothing for long either.
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
        """Refuse every request until a probe is answered."""
        self._start()
        self.open = True
        self._ask()

    def _ask(self) -> float:
        """Start a probe of the server; return since when one runs."""
        with self._lock:
            if not self._probing:
                self._last_probe = monotonic()
                # If the system gives no thread now, the next request asks for one again.
                with suppress(RuntimeError):
                    threading.Thread(target=self._listen, name="probing", daemon=True).start()
                    self._probing = True
            return self._last_probe

    def _listen(self) -> None:
        """Probe once; if requests are refused, until a probe is answered."""
        while True:
            if self._probe():
                self.heard()
            with self._lock:
                if not self.open:
                    self._probing = False
                    return
            sleep(PAUSE_SECONDS)
