"""Test that a missing leaf of a token, or of its owner's disabling, is reported."""

from tests.unit.services import logged
from tests.unit.worlds import World

from penstock.services.access.principals import OPERATOR
from penstock.services.people import tokens, users
from penstock.services.people.logged_tokens import LoggedTokens
from penstock.services.schemas.people.tokens import TokenSpec


def test_tokens_and_revocations(world: World) -> None:
    issued = tokens.issue(world.server, OPERATOR, "pia", TokenSpec())
    tokens.issue(world.server, OPERATOR, "paul", TokenSpec())
    tokens.revoke(world.server, OPERATOR, "pia", issued.prefix)
    assert "token" not in logged.kinds(logged.unmissed(world, LoggedTokens))


def test_a_disabled_user_has_no_token_that_is_not_revoked(world: World) -> None:
    issued = tokens.issue(world.server, OPERATOR, "ines", TokenSpec())
    users.disable(world.server, OPERATOR, "ines")
    whole = logged.leaves(world)
    assert logged.differences(world, LoggedTokens, whole) == []
    kept = [leaf for leaf in whole if "active" not in leaf and not leaf.get("revoked")]
    (message,) = logged.differences(world, LoggedTokens, kept)
    assert message.startswith(f"token {issued.prefix} is revoked")
