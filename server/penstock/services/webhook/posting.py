"""Send one message by HTTP, within a few seconds, to the address that the operator set.

The address comes from the settings alone: nothing that a user wrote is in it, and redirects, which
could lead to any host, are not followed.  A proxy that the environment names is not used: it was
named for others.  Of the answer only the status is read: the rest could be long, arrive slowly, or
say what no log of ours should hold.
"""

import os
import re
import socket
import ssl
import time
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

SECONDS = 10.0
"""The longest duration of an attempt once the host's name is resolved."""

_MOST_ADDRESSES = 4
_LONGEST_LINE = 1024
_STATUS = re.compile(rb"HTTP/1\.[01] ([0-9]{3})[ \r\n]")
_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True)
class Outcome:
    """Hold whether a receiver took a message, and what it answered, without the address."""

    delivered: bool
    answer: str


def post(url: str, body: bytes, headers: Mapping[str, str], seconds: float = SECONDS) -> Outcome:
    """Send ``body`` to ``url``; raise nothing.  A status from 200 to 299 is a delivery."""
    until = time.monotonic() + seconds
    try:
        with _connected(url, until) as connection:
            connection.settimeout(_left(until))
            connection.sendall(_request(url, body, headers))
            status = _status(connection, until)
    except TimeoutError:
        return Outcome(delivered=False, answer=f"no answer within {seconds:g} s")
    except ssl.SSLCertVerificationError as problem:
        return Outcome(delivered=False, answer=f"its certificate: {problem.verify_message}"[:200])
    except socket.gaierror:
        return Outcome(delivered=False, answer="its host's name is unknown")
    except OSError as problem:
        return Outcome(delivered=False, answer=_reason(problem))
    if status is None:
        return Outcome(delivered=False, answer="an answer that is not HTTP/1.1")
    redirected = ", a redirect, which is not followed" if status // 100 == 3 else ""
    return Outcome(delivered=status // 100 == 2, answer=f"status {status}{redirected}")


def _connected(url: str, until: float) -> socket.socket:
    """Return a connection.  Raises ``OSError``."""
    parts = urlsplit(url)
    host, port = parts.hostname or "", parts.port or _PORTS[parts.scheme]
    problem = OSError("the host has no address")
    for family, kind, protocol, _, place in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[
        :_MOST_ADDRESSES
    ]:
        connection = socket.socket(family, kind, protocol)
        try:
            connection.settimeout(_left(until))
            connection.connect(place)
            if parts.scheme == "http":
                return connection
            connection.settimeout(_left(until))
            # The time limit is one for the whole handshake.
            return ssl.create_default_context().wrap_socket(connection, server_hostname=host)
        except OSError as failed:
            connection.close()
            problem = failed
    raise problem


def _request(url: str, body: bytes, headers: Mapping[str, str]) -> bytes:
    parts = urlsplit(url)
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    lines = {
        "Host": parts.netloc,
        "Content-Type": "application/json",
        "Content-Length": str(len(body)),
        "Connection": "close",
        **headers,
    }
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    return f"POST {target} HTTP/1.1\r\n{head}\r\n".encode("ascii") + body


def _status(connection: socket.socket, until: float) -> int | None:
    """Return the status, or None if the answer has none.  Raises ``OSError``."""
    head = b""
    while b"\n" not in head and len(head) < _LONGEST_LINE:
        # Set anew for each read: a receiver that sends a byte now and then has no more time.
        connection.settimeout(_left(until))
        piece = connection.recv(_LONGEST_LINE - len(head))
        if not piece:
            break
        head += piece
    line = _STATUS.match(head)
    return None if line is None else int(line[1])


def _left(until: float) -> float:
    left = until - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


def _reason(problem: OSError) -> str:
    if problem.errno is None or isinstance(problem, ssl.SSLError):
        return f"no connection: {type(problem).__name__}"
    return f"no connection: {os.strerror(problem.errno)}"[:200]
