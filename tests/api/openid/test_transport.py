"""Test the answers to what is sent to a provider, whatever their status."""

import pytest
from tests.api.openid.provider import serving

from penstock.openid import transport


def test_documents_are_fetched_and_forms_are_posted() -> None:
    with serving() as provider:
        assert b"jwks_uri" in transport.fetched(
            provider.address + "/.well-known/openid-configuration"
        )
        with pytest.raises(OSError, match="HTTPError 404"):
            transport.fetched(provider.address + "/absent")
        status, content = transport.posted(provider.address + "/token", "code=x", {"X-Y": "z"})
        assert (status, content) == (400, b'{"error": "invalid_grant"}')
        assert provider.forms == [{"code": "x"}]
        provider.sent = b" " * (2 << 20)
        with pytest.raises(OSError, match="while it was read"):
            transport.posted(provider.address + "/token", "code=x", {})
    with pytest.raises(OSError, match="while it was read"):
        transport.posted(provider.address + "/token", "code=x", {})
