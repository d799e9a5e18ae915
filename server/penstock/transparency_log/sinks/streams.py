"""Send the log by syslog to a second place: RFC 5424 by TCP, or a socket of this machine."""

import os
import socket
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from typing import Final

from penstock.transparency_log.sinks.sink import Reached, Taking, unavailable

HEAD: Final = b"<110>1 - - penstock - log - "
"""Facility 13 (log audit), severity 6; the line itself has the time and everything else."""

LOCAL: Final = b"<110>penstock: "
"""The same in the form of local sockets, which has neither version nor host."""


class SocketSink:
    """Hold a ``Sink`` that is a datagram socket of this machine, such as ``/dev/log``.

    A line counts as stored once the socket's queue has it: its reader sends no answer.
    """

    def __init__(self, path: str, patience: float) -> None:
        self._path = path
        self._patience = patience

    @contextmanager
    def opened(self) -> Iterator[Taking]:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as connection:
            connection.settimeout(self._patience)
            try:
                connection.connect(self._path)
            except OSError as error:
                raise unavailable(self._path, _why(error, self._patience)) from error
            yield _Datagrams(connection, self._path, self._patience)

    def health(self) -> str:
        with self.opened():
            return "somebody reads it"


class TcpSink:
    """Hold a ``Sink`` at a TCP receiver, with messages framed by their lengths (RFC 6587, 3.4.1).

    Each time it connects, sends, closes its side, and waits until the receiver has closed its own:
    a receiver reads to the end before that, or the connection breaks.
    """

    def __init__(self, host: str, port: int, patience: float) -> None:
        self._address = (host, port)
        self._patience = patience

    @contextmanager
    def opened(self) -> Iterator[Taking]:
        yield _Connection(self._address, self._patience)

    def health(self) -> str:
        with self.opened() as taking:
            taking.take([])
        return "answers"


class _Forgetful:
    """Represent an open sink that has no record of what it stored."""

    def reached(self) -> Reached | None:
        return None

    def hashes(self) -> Collection[bytes] | None:
        return None


class _Datagrams(_Forgetful):
    def __init__(self, connection: socket.socket, path: str, patience: float) -> None:
        self._connection = connection
        self._path = path
        self._patience = patience

    def take(self, lines: Iterable[bytes]) -> None:
        try:
            for line in lines:
                self._connection.send(LOCAL + line)
        except OSError as error:
            raise unavailable(self._path, _why(error, self._patience)) from error


class _Connection(_Forgetful):
    def __init__(self, address: tuple[str, int], patience: float) -> None:
        self._address = address
        self._patience = patience

    def take(self, lines: Iterable[bytes]) -> None:
        try:
            with socket.create_connection(self._address, self._patience) as connection:
                for line in lines:
                    message = HEAD + line
                    connection.sendall(b"%d %b" % (len(message), message))
                connection.shutdown(socket.SHUT_WR)
                while connection.recv(4096):
                    pass
        except OSError as error:
            where = "{}:{}".format(*self._address)
            raise unavailable(where, _why(error, self._patience)) from error


def _why(error: OSError, patience: float) -> str:
    if isinstance(error, TimeoutError):
        return f"did not store it within {patience:g} s"
    if isinstance(error, socket.gaierror):
        return "has no address"
    return f"refuses ({os.strerror(error.errno or 0)})"
