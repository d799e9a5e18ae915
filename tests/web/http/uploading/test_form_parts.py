"""Test forms with a file: what is read of them, in which order, and how much of it."""

import io
import socket
from collections.abc import Iterator

import pytest
from flask import Request
from werkzeug.exceptions import BadRequest, RequestEntityTooLarge
from werkzeug.test import EnvironBuilder

from penstock.http.intake.sockets import Socket
from penstock.web.http.uploading import form_parts
from penstock.web.http.uploading.form_parts import GOES_ON_AFTER, PIECE, opened

LARGEST = 1000
BOUNDARY = "----edge"
END = f"--{BOUNDARY}--\r\n".encode()


def part(disposition: str, content: bytes) -> bytes:
    head = f"--{BOUNDARY}\r\nContent-Disposition: form-data; {disposition}\r\n\r\n"
    return head.encode() + content + b"\r\n"


def field(name: str, text: str) -> bytes:
    return part(f'name="{name}"', text.encode())


def file_of(name: str, filename: str, content: bytes) -> bytes:
    return part(f'name="{name}"; filename="{filename}"', content)


KEY = field("form_key", "k")


class Counted(io.RawIOBase):
    """Hold a body that counts how much was read of it."""

    def __init__(self, content: bytes) -> None:
        self._content, self.read_so_far = io.BytesIO(content), 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray) -> int:  # type: ignore[override]
        piece = self._content.read(len(buffer))
        buffer[: len(piece)] = piece
        self.read_so_far += len(piece)
        return len(piece)


def request_of(
    body: bytes | Counted,
    limit: int = 10**9,
    kind: str = f"multipart/form-data; boundary={BOUNDARY}",
    length: int | None = None,
) -> Request:
    """Return a request as gunicorn passes it on; without a ``length`` it was sent in chunks."""
    stream = Counted(body) if isinstance(body, bytes) else body
    environ = EnvironBuilder("/new/dataset/file", method="POST").get_environ()
    environ.pop("CONTENT_LENGTH", None)
    environ["CONTENT_TYPE"] = kind
    if length is not None:
        environ["CONTENT_LENGTH"] = str(length)
    request = Request({**environ, "wsgi.input": stream, "wsgi.input_terminated": True})
    request.max_content_length = limit
    return request


def test_the_fields_are_read_and_then_the_file_piece_by_piece() -> None:
    content = bytes(range(256)) * 4096
    body = Counted(KEY + field("as", "größe") + file_of("file", "a b.csv", content) + END)
    upload = opened(request_of(body), LARGEST)
    assert dict(upload.fields) == {"form_key": "k", "as": "größe"}
    assert upload.name == "a b.csv"
    assert body.read_so_far <= PIECE
    pieces = list(upload.pieces)
    assert b"".join(pieces) == content
    assert max(map(len, pieces)) <= 2 * PIECE


@pytest.mark.parametrize(
    "content",
    [
        *(b"", b"\r\n", b"\n--", b"\r\n--" + BOUNDARY[:-1].encode(), b"--\r\n" * 40_000),
        *(b"\r" * 200_000, b"\n" * 200_000, b"x" * 300_000 + b"\r\n"),
    ],
)
def test_a_file_that_looks_like_its_own_end_arrives_whole(content: bytes) -> None:
    upload = opened(request_of(KEY + file_of("file", "a.csv", content) + END), LARGEST)
    assert b"".join(upload.pieces) == content


@pytest.mark.parametrize("kind", ["application/x-www-form-urlencoded", "multipart/form-data", ""])
def test_a_form_that_is_not_of_parts_has_no_file(kind: str) -> None:
    upload = opened(request_of(b"form_key=k", kind=kind, length=10), LARGEST)
    assert (upload.name, list(upload.pieces)) == ("", [])


def test_a_form_without_a_file_has_fields_alone() -> None:
    upload = opened(request_of(KEY + END), LARGEST)
    assert (dict(upload.fields), upload.name, list(upload.pieces)) == ({"form_key": "k"}, "", [])


def test_a_length_above_the_limit_is_refused_before_a_byte_is_read() -> None:
    body = Counted(KEY + END)
    with pytest.raises(RequestEntityTooLarge):
        opened(request_of(body, limit=999, length=1000), LARGEST)
    assert body.read_so_far == 0


def test_a_body_of_unknown_length_is_refused_where_it_passes_the_limit() -> None:
    limit = 4 * PIECE
    body = Counted(KEY + file_of("file", "a.csv", b"x" * (100 * PIECE)) + END)
    upload = opened(request_of(body, limit=limit), LARGEST)
    with pytest.raises(RequestEntityTooLarge):
        list(upload.pieces)
    assert body.read_so_far <= limit


def test_fields_are_short_whatever_a_file_may_be() -> None:
    for fields in (field("as", "x" * (LARGEST + 1)), field("as", "x" * 400) * 3):
        with pytest.raises(RequestEntityTooLarge):
            opened(request_of(KEY + fields + file_of("file", "a.csv", b"x") + END), LARGEST)
    with pytest.raises(RequestEntityTooLarge):
        opened(request_of(field("x", "") * 17 + END), LARGEST)
    with pytest.raises(RequestEntityTooLarge):
        opened(request_of(b"x" * (form_parts.LONGEST_BUFFER + 1)), LARGEST)


WHOLE = KEY + file_of("file", "a.csv", b"person\n" * 30_000) + END


@pytest.mark.parametrize("left", [0, 1, 30, len(KEY), len(WHOLE) // 2, len(WHOLE) - 60])
def test_a_body_that_is_cut_short_is_refused(left: int) -> None:
    with pytest.raises(BadRequest):
        list(opened(request_of(WHOLE[:left]), LARGEST).pieces)


@pytest.mark.parametrize(
    "body",
    [
        KEY + file_of("other", "a.csv", b"x") + END,
        KEY + file_of("file", "a.csv", b"x") + field("as", "b.csv") + END,
        KEY + file_of("file", "a.csv", b"x") + file_of("file", "b.csv", b"y") + END,
        f"--{BOUNDARY}\r\nX: y\r\n\r\nx\r\n".encode() + END,
        f"--{BOUNDARY}\r\nContent-Disposition: \xff\r\n\r\nx\r\n".encode("latin-1") + END,
    ],
)
def test_a_form_of_other_parts_is_refused(body: bytes) -> None:
    with pytest.raises(BadRequest):
        list(opened(request_of(body), LARGEST).pieces)


def test_a_broken_connection_is_a_bad_request() -> None:
    class Broken(Counted):
        def readinto(self, buffer: bytearray) -> int:  # type: ignore[override]
            if self.read_so_far:
                raise ConnectionResetError
            return super().readinto(buffer)

    upload = opened(request_of(Broken(WHOLE)), LARGEST)
    with pytest.raises(BadRequest):
        list(upload.pieces)


class Patient(Socket):
    """Hold a connection that counts how often its client got more time."""

    granted = 0

    def go_on(self) -> None:
        self.granted += 1


@pytest.fixture
def patient() -> Iterator[Patient]:
    one, other = socket.socketpair()
    made = Patient(one.detach(), 1.0, lambda: False, lambda: 0.0)
    yield made
    made.close()
    other.close()


def test_a_client_gets_more_time_for_what_it_has_sent(patient: Patient) -> None:
    content = b"x" * (2 * GOES_ON_AFTER + PIECE)
    for size, times in ((2 * GOES_ON_AFTER + PIECE, 2), (PIECE, 0)):
        patient.granted = 0
        request = request_of(KEY + file_of("file", "a.csv", content[:size]) + END)
        request.environ["gunicorn.socket"] = patient
        assert sum(map(len, opened(request, LARGEST).pieces)) == size
        assert patient.granted == times
