"""Test how many statements a release takes, from the token to the answer."""

import pytest
from tests.unit.statements import statements
from tests.unit.worlds import World

from penstock.services.access.principals import OPERATOR, authenticate
from penstock.services.people import tokens
from penstock.services.releases import releases
from penstock.services.schemas.people import TokenSpec
from penstock.services.schemas.queries import ReleaseRequest

pytestmark = pytest.mark.each_database


@pytest.fixture
def token(visits: World) -> str:
    return tokens.issue(visits.server, OPERATOR, "ines", TokenSpec()).token


def release(world: World, token: str, **target: object) -> releases.Answer:
    principal = authenticate(world.server, token)
    request = ReleaseRequest.model_validate(target)
    return releases.request(world.server, principal, "visits", request)


def test_a_repeat_takes_one_statement_for_the_token_and_one_for_the_release(
    visits: World, token: str
) -> None:
    first = release(visits, token)
    with statements() as seen:
        again = release(visits, token)
    assert again.view.id == first.view.id
    assert len(seen) == 2, seen


def test_looking_twice_costs_one_statement_where_nothing_changed(visits: World, token: str) -> None:
    """Before the lock and under it: that the caller may have the release is not worked out anew."""
    release(visits, token)
    with statements() as seen:
        assert release(visits, token, epsilon=0.3).first
    looks = [text for text in seen if "edition.value" in text]
    assert len(looks) == 2
    assert [text for text in seen if text.startswith(("SELECT query_level", "SELECT tier"))] == []
