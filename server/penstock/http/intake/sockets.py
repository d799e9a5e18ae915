"""Bound the time in which a client's connection is read and written."""

import select
import socket
from collections.abc import Callable
from typing import Any

MOST_KEPT = 512 * 1024
"""Bytes of an answer that wait for their reader without a thread; most answers are smaller."""

SLICE_SECONDS = 0.25
GRACE_SECONDS = 5.0
"""Seconds that a slow reader of a large answer keeps its thread while others wait for one."""

_PIECE = 256 * 1024


class Socket(socket.socket):
    """Hold a connection of an accepted ``descriptor``.

    ``until``, by ``clock``, is when the client must have sent its request.  ``patience`` is how
    many seconds it may take to read an answer, fewer if ``crowded`` says that requests wait for a
    thread.  ``backlog`` holds the end of an answer that the client has not read yet.
    """

    def __init__(
        self,
        descriptor: int,
        patience: float,
        crowded: Callable[[], bool],
        clock: Callable[[], float],
    ) -> None:
        super().__init__(fileno=descriptor)
        self.until = clock() + patience
        self.backlog = bytearray()
        self._patience = patience
        self._crowded = crowded
        self._clock = clock

    def recv(self, size: int, flags: int = 0) -> bytes:
        """Read the bytes that have come.  Raises ``ConnectionResetError`` when the time is over."""
        own = self.gettimeout()
        if own == 0.0:
            return super().recv(size, flags)
        left = self.until - self._clock()
        if left <= 0:
            raise ConnectionResetError("the client has not sent its request in time")
        if own is None:
            try:
                # Most requests have come as a whole before anybody reads them.
                return super().recv(size, flags | socket.MSG_DONTWAIT)
            except BlockingIOError:
                pass
        self.settimeout(left if own is None else min(own, left))
        try:
            return super().recv(size, flags)
        finally:
            self.settimeout(own)

    def go_on(self) -> None:
        """Give the client the whole time again for the rest of a request that is long."""
        self.until = self._clock() + self._patience

    def sendall(self, data: Any, flags: int = 0) -> None:  # noqa: ARG002  # the shape of socket
        """Write ``data``, except for an end that is kept until the client reads it.

        Raises ``ConnectionResetError`` if the client takes too long to read the rest.
        """
        view = memoryview(data).cast("B")
        waited = 0.0
        while True:
            self.flush()
            if not self.backlog:
                view = view[self._written(view) :]
            if len(self.backlog) + len(view) <= MOST_KEPT:
                self.backlog += view
                return
            if waited > self._patience or (waited > GRACE_SECONDS and self._crowded()):
                raise ConnectionResetError("the client has not read its answer in time")
            waited += self._wait()

    def flush(self) -> None:
        """Write as much of the backlog as the client accepts at once."""
        if self.backlog:
            with memoryview(self.backlog) as view:
                sent = self._written(view)
            del self.backlog[:sent]

    def _written(self, view: memoryview) -> int:
        """Write the beginning of ``view``, as far as it need not wait; return its length."""
        own = self.gettimeout()
        if own:
            # With a timeout, Python waits for the client whatever the flags say.
            self.settimeout(None)
        sent = 0
        try:
            while sent < len(view):
                sent += super().send(view[sent : sent + _PIECE], socket.MSG_DONTWAIT)
        except BlockingIOError:
            pass
        finally:
            if own:
                self.settimeout(own)
        return sent

    def _wait(self) -> float:
        """Wait until the client accepts more, or for a moment; return how long that was."""
        began = self._clock()
        poll = select.poll()
        poll.register(self.fileno(), select.POLLOUT)
        poll.poll(SLICE_SECONDS * 1000)
        return self._clock() - began
