"""Send one message by HTTP, within a few seconds, to the address that the operator set.

The address comes from the settings alone: nothing that a user wrote is in it, and redirects, which
could lead to any host, are not followed.  A proxy that the environment names is not used: it was
named for others.  Of the answer only the status is kept: the rest could be long, or say what no log
of ours should hold.
"""

import http.client
import os
import socket
import ssl
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from urllib.parse import urlsplit

SECONDS = 10.0
"""The longest duration of an attempt."""


@dataclass(frozen=True)
class Outcome:
    """Hold whether a receiver took a message, and what it answered, without the address."""

    delivered: bool
    answer: str


def post(url: str, body: bytes, headers: Mapping[str, str], seconds: float = SECONDS) -> Outcome:
    """Send ``body`` to ``url``; raise nothing.  A status from 200 to 299 is a delivery."""
    connection = _connection(url, seconds)
    outcomes: list[Outcome] = []
    # Socket timeouts restart with every byte, and name lookups have none: bound both by a thread.
    sender = threading.Thread(
        target=lambda: outcomes.append(_outcome(connection, url, body, headers, seconds)),
        daemon=True,
    )
    sender.start()
    sender.join(seconds)
    if outcomes:
        return outcomes[0]
    late: socket.socket | None = connection.sock
    if late is not None:
        with suppress(OSError):  # it may have ended meanwhile
            late.shutdown(socket.SHUT_RDWR)  # closing alone would not wake the thread
    return _late(seconds)


def _late(seconds: float) -> Outcome:
    return Outcome(delivered=False, answer=f"no answer within {seconds:g} s")


def _connection(url: str, seconds: float) -> http.client.HTTPConnection:
    """Return a connection that is not opened yet."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    if parts.scheme == "http":
        return http.client.HTTPConnection(host, parts.port, timeout=seconds)
    context = ssl.create_default_context()
    return http.client.HTTPSConnection(host, parts.port, timeout=seconds, context=context)


def _outcome(
    connection: http.client.HTTPConnection,
    url: str,
    body: bytes,
    headers: Mapping[str, str],
    seconds: float,
) -> Outcome:
    try:
        status = _status(connection, url, body, headers)
    except ssl.SSLCertVerificationError as problem:
        return Outcome(delivered=False, answer=f"its certificate: {problem.verify_message}"[:200])
    except TimeoutError:  # of one read, which may end as early as the whole attempt
        return _late(seconds)
    except socket.gaierror:
        return Outcome(delivered=False, answer="its host's name is unknown")
    except http.client.HTTPException:
        return Outcome(delivered=False, answer="an answer that is not HTTP/1.1")
    except OSError as problem:
        return Outcome(delivered=False, answer=_reason(problem))
    finally:
        connection.close()
    redirected = ", a redirect, which is not followed" if status // 100 == 3 else ""
    return Outcome(delivered=status // 100 == 2, answer=f"status {status}{redirected}")


def _status(
    connection: http.client.HTTPConnection, url: str, body: bytes, headers: Mapping[str, str]
) -> int:
    """Send a message, and return the status of the answer.  Raises as ``http.client`` does."""
    parts = urlsplit(url)
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    # The library would ask for no encoding of an answer that nobody reads.
    connection.putrequest("POST", target, skip_accept_encoding=True)
    for name, value in {
        "Content-Type": "application/json",
        "Content-Length": str(len(body)),
        "Connection": "close",
        **headers,
    }.items():
        connection.putheader(name, value)
    connection.endheaders(body)
    return connection.getresponse().status


def _reason(problem: OSError) -> str:
    if problem.errno is None or isinstance(problem, ssl.SSLError):
        return f"no connection: {type(problem).__name__}"
    return f"no connection: {os.strerror(problem.errno)}"[:200]
