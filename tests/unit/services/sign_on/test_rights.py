"""Test that groups give no more than their mappings, nor than admins set for a user."""

import pytest
from tests.unit.services.sign_on.trusted import account, mapped, trusting
from tests.unit.worlds import World

from penstock.errors import Forbidden
from penstock.services.access.principals import OPERATOR
from penstock.services.context import Server
from penstock.services.pagination import Window
from penstock.services.people import tier_changes, users
from penstock.services.schemas.people.tiers import TierSpec
from penstock.services.schemas.people.users import UserChange, UserSpec
from penstock.services.schemas.people.views import UserView
from penstock.services.sign_on import accounts, mappings
from penstock.services.verification.verification import verify


def view(server: Server, name: str) -> UserView:
    return users.show(server, OPERATOR, name)


def test_the_clearance_that_an_admin_set_is_a_ceiling(world: World) -> None:
    server = trusting(world.server)
    mapped(server, "all", "analyst", tier="internal")
    mapped(server, "few", "analyst", tier="public")
    ada = world.person("ada")
    assert view(server, "paul").clearance == "partner"
    for groups, expected in ((["all"], "partner"), (["few"], "public"), (["all"], "partner")):
        accounts.admit(server, account("paul", groups))
        assert view(server, "paul").clearance == expected
    users.change(server, ada, "paul", UserChange(clearance=None))
    accounts.admit(server, account("paul", ["all"]))
    assert view(server, "paul").clearance is None
    accounts.admit(server, account("zoe", ["all"]))
    assert view(server, "zoe").clearance == "internal"
    users.change(server, ada, "zoe", UserChange(clearance="public"))
    accounts.admit(server, account("zoe", ["all"]))
    assert view(server, "zoe").clearance == "public"
    verify(server, OPERATOR)


def test_a_ceiling_whose_tier_is_gone_stays_below_that_tier(world: World) -> None:
    server = trusting(world.server)
    tier_changes.create(server, OPERATOR, TierSpec(name="brief", above="public"))
    users.create(server, OPERATOR, UserSpec(name="zed", roles=["analyst"], clearance="brief"))
    mapped(server, "all", "analyst", tier="internal")
    mapped(server, "few", "analyst", tier="public")
    accounts.admit(server, account("zed", ["few"]))
    tier_changes.delete(server, OPERATOR, "brief")
    accounts.admit(server, account("zed", ["all"]))
    assert view(server, "zed").clearance == "public"


def test_groups_of_another_issuer_give_nothing(world: World) -> None:
    other = trusting(world.server, oidc_issuer="https://other.example.org")
    mapped(other, "staff", "analyst", "admin", tier="internal")
    server = trusting(world.server)
    with pytest.raises(Forbidden, match="none of the groups"):
        accounts.admit(server, account("zoe", ["staff"]))
    assert [item.counts for item in mappings.listing(server, OPERATOR, Window()).items] == [False]


def test_groups_are_compared_to_the_letter(world: World) -> None:
    server = trusting(world.server)
    mapped(server, "admins", "admin")
    for look_alike in ("Admins", "аdmins", "ａdmins", "admins ", "/admins", "admin\u0073\u200b"):
        with pytest.raises(Forbidden, match="none of the groups"):
            accounts.admit(server, account("zoe", [look_alike]))


def test_under_the_two_person_rule_the_operator_alone_maps_to_admin(world: World) -> None:
    ada, free = world.person("ada"), trusting(world.server)
    mapped(free, "admins", "admin", "auditor", by=ada)
    ruled = trusting(world.server, two_person_rule=True)
    with pytest.raises(Forbidden, match="only the operator maps groups"):
        mapped(ruled, "others", "admin", by=ada)
    assert accounts.admit(ruled, account("zoe", ["admins"])).roles == {"auditor"}
    mapped(ruled, "admins", "admin", "auditor")
    assert accounts.admit(ruled, account("zoe", ["admins"])).roles == {"admin", "auditor"}
    verify(ruled, OPERATOR)


def test_a_deleted_tier_is_given_to_nobody(world: World) -> None:
    server = trusting(world.server)
    tier_changes.create(server, OPERATOR, TierSpec(name="brief"))
    mapped(server, "staff", "analyst", tier="brief")
    tier_changes.delete(server, OPERATOR, "brief")
    tier_changes.create(server, OPERATOR, TierSpec(name="brief"))
    accounts.admit(server, account("zoe", ["staff"]))
    assert view(server, "zoe").clearance is None
