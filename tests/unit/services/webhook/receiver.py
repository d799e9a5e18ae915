"""Provide a receiver of messages on this machine, and a server that sends to it."""

import hashlib
import hmac
import json
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from tests.unit.worlds import World

SECRET = "s" * 32
HANG = 60.0

Answer = Callable[[socket.socket], None]


def status(line: str, *headers: str) -> Answer:
    """Return how a receiver answers with a status, and headers."""
    text = "".join(f"{each}\r\n" for each in (f"HTTP/1.1 {line}", *headers, "Content-Length: 0"))
    return lambda connection: connection.sendall(f"{text}\r\n".encode())


TAKEN = status("204 No Content")


@dataclass
class Message:
    """Hold what a receiver got."""

    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def fields(self) -> dict[str, Any]:
        """Return the body's fields.  Fails unless the signature is right."""
        parts = dict(part.split("=", 1) for part in self.headers["penstock-signature"].split(","))
        signed = f"{parts['t']}.".encode() + self.body
        assert parts["v1"] == hmac.new(SECRET.encode(), signed, hashlib.sha256).hexdigest()
        fields: dict[str, Any] = json.loads(self.body)
        assert fields["delivery"] == self.headers["penstock-delivery"]
        return fields


@dataclass
class Receiver:
    """Hold a receiver, what it got, and how it answers."""

    port: int
    answer: Answer = TAKEN
    scheme: str = "http"
    messages: list[Message] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"{self.scheme}://127.0.0.1:{self.port}/told?key=of-the-address"


@contextmanager
def receiving(
    answer: Answer = TAKEN, port: int = 0, *, tls: ssl.SSLContext | None = None
) -> Iterator[Receiver]:
    """Yield a receiver that takes one connection after the other in a thread of its own."""
    with socket.create_server(("127.0.0.1", port)) as listening:
        scheme = "http" if tls is None else "https"
        receiver = Receiver(listening.getsockname()[1], answer, scheme)

        def serve() -> None:
            while True:
                try:
                    connection, _ = listening.accept()
                except OSError:
                    return
                connection.settimeout(HANG)
                try:
                    connection = (
                        connection if tls is None else tls.wrap_socket(connection, server_side=True)
                    )
                except OSError:  # whoever sends does not trust the certificate
                    connection.close()
                    continue
                with connection:
                    message = _read(connection)
                    if message is not None:
                        receiver.messages.append(message)
                        receiver.answer(connection)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        try:
            yield receiver
        finally:
            listening.shutdown(socket.SHUT_RDWR)
            thread.join(HANG)
            assert not thread.is_alive()


def with_webhook(world: World, url: str, events: str = "") -> World:
    """Return a world whose server tells a webhook of ``events``, or of what is told by default."""
    changes = {"webhook_url": url, "webhook_secret": SECRET}
    if events:
        changes["webhook_events"] = events
    settings = world.server.settings.model_copy(update=changes)
    return replace(world, server=replace(world.server, settings=settings))


def _read(connection: socket.socket) -> Message | None:
    with connection.makefile("rb") as stream:
        first = stream.readline().decode().split()
        if not first:
            return None
        assert (first[0], first[2]) == ("POST", "HTTP/1.1")
        headers = {}
        while line := stream.readline().decode().strip():
            name, _, value = line.partition(": ")
            headers[name.lower()] = value
        return Message(first[1], headers, stream.read(int(headers["content-length"])))
