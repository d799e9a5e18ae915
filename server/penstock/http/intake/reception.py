"""Hold the connections of a worker that have no thread: they arrive, are written to, or end.

The worker's own loop looks after them.  A connection has a thread only while a whole request is
answered; bodies that are too large to be kept in memory have a few separate threads, and so have
the addresses that monitoring polls.
"""

import contextlib
import errno
import selectors
import socket
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from enum import Enum
from functools import partial
from typing import Any

from gunicorn.http.message import Request
from gunicorn.workers.gthread import TConn

from penstock.http.intake import heads, malformed
from penstock.http.intake.sockets import Socket

WATCHED = ("/healthz", "/readyz")
"""Paths that load balancers poll; each has a reserved thread."""

READING_THREADS = 4
LINGER_SECONDS = 2.0
"""Seconds that a stopping worker waits for requests on kept-alive connections."""

CLOSING_SECONDS = 5.0
"""Seconds that a closing connection is still read from (RFC 9112, 9.6), so that a client reads
the refusal of a body that it is still sending."""

MOST_LINGERING = 2**30
MOST_KEPT = 32 * 1024 * 1024
"""Bytes of all answers together that wait for their readers."""

_READ = 64 * 1024
_LATER = (errno.EAGAIN, errno.EWOULDBLOCK, errno.ECONNABORTED)
_NO_ROOM = (errno.EMFILE, errno.ENFILE)


class Phase(Enum):
    """Name the phase of a connection that no thread serves."""

    ARRIVING = "arriving"
    SENDING = "sending"
    LINGERING = "lingering"


class LastRequest(Request):  # type: ignore[misc]  # gunicorn has no annotations
    """Hold a request after which its connection is closed, however much of its body was read.

    gunicorn would read the rest of the body on a thread, for as long as the client takes to send
    it; the loop does that without one (``Phase.LINGERING``).
    """

    def should_close(self) -> bool:
        """Close, always."""
        return True


class Connection(TConn):  # type: ignore[misc]  # gunicorn has no annotations
    """Hold a client's connection and its state while no thread serves it."""

    phase = Phase.ARRIVING
    until = 0.0
    extent: heads.Extent | None = None
    """The extent of the arriving request, as soon as it is known."""

    looked = 0
    """Number of bytes already searched for the end of the head."""

    kept = False
    """True if the connection stays open for another request."""

    drained = 0


class Reception:
    """Receive requests for ``worker``, gunicorn's threaded worker.

    ``patience`` in seconds by ``clock``; ``prefix`` precedes each path for proxies.
    """

    def __init__(
        self, worker: Any, patience: float, prefix: str, clock: Callable[[], float]
    ) -> None:
        self._worker = worker
        self._threads: ThreadPoolExecutor = worker.tpool
        self._patience = patience
        self._clock = clock
        self._waiting: dict[Connection, None] = {}
        self._queued: set[Connection] = set()
        self._reading = ThreadPoolExecutor(READING_THREADS, "reading")
        self._apart: dict[str, ThreadPoolExecutor] = {}
        for path in WATCHED:
            self._apart[path] = self._apart[prefix + path] = ThreadPoolExecutor(1, path.strip("/"))
        self._ends_at: float | None = None

    def install(self) -> None:
        """Replace the worker's own methods, which its loop calls by these names."""
        self._worker.accept = self.accept
        self._worker.enqueue_req = self.await_request
        self._worker.finish_request = self.finish
        self._worker.murder_pending = self.expire

    def accept(self, listener: socket.socket) -> None:
        """Accept a new connection; if there is no room, close the one that has waited longest."""
        try:
            accepted, address = listener.accept()
        except OSError as error:
            if error.errno in _NO_ROOM:
                self._make_room()
            elif error.errno not in _LATER:
                raise
            return
        self._worker.nr_conns += 1
        made = Socket(accepted.detach(), self._patience, self._is_crowded, self._clock)
        connection = Connection(self._worker.cfg, made, address, listener.getsockname())
        connection.init()
        self.await_request(connection)

    def await_request(self, connection: Connection) -> None:
        """Wait for a request, part of which may have come with the one before."""
        connection.extent, connection.looked = None, 0
        connection.sock.until = self._clock() + self._patience
        if not self._handed_over(connection):
            self._wait(connection, Phase.ARRIVING, connection.sock.until)

    def finish(self, connection: Connection, done: "Future[bool]") -> None:
        """Continue with a connection whose request was answered."""
        answered = not done.cancelled() and done.exception() is None
        connection.kept = answered and bool(done.result())
        if not answered:
            self._close(connection)
        elif connection.sock.backlog:
            self._wait(connection, Phase.SENDING, self._clock() + self._patience)
            self._bound_backlogs()
        else:
            self._go_on(connection)

    def expire(self) -> None:
        """Close connections that have taken too long; called in each pass of the worker's loop."""
        now = self._clock()
        if not self._worker.alive and self._ends_at is None:
            self._ends_at = now + LINGER_SECONDS
        for connection in list(self._waiting):
            untouched = connection.phase is Phase.ARRIVING and not self._received(connection)
            over = connection.until <= now
            if over or (untouched and self._ends_at is not None and self._ends_at <= now):
                self._give_up(connection, untouched=untouched)
        if self._worker.nr_conns >= self._worker.worker_connections:
            self._make_room()

    def _is_crowded(self) -> bool:
        return bool(self._queued)

    def _wait(self, connection: Connection, phase: Phase, until: float) -> None:
        connection.phase, connection.until = phase, until
        self._waiting[connection] = None
        connection.sock.settimeout(0.0)
        self._worker.poller.register(
            connection.sock,
            selectors.EVENT_WRITE if phase is Phase.SENDING else selectors.EVENT_READ,
            partial(self._ready, connection),
        )

    def _taken(self, connection: Connection) -> bool:
        """Remove a connection from the loop, unless another event of this pass has removed it."""
        if connection not in self._waiting:
            return False
        del self._waiting[connection]
        self._worker.poller.unregister(connection.sock)
        return True

    def _ready(self, connection: Connection, _: object) -> None:
        if connection not in self._waiting:
            return
        try:
            if connection.phase is Phase.SENDING:
                connection.sock.flush()
                if not connection.sock.backlog and self._taken(connection):
                    self._go_on(connection)
                return
            received = connection.sock.recv(_READ)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            self._drop(connection)
            return
        if connection.phase is Phase.LINGERING:
            connection.drained += len(received)
            if not received or connection.drained > MOST_LINGERING:
                self._drop(connection)
        elif received:
            self._arrived(connection, received)
        elif self._received(connection) and self._taken(connection):
            # Nothing more will come: a reader finds the end and does not wait for it.
            self._submit(self._threads, connection)
        else:
            self._drop(connection)

    def _arrived(self, connection: Connection, received: bytes) -> None:
        if not self._received(connection):  # the first bytes: the time of a request begins
            connection.until = connection.sock.until = self._clock() + self._patience
        kept = connection.parser.unreader.buf
        kept.seek(0, 2)
        kept.write(received)
        self._handed_over(connection)

    def _handed_over(self, connection: Connection) -> bool:
        """Hand a connection to a thread, if enough of its request has come."""
        with connection.parser.unreader.buf.getbuffer() as received:
            pool = self._pool(connection, received)
            too_long = connection.extent is None and len(received) > heads.LONGEST_HEAD
        if too_long:
            self._taken(connection)
            self._refuse(connection, 431)
            return True
        if pool is None:
            return False
        self._taken(connection)
        if pool is self._reading:
            connection.parser.mesg_class = LastRequest
        self._submit(pool, connection)
        return True

    def _pool(self, connection: Connection, received: memoryview) -> ThreadPoolExecutor | None:
        """Return the threads that will answer; None while more has to come."""
        if connection.extent is None:
            start = max(0, connection.looked - len(heads.END) + 1)
            place = bytes(received[start:]).find(heads.END)
            connection.looked = len(received)
            if place < 0:
                return None
            connection.extent = heads.extent(bytes(received[: start + place + len(heads.END)]))
            if connection.extent.waits:
                with contextlib.suppress(OSError):
                    connection.sock.send(heads.CONTINUE)
        extent = connection.extent
        if extent.whole is None:
            return self._reading
        if len(received) < extent.whole:
            return None
        return self._apart.get(extent.path, self._threads)

    def _submit(self, pool: ThreadPoolExecutor, connection: Connection) -> None:
        if pool is self._threads:
            self._queued.add(connection)

        def handle() -> bool:
            self._queued.discard(connection)
            return bool(self._worker.handle(connection))

        def handled(done: "Future[bool]") -> None:
            self._worker.method_queue.defer(self._worker.finish_request, connection, done)

        pool.submit(handle).add_done_callback(handled)

    def _go_on(self, connection: Connection) -> None:
        if not connection.kept:
            self._end(connection)
        elif self._received(connection):
            self.await_request(connection)
        else:
            connection.extent, connection.looked = None, 0
            self._wait(connection, Phase.ARRIVING, self._clock() + self._worker.cfg.keepalive)

    def _give_up(self, connection: Connection, *, untouched: bool) -> None:
        if connection.phase is not Phase.ARRIVING or untouched:
            self._drop(connection)
        elif self._taken(connection):
            self._refuse(connection, 408)

    def _refuse(self, connection: Connection, status: int) -> None:
        with contextlib.suppress(OSError):
            malformed.answer(connection.sock, status, "", "")
        self._end(connection)

    def _end(self, connection: Connection) -> None:
        """Close a connection after its answer, and let the client read that."""
        try:
            connection.sock.shutdown(socket.SHUT_WR)
        except OSError:
            self._close(connection)
        else:
            connection.drained = 0
            self._wait(connection, Phase.LINGERING, self._clock() + CLOSING_SECONDS)

    def _drop(self, connection: Connection) -> None:
        if self._taken(connection):
            self._close(connection)

    def _close(self, connection: Connection) -> None:
        self._worker.nr_conns -= 1
        connection.close()

    def _make_room(self) -> None:
        """Close the connection that has waited longest without a thread."""
        oldest = next(iter(self._waiting), None)
        if oldest is not None:
            self._drop(oldest)

    def _bound_backlogs(self) -> None:
        sending = [sender for sender in self._waiting if sender.phase is Phase.SENDING]
        kept = sum(len(sender.sock.backlog) for sender in sending)
        for connection in sending:
            if kept <= MOST_KEPT:
                break
            kept -= len(connection.sock.backlog)
            self._drop(connection)

    @staticmethod
    def _received(connection: Connection) -> bool:
        return bool(connection.parser.unreader.buf.getbuffer().nbytes)
