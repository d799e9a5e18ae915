"""Test that a missing leaf of a user or of a clearance is reported, whichever it is."""

from tests.unit.services import logged
from tests.unit.worlds import World

from penstock.services.access.principals import OPERATOR
from penstock.services.people import users
from penstock.services.people.logged_users import LoggedUsers
from penstock.services.schemas.people.users import UserChange


def test_users_roles_clearances_and_who_is_disabled(world: World) -> None:
    server = world.server
    users.change(server, OPERATOR, "pia", UserChange(clearance="partner"))
    users.change(server, OPERATOR, "pia", UserChange(clearance=None))
    users.change(server, OPERATOR, "paul", UserChange(roles=["analyst", "auditor"]))
    users.disable(server, OPERATOR, "ines")
    assert not logged.kinds(logged.unmissed(world, LoggedUsers)) & {"user", "clearance"}


def test_a_user_who_is_enabled_again_without_a_leaf_is_told(world: World) -> None:
    before = logged.leaves(world)
    users.disable(world.server, OPERATOR, "ines")
    assert logged.differences(world, LoggedUsers, before) == [
        "the disabled users are not those of the log"
    ]
