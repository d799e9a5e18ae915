"""Test that the token goes only to the server that was named."""

import copy
import logging
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx
import pytest

from penstock_client import (
    Client,
    InvalidArgument,
    NotFound,
    NotReachable,
    PenstockError,
    ProtocolError,
)

Handler = Callable[[httpx.Request], httpx.Response]


class Answering(BaseHTTPRequestHandler):
    """Answer every GET with a name and no roles."""

    def do_GET(self) -> None:
        body = b'{"name": "ann", "roles": []}'
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 # the base's name
        pass


@contextmanager
def listening() -> Iterator[str]:
    """Run a real server on a loopback port, and yield its URL."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Answering) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()


@pytest.mark.parametrize("token", ["secret\r\nX: y", "sécret", "secret secret", "secret\x00"])
def test_a_token_that_cannot_be_one_is_refused_and_not_repeated(token: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        Client("https://a.example", token)
    assert "cret" not in str(caught.value)


def test_no_token_is_said_before_anything_is_sent() -> None:
    with pytest.raises(InvalidArgument, match="PENSTOCK_TOKEN"):
        Client("https://a.example")


@pytest.mark.parametrize("timeout", [0, -1, float("nan"), float("inf")])
def test_a_timeout_is_a_number_of_seconds(token: str, timeout: float) -> None:
    with pytest.raises(InvalidArgument):
        Client("https://a.example", token, timeout=timeout)


def _reachable(thing: object, depth: int) -> Iterator[object]:
    yield thing
    if depth:
        for child in vars(thing).values() if hasattr(thing, "__dict__") else ():
            yield from _reachable(child, depth - 1)


def test_no_representation_holds_the_token(client: Client, token: str) -> None:
    for thing in _reachable(client, 3):
        assert token not in repr(thing)


def _traceback(error: BaseException) -> str:
    """Return a traceback with local variables, without the test's own frame."""
    below = error.__traceback__.tb_next if error.__traceback__ else None
    shown = traceback.TracebackException(type(error), error, below, capture_locals=True)
    return "".join(shown.format())


def test_no_error_and_no_log_holds_the_token(
    client_of: Callable[[Handler], Client],
    refuse: Callable[..., httpx.Response],
    caplog: pytest.LogCaptureFixture,
    token: str,
) -> None:
    def cut(request: httpx.Request) -> httpx.Response:
        raise httpx.ReadError("reset", request=request)

    caplog.set_level(logging.DEBUG)
    for handler in (cut, lambda _: refuse(404, "NOT_FOUND"), lambda _: httpx.Response(200)):
        with pytest.raises(PenstockError) as caught:
            client_of(handler).me()
        assert token not in _traceback(caught.value)
    assert token not in caplog.text


def test_real_connections_log_no_token(caplog: pytest.LogCaptureFixture, token: str) -> None:
    caplog.set_level(logging.DEBUG)
    with listening() as url, Client(url, token) as client:
        assert client.me().name == "ann"
    assert "receive_response_headers" in caplog.text
    assert token not in caplog.text


def test_no_proxy_sees_what_is_meant_for_this_machine(
    monkeypatch: pytest.MonkeyPatch, token: str
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")  # nobody listens there
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    with listening() as url:
        with Client(url, token) as client:
            assert client.me().name == "ann"
        # What the variables would have done:
        with httpx.Client() as careless, pytest.raises(httpx.ConnectError):
            careless.get(url)


def test_a_closed_port_is_not_reachable(token: str) -> None:
    with listening() as url:
        pass
    with Client(url, token) as client, pytest.raises(NotReachable, match="cannot be reached"):
        client.me()


def test_a_client_is_neither_pickled_nor_copied(client: Client) -> None:
    with pytest.raises(TypeError, match="contains a token"):
        copy.copy(client)


def test_cookies_and_tokens_do_not_leave_with_a_404(client: Client) -> None:
    with pytest.raises(NotFound) as caught:
        client.release("nothing")
    assert caught.value.request_id == "req-7"


ClientOf = Callable[[Handler], Client]


@pytest.mark.parametrize(
    "failure",
    [
        httpx.ConnectError("[Errno 111] Connection refused"),
        httpx.ConnectTimeout("timed out"),
        httpx.ReadTimeout("timed out"),
        httpx.RemoteProtocolError("Server disconnected without sending a response."),
        httpx.ReadError("reset"),
    ],
)
def test_nobody_there_is_not_reachable(client_of: ClientOf, failure: Exception) -> None:
    def fail(_: httpx.Request) -> httpx.Response:
        raise failure

    with pytest.raises(NotReachable, match=r"http://127\.0\.0\.1"):
        client_of(fail).me()


def test_what_does_not_speak_http_is_a_protocol_error(client_of: ClientOf) -> None:
    def fail(_: httpx.Request) -> httpx.Response:
        raise httpx.RemoteProtocolError("illegal status line: SSH-2.0-OpenSSH")

    with pytest.raises(ProtocolError, match="did not answer with valid HTTP"):
        client_of(fail).me()
