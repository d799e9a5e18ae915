"""Test mapping groups, and taking it back."""

import pytest
from sqlmodel import col, select
from tests.unit.services.sign_on.trusted import account, mapped, trusting
from tests.unit.worlds import World

from penstock.errors import Conflict, Forbidden, InvalidInput, NotFound
from penstock.persistence.tables import Leaf
from penstock.services.access.principals import OPERATOR
from penstock.services.context import Server
from penstock.services.people import users
from penstock.services.schemas.people.views import UserView
from penstock.services.sign_on import accounts, mappings
from penstock.services.verification.verification import verify


def view(server: Server, name: str) -> UserView:
    return users.show(server, OPERATOR, name)


def test_mappings_are_for_admins_and_can_be_taken_back(world: World) -> None:
    server = trusting(world.server)
    with pytest.raises(Forbidden):
        mapped(server, "staff", "analyst", by=world.person("paul"))
    with pytest.raises(InvalidInput, match="no tier 'absent'"):
        mapped(server, "staff", tier="absent")
    with pytest.raises(Conflict, match="PENSTOCK_OIDC_ISSUER"):
        mapped(world.server, "staff", "analyst")
    one = mapped(server, "staff", "analyst", tier="public")
    assert mapped(server, "staff", "analyst", tier="public") == one
    mappings.take(server, world.person("ada"), one)
    with pytest.raises(NotFound):
        mappings.take(server, OPERATOR, one)
    with pytest.raises(Forbidden, match="none of the groups"):
        accounts.admit(server, account("zoe", ["staff"]))
    with server.database.read() as session:
        leaves = session.exec(select(Leaf).where(col(Leaf.kind) == "group")).all()
    assert [leaf.actor for leaf in leaves] == ["operator", "ada"]
    verify(server, OPERATOR)
