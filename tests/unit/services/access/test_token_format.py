"""Test that the public part of a token lets nobody in, however well the rest is formed."""

import zlib

import pytest
from tests.unit.worlds import World

from penstock.errors import NotAuthenticated
from penstock.services.access.principals import OPERATOR, authenticate
from penstock.services.access.token_format import well_formed
from penstock.services.people import tokens
from penstock.services.schemas.people.tokens import TokenSpec


def test_a_known_prefix_with_a_made_up_secret_is_refused(world: World) -> None:
    issued = tokens.issue(world.server, OPERATOR, "pia", TokenSpec())
    assert authenticate(world.server, issued.token).name == "pia"
    body = f"pst_{issued.prefix}_{'A' * 43}"
    forged = f"{body}_{zlib.crc32(body.encode()):08x}"
    assert well_formed(forged)
    with pytest.raises(NotAuthenticated, match="malformed, unknown, expired or revoked"):
        authenticate(world.server, forged)
