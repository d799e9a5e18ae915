"""Test receivers of the log over TCP and sockets of this machine."""

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.unit.transparency_log.sinks.placing import Placed, leaves_of, refused, status_of, taken
from tests.unit.worlds import World


@contextmanager
def receiver(behave: Callable[[socket.socket], bytes]) -> Iterator[tuple[str, list[bytes]]]:
    """Yield a TCP receiver of the loopback; what each connection brought."""
    got: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            while True:
                try:
                    connection, _ = listening.accept()
                except OSError:
                    return
                with connection:
                    got.append(behave(connection))

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"syslog+tcp:127.0.0.1:{listening.getsockname()[1]}", got
        listening.shutdown(socket.SHUT_RDWR)
    thread.join()


def read_all(connection: socket.socket) -> bytes:
    return b"".join(iter(lambda: connection.recv(1 << 16), b""))


def framed(octets: bytes) -> list[dict[str, Any]]:
    """Return what messages of RFC 6587 say, counted by octets."""
    found = []
    while octets:
        length, _, rest = octets.partition(b" ")
        message, octets = rest[: int(length)], rest[int(length) :]
        head, text = message[: len(b"<110>1 - - penstock - log - ")], message[28:]
        assert head == b"<110>1 - - penstock - log - "
        found.append(json.loads(text))
    return found


def test_a_tcp_receiver_gets_what_was_not_witnessed_yet(visits: World, placed: Placed) -> None:
    size = len(leaves_of(visits))
    with receiver(read_all) as (sink, got):
        world = placed(sink)
        world.ask("pia")
        world.ask("paul")
        assert status_of(world) == (True, "answers")
    told = [one for octets in got for one in framed(octets)]
    assert taken(told) == leaves_of(visits)[size:]
    refused(placed(sink), "ines")


def test_a_receiver_that_reads_and_does_not_end_has_taken_nothing(
    visits: World, placed: Placed
) -> None:
    free = threading.Event()

    def stall(connection: socket.socket) -> bytes:
        found = read_all(connection)
        free.wait()
        return found

    with receiver(stall) as (sink, got):
        refused(placed(sink, 0.2))
        free.set()
        world = placed(sink)
        assert world.ask("pia").view.receipt.index is not None
    last = framed(got[-1])
    assert taken(last)[-1] == leaves_of(visits)[-1]


def test_a_socket_of_this_machine_gets_a_message_a_line(
    visits: World, placed: Placed, tmp_path: Path
) -> None:
    size = len(leaves_of(visits))
    path = tmp_path / "s"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as bound:
        bound.bind(str(path))
        placed(f"syslog:{path}").ask("pia")
        bound.settimeout(0)
        got = [
            bound.recv(1 << 16).removeprefix(b"<110>penstock: ")
            for _ in range(len(leaves_of(visits)) - size + 1)
        ]
        with pytest.raises(BlockingIOError):
            bound.recv(1)
    assert taken([json.loads(one) for one in got]) == leaves_of(visits)[size:]
    refused(placed(f"syslog:{path}", 0.1), "paul")
