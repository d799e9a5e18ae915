"""Test that leaves and base64 have one spelling each."""

import json

import pytest

from penstock_client._log.leaves import decoded, stated


@pytest.mark.parametrize(
    "text", ["QR==", "QQ", "QQ=", "QQ== ", "Q Q==", "QQ==\n", "Q-==", "QQ==QQ=="]
)
def test_base64_has_one_spelling(text: str) -> None:
    assert decoded("QQ==") == b"A"
    with pytest.raises(ValueError, match=r"."):
        decoded(text)


@pytest.mark.parametrize("content", [b'{"a":1,"b":[]}', '{"a":"é"}'.encode(), b"{}"])
def test_canonical_json_is_a_leaf(content: bytes) -> None:
    assert stated(content) == json.loads(content)


@pytest.mark.parametrize(
    "content",
    [
        b'{"b":1,"a":2}',
        b'{"a":1,"a":1}',
        b'{"a": 1}',
        b'{"a":"\\u00e9"}',
        b'{"a":NaN}',
        b'{"a":1e0}',
        b"[]",
        b"\xff",
        b"[" * 1000,
    ],
)
def test_any_other_spelling_is_no_leaf(content: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        stated(content)
