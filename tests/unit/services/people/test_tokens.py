"""Test that a token carries whoever it was issued to.

The token follows promotions and demotions at once.
"""

import pytest
from tests.unit.worlds import World

from penstock.errors import ClearanceTooLow, Forbidden, NotAuthenticated, NotFound
from penstock.services.access.principals import OPERATOR, authenticate
from penstock.services.people import tokens, users
from penstock.services.releases import history, releases
from penstock.services.repository.people import user_by_name
from penstock.services.schemas.people.tokens import TokenSpec
from penstock.services.schemas.people.users import UserChange
from penstock.services.schemas.queries import (
    ReleaseRequest,
)


def test_a_token_works_with_the_new_clearance_at_once(visits: World) -> None:
    secret = tokens.issue(visits.server, OPERATOR, "pia", TokenSpec()).token
    assert secret is not None

    def ask(**wanted: float) -> str:
        person = authenticate(visits.server, secret)
        request = ReleaseRequest.model_validate(wanted)
        return releases.request(visits.server, person, "visits", request).view.tier

    with pytest.raises(ClearanceTooLow):
        ask(epsilon=0.5)
    users.change(visits.server, OPERATOR, "pia", UserChange(clearance="internal"))
    assert ask(epsilon=0.5) == "internal"
    users.change(visits.server, OPERATOR, "pia", UserChange(clearance="public"))
    with pytest.raises(ClearanceTooLow):
        ask(epsilon=0.5)
    users.change(visits.server, OPERATOR, "pia", UserChange(clearance=None))
    with pytest.raises(NotFound):
        ask()


def test_a_token_has_no_role_that_its_user_lost(visits: World) -> None:
    users.change(visits.server, OPERATOR, "pia", UserChange(roles=["analyst", "auditor"]))
    secret = tokens.issue(visits.server, OPERATOR, "pia", TokenSpec()).token
    assert secret is not None
    assert authenticate(visits.server, secret).roles == {"analyst", "auditor"}
    users.change(visits.server, OPERATOR, "pia", UserChange(roles=["analyst"]))
    assert authenticate(visits.server, secret).roles == {"analyst"}
    # Nor one that came later: it was not made for that.
    users.change(visits.server, OPERATOR, "pia", UserChange(roles=["analyst", "admin"]))
    assert authenticate(visits.server, secret).roles == {"analyst"}


def test_whoever_is_disabled_is_out_whatever_became_of_their_tokens(visits: World) -> None:
    secret = tokens.issue(visits.server, OPERATOR, "pia", TokenSpec()).token
    assert secret is not None
    with visits.server.database.write() as session:
        user = user_by_name(session, "pia")
        user.disabled_at = visits.clock.now
        session.add(user)
    with pytest.raises(NotAuthenticated):
        authenticate(visits.server, secret)


def test_admins_read_no_releases_unless_they_are_analysts_too(visits: World) -> None:
    given = visits.ask("pia").view
    users.change(visits.server, OPERATOR, "ada", UserChange(clearance="internal"))
    ada = visits.person("ada")
    with pytest.raises(Forbidden):
        releases.request(visits.server, ada, "visits", ReleaseRequest())
    with pytest.raises(Forbidden):
        history.values(visits.server, ada, given.id)
    with pytest.raises(Forbidden):
        releases.request(visits.server, OPERATOR, "visits", ReleaseRequest())
