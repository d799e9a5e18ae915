"""Test that files come as bytes of the media type that was asked for."""

from collections.abc import Callable

import httpx
import pytest

from penstock_client import Client, InvalidArgument, ProtocolError
from penstock_client._http.files import MEDIA_TYPES

ClientOf = Callable[..., Client]


@pytest.mark.parametrize("form", MEDIA_TYPES)
def test_a_file_is_not_decoded(client_of: ClientOf, form: str) -> None:
    def handle(request: httpx.Request) -> httpx.Response:
        assert request.headers["accept"] == MEDIA_TYPES[form]
        assert dict(request.url.params) == {"format": form, "rows": "3"}
        kind = {"content-type": MEDIA_TYPES[form]}
        return httpx.Response(200, content=b"\xff\x00{", headers=kind)

    assert client_of(handle).synthetic_file("rel_1", form, 3) == b"\xff\x00{"


def test_another_media_type_is_refused(client_of: ClientOf) -> None:
    client = client_of(lambda _: httpx.Response(200, json={}))
    with pytest.raises(ProtocolError, match="not text/csv"):
        client.synthetic_file("rel_1", "csv")
    with pytest.raises(InvalidArgument, match="csv, arrow, parquet, not xlsx"):
        client.synthetic_file("rel_1", "xlsx")


def test_a_file_has_a_limit_too(client_of: ClientOf) -> None:
    kind = {"content-type": "text/csv"}
    answer = httpx.Response(200, content=b"a" * 100, headers=kind)
    with pytest.raises(ProtocolError, match="larger than 99 bytes"):
        client_of(lambda _: answer, largest_answer=99).synthetic_file("rel_1", "csv")
