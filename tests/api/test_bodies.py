"""Test bodies that are too large, too deep, cut short, or not JSON."""

import io
import json
from collections.abc import Callable
from typing import Any

import pytest
from tests.api.world import QUERY, World, parsed

TIERS = "/api/v1/tiers"


def post(world: World, data: bytes, **headers: str) -> Any:
    """Send bytes as the body of a new tier, by an admin."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return world.call("POST", TIERS, by="root", data=data, headers=named)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b" ",
        b"name=x",
        b'{"name": "x"',
        b'{"name": "x"} trailing',
        b'{"name": "x",}',
        b"{'name': 'x'}",
        b'{"name": NaN}',
        b'{"rank": Infinity}',
        b'{"rank": -Infinity}',
        b'{"rank": 1e999}',
        b'{"name": "\xff\xfe"}',
        b'{"name": "\\ud800"}',
        b"\xef\xbb\xbf{}",
        '{"name": "x"}'.encode("utf-16"),
        b'{"name": "x", "name": "y"}',
        b'{"name": "x", "deeper": {"a": 1, "a": 1}}',
        b"[" * 65 + b"]" * 65,
        b"[" * 100_000 + b"]" * 100_000,
        b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
        b"[" * 500_000,
        b"1" * 100_000,
    ],
    ids=lambda data: repr(data[:20]),
)
def test_what_is_not_json_is_a_400(world: World, data: bytes) -> None:
    response = post(world, data)
    assert response.status_code == 400, response.text
    assert parsed(response)["code"] == "MALFORMED"


@pytest.mark.parametrize("data", [b"null", b"[]", b"1", b'"x"', b"true", b'{"name": null}'])
def test_json_that_is_no_tier_is_a_422(world: World, data: bytes) -> None:
    assert post(world, data).status_code == 422


def test_a_number_of_many_digits_is_no_rank(world: World) -> None:
    assert post(world, b'{"name": "x", "rank": ' + b"9" * 300 + b"}").status_code == 422


def test_sixty_four_levels_of_nesting_are_read(world: World) -> None:
    assert post(world, b"[" * 64 + b"]" * 64).status_code == 422


def test_a_refusal_repeats_nothing_of_the_body(world: World) -> None:
    for data in (b'{"name": "canary-4711', b'{"name": ["canary-4711"], "canary-4712": 1e400}'):
        assert "canary-4711" not in post(world, data).text


@pytest.mark.parametrize(
    "headers",
    [
        {"Content_Type": "text/plain"},
        {"Content_Type": "application/x-www-form-urlencoded"},
        {"Content_Type": "multipart/form-data; boundary=x"},
        {"Content_Type": "application/json; charset=utf-16"},
        {"Content_Type": ""},
        {"Content_Type": "application/json", "Content_Encoding": "gzip"},
    ],
)
def test_another_content_type_is_a_415(world: World, headers: dict[str, str]) -> None:
    response = post(world, b'{"name": "x"}', **headers)
    assert response.status_code == 415
    assert parsed(response)["code"] == "UNSUPPORTED_MEDIA_TYPE"


def test_the_content_type_may_name_utf_8(world: World) -> None:
    response = post(world, b'{"name": "x"}', Content_Type='application/json; charset="UTF-8"')
    assert response.status_code == 201


def padded(size: int) -> bytes:
    """Return a body of exactly ``size`` bytes that is a tier."""
    empty = json.dumps({"name": "x", "description": ""}).encode()
    return empty[:-1] + b" " * (size - len(empty)) + b"}"


def test_a_body_may_be_as_large_as_the_limit_and_no_larger(
    open_copy: Callable[..., World],
) -> None:
    world = open_copy(body_limit=2000)
    assert post(world, padded(2000)).status_code == 201
    response = post(world, padded(2001))
    assert response.status_code == 413
    assert parsed(response)["code"] == "BODY_TOO_LARGE"
    assert "2,000" in parsed(response)["detail"]


@pytest.mark.parametrize(("path", "status"), [("", 201), ("/preview", 200)])
def test_queries_have_a_limit_of_their_own(
    open_copy: Callable[..., World], path: str, status: int
) -> None:
    world = open_copy(body_limit=2000, query_body_limit=20_000)
    body = {**QUERY, "name": "many", "keys": None, "values": [1] * 3000}
    assert world.call("POST", f"/api/v1/queries{path}", body, by="root").status_code == status
    body = {**body, "name": "more", "values": [1] * 9000}
    assert world.call("POST", f"/api/v1/queries{path}", body, by="root").status_code == 413


def test_a_body_of_countless_small_lists_is_refused_before_they_are_made(
    open_copy: Callable[..., World],
) -> None:
    world = open_copy(dimension_limit=10)
    data = b'{"name": "x", "values": [' + b"[]," * 600_000 + b"1]}"
    response = world.call("POST", "/api/v1/queries", by="root", data=data)
    assert response.status_code == 400
    assert "the 10 values" in parsed(response)["detail"]


def send(world: World, stream: io.BytesIO, **environ: Any) -> Any:
    """Return a body without a length, or of a length that is not its own."""
    return world.client.post(
        TIERS,
        headers={"Authorization": f"Bearer {world.tokens['root']}"},
        content_type="application/json",
        input_stream=stream,
        environ_overrides=environ,
    )


def test_a_chunked_body_is_read_and_bounded(open_copy: Callable[..., World]) -> None:
    world = open_copy(body_limit=2000)
    whole = {"HTTP_TRANSFER_ENCODING": "chunked", "wsgi.input_terminated": True}
    assert send(world, io.BytesIO(b'{"name": "x"}'), **whole).status_code == 201
    assert send(world, io.BytesIO(padded(2001)), **whole).status_code == 413


def test_a_body_without_a_length_is_not_waited_for(world: World) -> None:
    unbounded = {"CONTENT_LENGTH": "", "wsgi.input_terminated": False}
    response = send(world, io.BytesIO(b'{"name": "x"}'), **unbounded)
    assert response.status_code == 400


def test_a_body_that_ends_early_is_refused(world: World) -> None:
    response = send(world, io.BytesIO(b'{"name": "x"}'), CONTENT_LENGTH="100")
    assert response.status_code == 400
    assert world.answer("GET", "/api/v1/tiers", by="ann")["items"][-1]["name"] == "internal"


def test_a_body_is_not_read_before_its_sender_is_known(world: World) -> None:
    class Untouched(io.BytesIO):
        """Represent a stream that must not be read."""

        def read(self, size: int | None = -1) -> bytes:
            reads.append(size)
            return super().read(size)

    reads: list[int | None] = []
    response = world.client.post(
        TIERS, content_type="text/plain", input_stream=Untouched(b"x" * 10), content_length=10
    )
    assert (response.status_code, reads) == (401, [])
