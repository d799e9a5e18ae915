"""Test that a missing leaf of an invitation, or of what became of it, is reported."""

from tests.unit.services import logged
from tests.unit.services.sign_on.inviting import invited
from tests.unit.worlds import World

from penstock.services.access.principals import OPERATOR
from penstock.services.sign_on import acceptance, invitations
from penstock.services.sign_on.logged_invitations import LoggedInvitations


def test_invitations(world: World) -> None:
    acceptance.accept(world.server, invited(world.server))
    invitations.revoke(world.server, OPERATOR, invited(world.server, name="max").split("_")[1])
    left = logged.unmissed(world, LoggedInvitations)
    assert "invitation" not in logged.kinds(left)
    assert not [leaf for leaf in left if "invitation" in leaf]
