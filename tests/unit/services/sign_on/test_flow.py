"""Test what is refused before the provider is asked for anything."""

from datetime import timedelta

import pytest
from tests.unit.services.sign_on.trusted import trusting
from tests.unit.worlds import World

from penstock.errors import NotFound
from penstock.openid.relying_party import Attempt
from penstock.services.sign_on import flow


def test_nobody_signs_in_where_there_is_no_provider(world: World) -> None:
    attempt, server = Attempt.fresh(), trusting(world.server)
    with pytest.raises(NotFound):
        flow.begin(server)
    with pytest.raises(NotFound):
        flow.finish(server, attempt, server.clock(), {"state": attempt.state}, "")


def test_accounts_of_two_issuers_have_digests_of_their_own() -> None:
    digests = {flow.digest("https://a", "7"), flow.digest("https://b", "7"), flow.digest("x", "8")}
    assert len(digests) == 3
    assert timedelta(minutes=1) < flow.LIFE <= timedelta(minutes=10)
