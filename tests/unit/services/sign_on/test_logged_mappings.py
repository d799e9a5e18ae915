"""Test that a missing leaf of a mapping or of a new user's account is reported."""

from tests.unit.services import logged
from tests.unit.services.sign_on.trusted import account, mapped, trusting
from tests.unit.worlds import World

from penstock.services.access.principals import OPERATOR
from penstock.services.people import users
from penstock.services.schemas.people.users import UserChange
from penstock.services.sign_on import accounts, mappings
from penstock.services.sign_on.logged_mappings import LoggedMappings


def test_mappings_and_accounts(world: World) -> None:
    server = trusting(world.server)
    mapped(server, "staff", "analyst", tier="public")
    mapped(server, "staff", "auditor")
    accounts.admit(server, account("zoe", ["staff"]))
    users.change(server, OPERATOR, "zoe", UserChange(roles=["analyst"]))
    mappings.take(server, OPERATOR, mapped(server, "other", "analyst"))
    of_zoe = [leaf for leaf in logged.unmissed(world, LoggedMappings) if leaf.get("user") == "zoe"]
    assert not of_zoe
    assert "group" not in logged.kinds(logged.unmissed(world, LoggedMappings))
