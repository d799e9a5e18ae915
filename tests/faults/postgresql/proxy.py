"""Provide a proxy between the server and PostgreSQL that cuts connections where it is told to.

It passes octets on and counts them.  A cut falls after a number of octets in one of the
directions, or at a message of the protocol: before the database gets it, or after the
database has answered and before the server hears of that.  Each is at a place in what is
said, never at a time.
"""

import contextlib
import socket
import threading
from dataclasses import dataclass, field

CHUNK = 65536
READY = b"Z\x00\x00\x00\x05"
"""How the message begins by which PostgreSQL says that it awaits the next statement."""

TO_DATABASE, TO_SERVER = "to the database", "to the server"


@dataclass
class Cut:
    """Say where to cut; ``times`` connections in turn, and then no more.

    With ``said`` it falls at a message of the server's that holds it, after ``skipped`` others
    that do: ``unheard`` says that the database does not get it, else it gets it and its answer
    is lost.  Without, it falls after ``octets`` in the direction ``where``.
    """

    where: str = TO_DATABASE
    octets: int = 0
    said: bytes = b""
    skipped: int = 0
    unheard: bool = False
    times: int = 1


@dataclass
class Proxy:
    """Listen on the loopback for what goes to PostgreSQL's ``port`` there."""

    port: int
    cut: Cut | None = None
    fallen: int = 0
    passed: dict[str, int] = field(default_factory=lambda: {TO_DATABASE: 0, TO_SERVER: 0})

    def __post_init__(self) -> None:
        self._lock = threading.Lock()
        self._pairs: set[_Pair] = set()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.own_port: int = self._listener.getsockname()[1]
        threading.Thread(target=self._listen, daemon=True).start()

    def arm(self, cut: Cut) -> None:
        """Cut as ``cut`` says in connections that begin from now on, and end the others."""
        with self._lock:
            self.cut, self.fallen = cut, 0
            self.passed = {TO_DATABASE: 0, TO_SERVER: 0}
            pairs = list(self._pairs)
        for pair in pairs:
            pair.end()

    def disarm(self) -> int:
        """Cut no more; return how often a connection was cut since ``arm``."""
        with self._lock:
            self.cut = None
            return self.fallen

    def close(self) -> None:
        """End all connections, and listen no more."""
        self._listener.close()
        for pair in list(self._pairs):
            pair.end()

    def due(self, where: str, chunk: bytes) -> tuple[int, Cut] | None:
        """Return how much of ``chunk`` still passes before a cut, where one falls into it."""
        with self._lock:
            cut, before = self.cut, self.passed[where]
            self.passed[where] += len(chunk)
            if cut is None:
                return None
            if cut.said:
                falls = where == TO_DATABASE and cut.said in chunk
                left = 0 if cut.unheard else len(chunk)
                if falls and cut.skipped > 0:
                    cut.skipped -= 1
                    falls = False
            else:
                left = cut.octets - before
                falls = where == cut.where and left < len(chunk)
            if not falls:
                return None
            self.fallen += 1
            cut.times -= 1
            self.passed = {TO_DATABASE: 0, TO_SERVER: 0}
            if cut.times == 0:
                self.cut = None
            return max(0, left), cut

    def _listen(self) -> None:
        while True:
            try:
                server, _ = self._listener.accept()
            except OSError:
                return
            try:
                database = socket.create_connection(("127.0.0.1", self.port))
            except OSError:
                server.close()
                continue
            pair = _Pair(self, server, database)
            with self._lock:
                self._pairs.add(pair)
            pair.start()

    def forget(self, pair: "_Pair") -> None:
        """Forget a connection that has ended."""
        with self._lock:
            self._pairs.discard(pair)


class _Pair:
    """Hold the two halves of one connection."""

    def __init__(self, proxy: Proxy, server: socket.socket, database: socket.socket) -> None:
        self._proxy, self._server, self._database = proxy, server, database
        self._answer_lost = threading.Event()
        self._open = 2
        self._lock = threading.Lock()

    def start(self) -> None:
        for source, target, where in (
            (self._server, self._database, TO_DATABASE),
            (self._database, self._server, TO_SERVER),
        ):
            threading.Thread(target=self._pass, args=(source, target, where), daemon=True).start()

    def end(self) -> None:
        """Cut both halves."""
        for half in (self._server, self._database):
            with contextlib.suppress(OSError):
                half.shutdown(socket.SHUT_RDWR)

    def _pass(self, source: socket.socket, target: socket.socket, where: str) -> None:
        with contextlib.suppress(OSError):
            heard = b""
            while chunk := source.recv(CHUNK):
                if where == TO_SERVER and self._answer_lost.is_set():
                    heard += chunk
                    if READY in heard:
                        break
                elif self._sent(target, where, chunk):
                    break
        self.end()
        self._proxy.forget(self)
        with self._lock:
            self._open -= 1
            last = self._open == 0
        if last:
            self._server.close()
            self._database.close()

    def _sent(self, target: socket.socket, where: str, chunk: bytes) -> bool:
        """Pass on what may pass; return whether the connection ends with it."""
        due = self._proxy.due(where, chunk)
        if due is None:
            target.sendall(chunk)
            return False
        left, cut = due
        loses_answer = bool(cut.said) and not cut.unheard
        if loses_answer:
            # Ended by the other direction, when the database has answered.
            self._answer_lost.set()
        target.sendall(chunk[:left])
        return not loses_answer
