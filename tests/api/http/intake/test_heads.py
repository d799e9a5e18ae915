"""Test how many bytes belong to a request; ambiguous heads are left to gunicorn's parser."""

import pytest

from penstock.http.intake.heads import LONGEST_BODY, Extent, extent


@pytest.mark.parametrize(
    ("head", "found"),
    [
        (b"GET /healthz HTTP/1.1\r\n\r\n", Extent("/healthz", 25)),
        (b"GET /healthz?a=b HTTP/1.0\r\nHost: x\r\n\r\n", Extent("/healthz", 38)),
        (b"POST /a HTTP/1.1\r\ncontent-LENGTH:  7 \r\n\r\n", Extent("/a", 48)),
        (b"POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n", Extent("/a", 48)),
        (
            b"POST /a HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % (LONGEST_BODY + 1),
            Extent("/a", None),
        ),
    ],
)
def test_a_plain_request_has_so_many_bytes(head: bytes, found: Extent) -> None:
    assert extent(head) == found


@pytest.mark.parametrize(
    "fields",
    [
        b"Transfer-Encoding: chunked",
        b"Content-Length: 5\r\nTransfer-Encoding: chunked",
        b"Content-Length: 5\r\nContent-Length: 5",
        b"Content-Length: 5\r\nX-Content-Length: 9",
        b"Content-Length: +5",
        b"Content-Length: 5, 5",
        b"Content-Length : 5",
        b"Content-Length:\r\n 5",
        b"Expect: something\r\nContent-Length: 5",
    ],
)
def test_what_may_be_read_in_two_ways_is_read_by_a_thread_apart(fields: bytes) -> None:
    assert extent(b"POST /a HTTP/1.1\r\n" + fields + b"\r\n\r\n").whole is None


@pytest.mark.parametrize(
    "head", [b"\r\n\r\n", b"PRI * HTTP/2.0\r\n\r\n", b"get / HTTP/1.1\r\n\r\n"]
)
def test_what_is_no_request_is_read_by_a_thread_apart(head: bytes) -> None:
    assert extent(head) == Extent("", None)
