"""Test that one message is sent within its time, to its address alone."""

import socket
import ssl
import threading
from contextlib import suppress
from pathlib import Path

import pytest
from tests.unit.services.webhook.authority import Authority, authority
from tests.unit.services.webhook.receiver import HANG, Receiver, receiving, status

from penstock.services.webhook.posting import Outcome, post

SHORT = 0.3
HEADERS = {"Penstock-Delivery": "d0"}


def posted(receiver: Receiver, seconds: float = HANG) -> Outcome:
    return post(receiver.url, b"{}", HEADERS, seconds)


@pytest.mark.parametrize("line", ["200 OK", "204 No Content", "299 "])
def test_a_status_of_success_is_a_delivery(line: str) -> None:
    with receiving(status(line)) as receiver:
        assert posted(receiver) == Outcome(delivered=True, answer=f"status {line[:3]}")
    (message,) = receiver.messages
    assert (message.path, message.body) == ("/told?key=of-the-address", b"{}")
    assert message.headers == {
        "host": f"127.0.0.1:{receiver.port}",
        "content-type": "application/json",
        "content-length": "2",
        "connection": "close",
        "penstock-delivery": "d0",
    }


@pytest.mark.parametrize("line", ["400 Bad Request", "410 Gone", "500 ", "503 Unavailable"])
def test_another_status_is_none(line: str) -> None:
    with receiving(status(line)) as receiver:
        assert posted(receiver) == Outcome(delivered=False, answer=f"status {line[:3]}")


def test_a_redirect_is_not_followed() -> None:
    with receiving() as other:
        redirect = status("307 Temporary Redirect", f"Location: {other.url}")
        with receiving(redirect) as receiver:
            outcome = posted(receiver)
    assert (outcome.delivered, "not followed" in outcome.answer) == (False, True)
    assert other.messages == []


def test_a_receiver_that_never_answers_is_left() -> None:
    ended = threading.Event()

    def wait(_: object) -> None:
        ended.wait(HANG)

    with receiving(wait) as receiver:
        outcome = posted(receiver, SHORT)
        ended.set()
    assert outcome == Outcome(delivered=False, answer=f"no answer within {SHORT} s")


def test_a_receiver_that_answers_byte_by_byte_is_left() -> None:
    """Each byte comes in time for a limit of each read, and there is no end of them."""
    sent = []

    def drip(connection: socket.socket) -> None:
        until = threading.Event()
        with suppress(OSError):
            for number in range(1000):
                connection.sendall(b"H")
                sent.append(number)
                until.wait(SHORT / 10)

    with receiving(drip) as receiver:
        assert posted(receiver, SHORT).answer == f"no answer within {SHORT} s"
    assert len(sent) < 1000


@pytest.mark.parametrize("text", [b"SSH-2.0-OpenSSH\r\n", b"", b"HTTP/1.1 2000\r\n", b"x" * 5000])
def test_what_is_no_status_is_no_delivery(text: bytes) -> None:
    def say(connection: socket.socket) -> None:
        with suppress(OSError):
            connection.sendall(text)

    with receiving(say) as receiver:
        outcome = posted(receiver)
    assert not outcome.delivered


def test_where_nobody_listens_it_is_said_without_the_address() -> None:
    with receiving() as receiver:
        pass
    outcome = posted(receiver)
    assert outcome == Outcome(delivered=False, answer="no connection: Connection refused")


def test_a_proxy_of_the_environment_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    with receiving() as proxy, receiving() as receiver:
        monkeypatch.setenv("http_proxy", proxy.url)
        monkeypatch.delenv("no_proxy", raising=False)
        assert posted(receiver).delivered
    assert proxy.messages == []


def tls(certificate: Path) -> ssl.SSLContext:
    """Return how a receiver shows a certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    return context


@pytest.fixture
def trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Authority:
    """Return an authority that this process trusts, as an operator lets it trust one."""
    made = authority(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(made.path))
    return made


def test_a_receiver_whose_certificate_is_of_a_trusted_authority_gets_the_message(
    tmp_path: Path, trusted: Authority
) -> None:
    with receiving(tls=tls(trusted.certificate(tmp_path))) as receiver:
        assert posted(receiver) == Outcome(delivered=True, answer="status 204")
    (message,) = receiver.messages
    assert message.body == b"{}"


def certificates(folder: Path, trusted: Authority) -> dict[str, tuple[Path, str]]:
    """Return certificates that are not this machine's, with what is wrong with each."""
    return {
        "of another authority": (
            authority(folder, "Another authority").certificate(folder),
            "unable to get local issuer certificate",
        ),
        "of another address": (
            trusted.certificate(folder, "127.0.0.2"),
            "IP address mismatch, certificate is not valid for '127.0.0.1'.",
        ),
        "expired": (trusted.certificate(folder, until=-1), "certificate has expired"),
    }


@pytest.mark.parametrize("kind", ["of another authority", "of another address", "expired"])
def test_a_certificate_that_is_not_the_receiver_s_is_refused_and_nothing_is_sent(
    tmp_path: Path, trusted: Authority, kind: str
) -> None:
    certificate, why = certificates(tmp_path, trusted)[kind]
    with receiving(tls=tls(certificate)) as receiver:
        outcome = posted(receiver)
    assert outcome == Outcome(delivered=False, answer=f"its certificate: {why}")
    assert receiver.messages == []
