"""Test that any malformed answer raises ``ProtocolError`` and nothing else."""

import copy
import gzip
import json
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest

from penstock_client import Client, ProtocolError, Release
from penstock_client._http.fields import Fields
from penstock_client._show import documents
from penstock_client._show.output import Format, written

Handler = Callable[[httpx.Request], httpx.Response]
RELEASE = "POST /api/v1/queries/flights_by_carrier/releases"
JSON = {"Content-Type": "application/json"}


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>",
        b"\xff\xfe",
        b'{"name": "a", "roles": [], "items": [], "more": NaN}',
        b'{"name": "a", "roles": [], "items": [], "more": -Infinity}',
        b"[" * 200_000,
        b'{"a":' * 200_000,
        b"9" * 10_000,
        b"null",
        b"[]",
        b"7",
        b'"text"',
        b"{}",
    ],
)
def test_a_body_that_is_not_the_contracts(
    client_of: Callable[[Handler], Client], body: bytes
) -> None:
    client = client_of(lambda _: httpx.Response(200, headers=JSON, content=body))
    for ask in (client.me, client.datasets, client.history):
        with pytest.raises(ProtocolError):
            ask()
    with pytest.raises(ProtocolError):
        client.release("q")


@pytest.mark.parametrize("body", [b"", b"{", b"[1]", b'{"errors": 3}', b'{"title": [1]}'])
def test_a_problem_that_is_none(client_of: Callable[[Handler], Client], body: bytes) -> None:
    headers = {"Content-Type": "application/problem+json"}
    client = client_of(lambda _: httpx.Response(403, headers=headers, content=body))
    with pytest.raises(ProtocolError):
        client.me()


def test_a_page_for_people_is_not_an_answer(client_of: Callable[[Handler], Client]) -> None:
    with pytest.raises(ProtocolError, match="text/html"):
        client_of(lambda _: httpx.Response(200, html="<h1>Welcome</h1>")).me()


def test_an_answer_beyond_the_limit_is_not_read_to_its_end(
    client_of: Callable[..., Client],
) -> None:
    sent = 0

    def endless() -> Iterator[bytes]:
        nonlocal sent
        while True:
            sent += 1
            yield b" " * 65_536

    client = client_of(
        lambda _: httpx.Response(200, headers=JSON, content=endless()), largest_answer=1_000_000
    )
    with pytest.raises(ProtocolError, match="larger than 1,000,000 bytes"):
        client.me()
    assert sent <= 20


def test_a_compressed_answer_counts_unpacked(client_of: Callable[..., Client]) -> None:
    bomb = gzip.compress(b" " * 2_000_000)
    headers = {**JSON, "Content-Encoding": "gzip"}
    client = client_of(
        lambda _: httpx.Response(200, headers=headers, content=bomb), largest_answer=1_000_000
    )
    with pytest.raises(ProtocolError, match="larger"):
        client.me()


def test_a_broken_compression_is_a_protocol_error(client_of: Callable[[Handler], Client]) -> None:
    def handle(_: httpx.Request) -> httpx.Response:
        headers = {**JSON, "Content-Encoding": "gzip"}
        return httpx.Response(200, headers=headers, stream=httpx.ByteStream(b"not gzip"))

    with pytest.raises(ProtocolError):
        client_of(handle).me()


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308, 304])
def test_a_redirect_is_not_followed(client_of: Callable[[Handler], Client], status: int) -> None:
    hosts: list[str] = []

    def handle(request: httpx.Request) -> httpx.Response:
        hosts.append(request.url.host)
        return httpx.Response(status, headers={"Location": "https://thief.example.org/"})

    with pytest.raises(ProtocolError, match="redirection"):
        client_of(handle).me()
    assert hosts == ["127.0.0.1"]


def _places(node: Any, place: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    if isinstance(node, dict | list):
        for name, child in node.items() if isinstance(node, dict) else enumerate(node):
            yield (*place, name)
            yield from _places(child, (*place, name))


def _replaced(answer: Any, place: tuple[str | int, ...], value: object) -> Any:
    changed = copy.deepcopy(answer)
    node = changed
    for name in place[:-1]:
        node = node[name]
    node[place[-1]] = value
    return changed


ODD: list[object] = [
    None, True, -1, 0, 10**400, 1e308, 5e-324, "", "\ud800", "\x1b[2J<script>",
    [], {}, [[]], [None], [1], {"a": 1}, "2026-01-01T00:00:00",
]  # fmt: skip


@pytest.mark.parametrize("odd", ODD, ids=lambda odd: ascii(odd)[:20])
def test_any_field_of_any_type_is_refused_or_shown(answers: dict[str, Any], odd: object) -> None:
    """Test that a release with any odd field is refused, or can be shown in every form."""
    refused = shown = 0
    for place in _places(answers[RELEASE]):
        try:
            release = Release.read(Fields(_replaced(answers[RELEASE], place, odd), "release"))
        except ProtocolError:
            refused += 1
            continue
        shown += 1
        html = release._repr_html_()
        html.encode()
        assert "<script>" not in html
        assert "\x1b" not in repr(release) + written(documents.release(release), Format.TABLE)
        for form in Format:
            written(documents.release(release), form).encode()
        if release.mechanism == "gaussian":
            release.interval(0.5)
    assert refused + shown == len(list(_places(answers[RELEASE])))
    assert refused > 5


def test_lists_of_any_type_are_refused_or_shown(answers: dict[str, Any]) -> None:
    client_errors = 0
    for name in ("me", "datasets", "queries", "releases", "audit/exposure"):
        answer = answers[f"GET /api/v1/{name}"]
        for place in _places(answer):
            for odd in (None, True, [], {}, [1], {"a": 1}, 10**400):
                client_errors += _fails(name, _replaced(answer, place, odd))
    assert client_errors > 200


def _fails(name: str, answer: object) -> bool:
    """Return True if reading is refused with ``ProtocolError``; let other exceptions pass."""
    content = json.dumps(answer)
    transport = httpx.MockTransport(lambda _: httpx.Response(200, headers=JSON, content=content))
    with Client("http://127.0.0.1", "t", transport=transport) as client:
        ask: dict[str, Callable[[], object]] = {
            "me": client.me,
            "datasets": lambda: documents.datasets(client.datasets()),
            "queries": lambda: documents.queries(client.queries()),
            "releases": lambda: documents.history(client.history()),
            "audit/exposure": lambda: documents.exposure(client.exposure("a", "d")),
        }
        try:
            ask[name]()
        except ProtocolError:
            return True
    return False
