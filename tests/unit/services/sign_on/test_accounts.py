"""Test which user an account of the provider is, and what becomes of their roles."""

import pytest
from sqlmodel import col, select
from tests.unit.services.sign_on.trusted import account, mapped, trusting
from tests.unit.worlds import World

from penstock.errors import Forbidden, NotFound
from penstock.persistence.tables import Leaf
from penstock.services.access.principals import OPERATOR
from penstock.services.context import Server
from penstock.services.people import users
from penstock.services.schemas.people.users import UserChange
from penstock.services.schemas.people.views import UserView
from penstock.services.sign_on import accounts
from penstock.services.verification.verification import verify


def view(server: Server, name: str) -> UserView:
    return users.show(server, OPERATOR, name)


def test_a_new_user_gets_what_their_groups_give(world: World) -> None:
    server = trusting(world.server)
    mapped(server, "staff", "analyst", tier="public")
    mapped(server, "research", tier="partner")
    mapped(server, "control", "auditor")
    signed_in = accounts.admit(server, account("zoe", ["staff", "research", "none of ours"]))
    assert signed_in.roles == {"analyst"}
    assert (view(server, "zoe").roles, view(server, "zoe").clearance) == (["analyst"], "partner")
    accounts.admit(server, account("zoe", ["control", "staff"]))
    assert view(server, "zoe").roles == ["analyst", "auditor"]
    assert view(server, "zoe").clearance == "public"
    verify(server, OPERATOR)
    with server.database.read() as session:
        leaves = session.exec(select(Leaf).where(col(Leaf.user) == "zoe")).all()
    assert [leaf.kind for leaf in leaves] == ["user", "user", "clearance"]
    assert {leaf.actor for leaf in leaves} == {"(single sign-on)"}
    assert b'"groups":["research","staff"]' in leaves[0].bytes


def test_nobody_is_created_unless_that_is_on_and_a_group_gives_a_role(world: World) -> None:
    server = trusting(world.server)
    mapped(server, "research", tier="partner")
    with pytest.raises(Forbidden, match="none of the groups"):
        accounts.admit(server, account("zoe", ["research"]))
    mapped(server, "staff", "analyst")
    off = trusting(world.server, oidc_create_users=False)
    with pytest.raises(Forbidden, match="no active user belongs to that account"):
        accounts.admit(off, account("zoe", ["staff"]))
    with pytest.raises(NotFound):
        view(server, "zoe")


def test_the_roles_that_an_admin_set_are_a_ceiling(world: World) -> None:
    server = trusting(world.server)
    mapped(server, "admins", "analyst", "admin", tier="public")
    mapped(server, "staff", "analyst", tier="public")
    assert accounts.admit(server, account("paul", ["admins"])).roles == {"analyst"}
    assert view(server, "paul").roles == ["analyst"]
    assert accounts.admit(server, account("ada", ["admins"])).roles == {"admin"}
    with pytest.raises(Forbidden):
        accounts.admit(server, account("ada", ["staff"]))
    assert view(server, "ada").roles == ["admin"]
    accounts.admit(server, account("zoe", ["admins"]))
    assert view(server, "zoe").roles == ["analyst", "admin"]
    users.change(server, OPERATOR, "zoe", UserChange(roles=["analyst"]))
    assert accounts.admit(server, account("zoe", ["admins"])).roles == {"analyst"}
    assert view(server, "zoe").roles == ["analyst"]
    verify(server, OPERATOR)


def test_who_lost_all_groups_loses_what_they_gave_with_the_next_sign_in(world: World) -> None:
    server = trusting(world.server)
    mapped(server, "admins", "admin", tier="internal")
    accounts.admit(server, account("zoe", ["admins"]))
    for name in ("zoe", "paul"):
        with pytest.raises(Forbidden, match="none of the groups"):
            accounts.admit(server, account(name, []))
        assert (view(server, name).roles, view(server, name).clearance) == (["analyst"], None)
    verify(server, OPERATOR)


@pytest.mark.parametrize(
    "name", ["ada", "ADA", "ａda", "аda", "operator", "Operator", "a/b", "e\u0301"]
)
def test_a_new_name_that_is_or_looks_like_anothers_is_refused(world: World, name: str) -> None:
    server = trusting(world.server)
    mapped(server, "staff", "analyst")
    accounts.admit(server, account("zoe", ["staff"]))
    with pytest.raises(Forbidden):
        accounts.admit(server, account(name, ["staff"]))
    with pytest.raises(Forbidden):  # the name of a user who belongs to another account
        accounts.admit(server, account("zoe", ["staff"], subject="another"))
    with pytest.raises(Forbidden):
        accounts.admit(server, account("zoe", ["staff"], issuer="https://other.example.org"))


def test_a_user_keeps_their_account_under_another_name_there(world: World) -> None:
    server = trusting(world.server)
    mapped(server, "staff", "analyst")
    accounts.admit(server, account("zoe", ["staff"]))
    assert accounts.admit(server, account("zora", ["staff"], subject="id of zoe")).name == "zoe"
    users.disable(server, OPERATOR, "zoe")
    with pytest.raises(Forbidden, match="no active user"):
        accounts.admit(server, account("zoe", ["staff"]))


def test_without_a_claim_of_groups_admins_decide_alone(world: World) -> None:
    server = trusting(world.server, oidc_groups_claim="", oidc_create_users=False)
    assert accounts.admit(server, account("paul")).roles == {"analyst"}
    assert view(server, "paul").clearance == "partner"
