"""Files of named hosts are read, at one version, and requests lead nowhere else."""

import json
from collections.abc import Callable
from contextlib import suppress

import pytest
from tests.unit.connectors.storage.answering import Request, answering

from penstock.connectors.storage.access import access_of
from penstock.connectors.storage.address import parsed
from penstock.connectors.storage.failures import Missing, Replaced
from penstock.connectors.storage.stores.bucket import opened
from penstock.connectors.storage.stores.objects import Store, StoredObject
from penstock.errors import InvalidInput, Unavailable

CONTENT = b"0123456789"
TAG = '"7"'
FILE = StoredObject("a b.parquet", len(CONTENT), TAG)
TOKEN = "hush"


def store_of(host: str, **more: object) -> Store:
    text = json.dumps(
        {"store": "http", "hosts": [host], "allow_http": True, "bearer_token": TOKEN, **more}
    )
    return opened(access_of(text, "web"), parsed(f"http://{host}/{FILE.name}"))


def usual(request: Request) -> None:
    if request.command == "HEAD":
        request.reply(200, CONTENT, ETag=TAG)
    elif request.headers["If-Match"] != TAG:
        request.reply(412)
    else:
        begin, end = request.span()
        request.reply(206, CONTENT[begin:end], ETag=TAG)


def test_a_file_is_read_by_ranges_of_one_version() -> None:
    with answering(usual) as host:
        store = store_of(host)
        assert store.head(FILE.name) == FILE
        assert store.read(FILE, 2, 5) == b"234"
        with pytest.raises(Replaced):
            store.read(StoredObject(FILE.name, FILE.size, '"6"'), 2, 5)


def replying(status: int, content: bytes = b"cell", **headers: str) -> Callable[[Request], None]:
    return lambda request: request.reply(status, content, **headers)


@pytest.mark.parametrize(
    ("answer", "kind", "word"),
    [
        (replying(404), Missing, ""),
        (replying(410), Missing, ""),
        (replying(403), Unavailable, "(403)"),
        (replying(500), Unavailable, "status 500"),
        (replying(200), InvalidInput, "entity tag"),
        (replying(200, ETag='W/"7"'), InvalidInput, "entity tag"),
    ],
)
def test_other_answers_are_reported_without_what_is_in_them(
    answer: Callable[[Request], None], kind: type[Exception], word: str
) -> None:
    with answering(answer) as host, pytest.raises(kind) as refused:
        store_of(host).head(FILE.name)
    assert word in str(refused.value)
    assert TOKEN not in str(refused.value)
    assert "cell" not in str(refused.value)


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (replying(200, CONTENT, ETag=TAG), InvalidInput),  # the whole file: no ranges
        (replying(206, b"234", ETag='"8"'), Replaced),  # the condition was ignored
        (replying(206, b"23", ETag=TAG), Unavailable),  # cut short
    ],
)
def test_a_server_that_keeps_to_neither_ranges_nor_conditions_is_noticed(
    answer: Callable[[Request], None], kind: type[Exception]
) -> None:
    with answering(answer) as host, pytest.raises(kind):
        store_of(host).read(FILE, 2, 5)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed(status: int) -> None:
    """It would lead to services of the server's own network, and take the token with it."""
    reached: list[str] = []
    with answering(lambda request: reached.append(request.path)) as inner:

        def redirecting(request: Request) -> None:
            request.reply(status, Location=f"http://{inner}/latest/meta-data")

        with answering(redirecting) as host:
            for attempt in (
                lambda: store_of(host).head(FILE.name),
                lambda: store_of(host).read(FILE, 2, 5),
            ):
                with pytest.raises(InvalidInput, match="redirects"):
                    attempt()
    assert reached == []


def test_only_hosts_that_the_connection_names_are_reached() -> None:
    reached: list[str] = []
    with answering(lambda request: reached.append(request.path)) as other:
        text = json.dumps({"store": "http", "hosts": ["example.org"], "allow_http": True})
        with pytest.raises(InvalidInput, match="does not name this host"):
            opened(access_of(text, "web"), parsed(f"http://{other}/a.parquet"))
    assert reached == []


def test_a_server_that_is_not_there_is_unreachable() -> None:
    with pytest.raises(Unavailable, match="cannot be reached"):
        store_of("127.0.0.1:9").head(FILE.name)


def test_a_web_server_lists_nothing() -> None:
    with pytest.raises(InvalidInput, match="lists no files"):
        store_of("127.0.0.1:9").under("folder")


def test_no_more_is_read_than_what_was_asked_for() -> None:
    """A server that never stops would fill the memory."""
    sent: list[int] = []

    def endless(request: Request) -> None:
        request.send_response(206)
        request.send_header("ETag", TAG)
        request.end_headers()
        with suppress(OSError):
            while len(sent) < 64:
                request.wfile.write(bytes(1 << 20))
                sent.append(1)

    with answering(endless) as host:
        store = store_of(host)
        with pytest.raises(Unavailable):
            store.read(FILE, 2, 5)
    assert len(sent) < 64
