"""Test that tiers and users are found in any case, and that users hold their newest tier."""

import pytest
from tests.unit.worlds import World

from penstock.errors import NotFound
from penstock.services.access.principals import OPERATOR
from penstock.services.people import tier_changes, users
from penstock.services.repository.people import (
    clearance_of,
    holding,
    ordered_tiers,
    tier_by_name,
    user_by_name,
)
from penstock.services.schemas.people.users import UserChange


def test_names_are_found_in_any_case_and_missing_ones_are_told(visits: World) -> None:
    with visits.server.database.read() as session:
        assert tier_by_name(session, "PUBLIC").name == "public"
        assert user_by_name(session, "Pia").name == "pia"
        for find in (tier_by_name, user_by_name):
            with pytest.raises(NotFound, match="'nothing'"):
                find(session, "nothing")


def test_the_newest_clearance_counts(visits: World) -> None:
    users.change(visits.server, OPERATOR, "pia", UserChange(clearance="internal"))
    users.change(visits.server, OPERATOR, "paul", UserChange(clearance=None))
    with visits.server.database.read() as session:
        held = holding(session)
        pia, paul = (user_by_name(session, name).id or 0 for name in ("pia", "paul"))
        internal = tier_by_name(session, "internal")
        assert (held[pia], held[paul]) == (internal.id, None)
        assert clearance_of(session, pia) == internal
        assert clearance_of(session, paul) is None


def test_a_deleted_tier_is_not_found(world: World) -> None:
    users.change(world.server, OPERATOR, "pia", UserChange(clearance=None))
    tier_changes.delete(world.server, OPERATOR, "public")
    with world.server.database.read() as session:
        assert "public" not in {tier.name for tier in ordered_tiers(session)}
        with pytest.raises(NotFound):
            tier_by_name(session, "public")
