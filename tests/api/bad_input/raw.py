"""Provide bytes that are not a valid request, as a hostile client sends them to the port."""

import json
import re
import socket
from dataclasses import dataclass

from tests.api.bad_input.tables.people import TIERS
from tests.api.bad_input.verdict import MEMBERS, judge_words

ME = "/api/v1/me"


@dataclass(frozen=True)
class Bytes:
    """Hold what is sent, with ``TOKEN`` for a valid token, and the status of the answer."""

    name: str
    data: bytes
    status: int = 400


def request(line: str, *headers: str, body: bytes = b"") -> bytes:
    """Return a request with these headers, and with a host if they name none."""
    named = [] if any(header.lower().startswith("host:") for header in headers) else ["Host: x"]
    return "\r\n".join([line, *named, *headers, "", ""]).encode("latin-1") + body


def posted(*headers: str, body: bytes = b"") -> bytes:
    """Return a request for a new tier by a user who may not create one, so that nothing changes."""
    given = ("Authorization: Bearer TOKEN", "Content-Type: application/json", *headers)
    return request(f"POST {TIERS} HTTP/1.1", *given, body=body)


def asked(*headers: str, body: bytes = b"") -> bytes:
    """Return a request for a release by a user who may have it."""
    given = ("Authorization: Bearer TOKEN", "Content-Type: application/json", *headers)
    line = "POST /api/v1/queries/visits/releases HTTP/1.1"
    return request(line, *given, body=body)


CHUNKED = "Transfer-Encoding: chunked"
ROWS = [
    Bytes("one word", b"GARBAGE\r\n\r\n"),
    Bytes("a TLS greeting", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n"),
    Bytes("the preface of HTTP/2", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
    Bytes("a proxy's line", b"PROXY TCP4 1.2.3.4 5.6.7.8 1 2\r\nGET / HTTP/1.1\r\n\r\n"),
    Bytes("an unknown version", request(f"GET {ME} HTTP/9.9")),
    Bytes("no version", request(f"GET {ME}")),
    Bytes("a space in the address", request("GET /api/v1/me x HTTP/1.1")),
    Bytes("a method with signs", request(f'G"T {ME} HTTP/1.1')),
    Bytes("an address of 10,000 letters", request(f"GET /{'x' * 10_000} HTTP/1.1"), 414),
    Bytes("a header without a colon", request(f"GET {ME} HTTP/1.1", "Authorization canary-4711")),
    Bytes("a space in a header's name", request(f"GET {ME} HTTP/1.1", "Bad Name: canary-4711")),
    Bytes("a zero byte in a header", request(f"GET {ME} HTTP/1.1", "X: a\x00canary-4711")),
    Bytes("a lone return in a header", request(f"GET {ME} HTTP/1.1", "X: a\rSet-Cookie: b")),
    Bytes("a folded header", request(f"GET {ME} HTTP/1.1", "X: a\r\n Set-Cookie: b")),
    Bytes("a header of 20,000 letters", request(f"GET {ME} HTTP/1.1", f"X: {'x' * 20_000}"), 431),
    Bytes("500 headers", request(f"GET {ME} HTTP/1.1", *[f"X-{n}: y" for n in range(500)]), 431),
    Bytes("two lengths", posted("Content-Length: 2", "Content-Length: 4", body=b"{}{}")),
    Bytes("a length and chunks", posted("Content-Length: 2", CHUNKED, body=b"{}\r\n0\r\n\r\n")),
    Bytes("a negative length", posted("Content-Length: -1", body=b"{}")),
    Bytes("a length in words", posted("Content-Length: two", body=b"{}")),
    Bytes("a length with a sign", posted("Content-Length: +2", body=b"{}")),
    Bytes("a length of 5000 digits", posted(f"Content-Length: {'9' * 5000}", body=b"{}")),
    Bytes("a length with an exponent", posted("Content-Length: 1e3", body=b"{}")),
    Bytes("another coding", posted("Transfer-Encoding: gzip", body=b"{}")),
    Bytes("a coding that looks alike", posted("Transfer-Encoding: xchunked", body=b"0\r\n\r\n")),
    Bytes("chunks twice", posted(CHUNKED, CHUNKED, body=b"0\r\n\r\n")),
    Bytes("a chunk of no size", asked(CHUNKED, body=b"zz\r\n{}\r\n0\r\n\r\n")),
    Bytes("a chunk of negative size", asked(CHUNKED, body=b"-2\r\n{}\r\n0\r\n\r\n")),
    Bytes("a chunk without an end", asked(CHUNKED, body=b"2\r\n{}xx0\r\n\r\n")),
    Bytes("chunks cut short", asked(CHUNKED, body=b"10\r\n{}")),
    Bytes("a body cut short", asked("Content-Length: 100", body=b"{}")),
    Bytes("a body too large", asked(f"Content-Length: {2**40}", body=b"{}"), 413),
    Bytes("a strange expectation", asked("Expect: 200-maybe", "Content-Length: 2", body=b"{}")),
    Bytes("two authorizations", asked("Authorization: Bearer TOKEN"), 401),
    Bytes("no authorization", request(f"GET {ME} HTTP/1.0"), 401),
    Bytes("a line end in a name", request("GET /api/v1/users/a%0d%0aSet-Cookie:b HTTP/1.1",
          "Authorization: Bearer TOKEN"), 403),
    Bytes("an address that climbs", request("GET /../../etc/passwd HTTP/1.1"), 404),
    Bytes("an address of stars", request("OPTIONS * HTTP/1.1"), 404),
]  # fmt: skip


def judge_answer(answer: bytes, status: int) -> None:
    """Raise unless ``answer`` is one problem document with this status, and nothing else."""
    head, _, body = answer.partition(b"\r\n\r\n")
    assert re.match(rb"HTTP/1\.[01] %d " % status, head), answer[:500]
    assert b"Content-Type: application/problem+json" in head
    assert b"Set-Cookie" not in head
    assert b"canary" not in answer
    problem = json.loads(body)
    assert set(problem) >= MEMBERS
    assert problem["status"] == status
    judge_words(problem["detail"])


def exchange(port: int, data: bytes) -> bytes:
    """Send bytes and nothing more; return all that comes back until the connection ends."""
    with socket.create_connection(("127.0.0.1", port), timeout=120) as connection:
        connection.sendall(data)
        connection.shutdown(socket.SHUT_WR)
        answer = b""
        while part := connection.recv(65536):
            answer += part
    return answer
