"""Test a client's connection: who is slow is waited for so long, and small answers never are."""

import socket
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from penstock.http.intake.sockets import GRACE_SECONDS, MOST_KEPT, SLICE_SECONDS, Socket

PATIENCE = 20.0
LARGE = bytes(range(256)) * (64 * MOST_KEPT // 256)
"""More than the machine keeps for a reader."""


@dataclass
class Pair:
    """Hold a server's connection, its client's, the time, and if requests wait for a thread."""

    now: float = 0.0
    is_crowded: bool = False

    def __post_init__(self) -> None:
        """Connect the two."""
        accepted, self.client = socket.socketpair()
        self.ours = Socket(accepted.detach(), PATIENCE, lambda: self.is_crowded, lambda: self.now)


@pytest.fixture
def pair(monkeypatch: pytest.MonkeyPatch) -> Iterator[Pair]:
    """Provide a pair in which waiting for a client moves the clock, and takes no time."""
    made = Pair()

    def wait(_: Socket) -> float:
        made.now += SLICE_SECONDS
        return SLICE_SECONDS

    monkeypatch.setattr(Socket, "_wait", wait)
    with made.client, made.ours:
        yield made


def everything(client: socket.socket) -> bytes:
    """Return what has come to a client by now."""
    client.settimeout(0.0)
    parts: list[bytes] = []
    while True:
        try:
            part = client.recv(1 << 20)
        except BlockingIOError:
            return b"".join(parts)
        parts.append(part)


def test_a_request_is_read_until_its_time_is_over(pair: Pair) -> None:
    pair.client.sendall(b"GET ")
    assert pair.ours.recv(10) == b"GET "
    pair.client.sendall(b"/")
    pair.now = PATIENCE
    with pytest.raises(ConnectionResetError, match="not sent its request in time"):
        pair.ours.recv(10)


def test_reading_without_waiting_asks_no_clock(pair: Pair) -> None:
    pair.now = 2 * PATIENCE
    pair.ours.settimeout(0.0)
    with pytest.raises(BlockingIOError):
        pair.ours.recv(10)
    pair.client.sendall(b"more")
    assert pair.ours.recv(10) == b"more"


def test_reading_leaves_the_timeout_as_it_was(pair: Pair) -> None:
    pair.client.sendall(b"two")
    for own in (None, 7.0):
        pair.ours.settimeout(own)
        assert pair.ours.recv(1)
        assert pair.ours.gettimeout() == own


def test_a_client_that_says_nothing_is_waited_for_until_its_time_is_over(pair: Pair) -> None:
    pair.now = PATIENCE - 0.01
    with pytest.raises(TimeoutError):
        pair.ours.recv(1)
    assert pair.ours.gettimeout() is None


def test_writing_waits_for_nobody_whatever_the_timeout(pair: Pair) -> None:
    for own in (None, 7.0, 0.0):
        pair.ours.settimeout(own)
        while not pair.ours.backlog:
            pair.ours.sendall(LARGE[:MOST_KEPT])
        assert pair.ours.gettimeout() == own
        while pair.ours.backlog:
            assert everything(pair.client)
            pair.ours.flush()
        everything(pair.client)


def test_a_small_answer_waits_for_nobody(pair: Pair) -> None:
    pair.ours.sendall(b"answer")
    assert (bytes(pair.ours.backlog), everything(pair.client)) == (b"", b"answer")


def test_the_end_of_an_answer_is_kept_for_a_reader_who_is_slow(pair: Pair) -> None:
    sent = 0
    while not pair.ours.backlog:
        pair.ours.sendall(LARGE[sent : sent + MOST_KEPT])
        sent += MOST_KEPT
    assert len(pair.ours.backlog) <= MOST_KEPT
    assert pair.now == 0.0, "nobody was waited for"
    came = everything(pair.client)
    while pair.ours.backlog:
        pair.ours.flush()
        came += everything(pair.client)
    assert came == LARGE[:sent]


@pytest.mark.parametrize(("is_crowded", "least"), [(False, PATIENCE), (True, GRACE_SECONDS)])
def test_a_reader_of_a_large_answer_is_waited_for_the_shorter_the_more_wait(
    pair: Pair, is_crowded: bool, least: float
) -> None:
    pair.is_crowded = is_crowded
    with pytest.raises(ConnectionResetError, match="not read its answer in time"):
        pair.ours.sendall(LARGE)
    assert least < pair.now <= least + 2 * SLICE_SECONDS
