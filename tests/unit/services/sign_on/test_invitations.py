"""Test who may invite, what is stored of an invitation, and how one is revoked."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from sqlmodel import select
from tests.unit.services.logged import leaves
from tests.unit.worlds import World

from penstock.errors import Conflict, Forbidden, InvalidInput, NameTaken, NotFound
from penstock.persistence.tables import Invitation
from penstock.services.access.principals import OPERATOR, authenticate
from penstock.services.pagination import Window
from penstock.services.people import tokens
from penstock.services.schemas.people.invitations import InvitationSpec
from penstock.services.schemas.people.tokens import TokenSpec
from penstock.services.sign_on import invitations


def spec(**changes: Any) -> InvitationSpec:
    usual = {"name": "lea", "roles": ["auditor", "analyst"], "clearance": "partner"}
    return InvitationSpec.model_validate({**usual, **changes})


def test_the_secret_of_a_link_is_stored_and_logged_nowhere(world: World) -> None:
    made = invitations.invite(world.server, world.person("ada"), spec(expires_in="2d"))
    place, _, code = made.link.rpartition("#")
    assert place.endswith("/invitation")
    assert made.expires == world.clock() + timedelta(days=2)
    secret = code.split("_", 2)[2].rpartition("_")[0]
    with world.server.database.read() as session:
        (row,) = session.exec(select(Invitation)).all()
        kept = repr(row.model_dump())
    logged = [leaf for leaf in leaves(world) if leaf["kind"] == "invitation"]
    assert logged[0]["roles"] == ["analyst", "auditor"]
    assert [(leaf["actor"], leaf["user"], leaf["tier"]) for leaf in logged] == [
        ("ada", "lea", "partner")
    ]
    assert len(secret) == 43
    assert secret not in kept + repr(logged) + repr(
        invitations.listing(world.server, OPERATOR, Window())
    )


def test_an_invitation_ends_no_later_than_the_token_that_made_it(world: World) -> None:
    issued = tokens.issue(world.server, OPERATOR, "ada", TokenSpec(expires_in=3600))
    ada = authenticate(world.server, issued.token)
    made = invitations.invite(world.server, ada, spec())
    assert made.expires == issued.expires


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"name": "PIA"}, NameTaken),
        ({"name": "Operator"}, NameTaken),
        ({"clearance": "moon"}, InvalidInput),
    ],
)
def test_what_could_not_be_created_is_not_invited(
    world: World, changes: dict[str, Any], error: type[Exception]
) -> None:
    with pytest.raises(error):
        invitations.invite(world.server, OPERATOR, spec(**changes))
    assert invitations.listing(world.server, OPERATOR, Window()).items == []


def test_a_name_has_one_link_that_counts(world: World) -> None:
    """A link with the wrong clearance must not go on counting beside the one that corrects it."""
    wrong = invitations.invite(world.server, OPERATOR, spec(clearance="internal"))
    with pytest.raises(Conflict, match=f"invitation {wrong.id} still counts") as refused:
        invitations.invite(world.server, world.person("ada"), spec(name="LEA"))
    assert wrong.link not in refused.value.detail
    invitations.revoke(world.server, OPERATOR, wrong.id)
    invitations.invite(world.server, OPERATOR, spec(name="LEA", expires_in=60))
    world.clock.forward(minutes=1)
    invitations.invite(world.server, OPERATOR, spec())
    states = [item.state for item in invitations.listing(world.server, OPERATOR, Window()).items]
    assert states == ["revoked", "expired", "open"]


@pytest.mark.parametrize("name", ["pia", "otto"])
def test_only_admins_invite_list_and_revoke(world: World, name: str) -> None:
    person = world.person(name)
    for act in (
        lambda: invitations.invite(world.server, person, spec()),
        lambda: invitations.listing(world.server, person, Window()),
        lambda: invitations.revoke(world.server, person, "absent"),
    ):
        with pytest.raises(Forbidden):
            act()


def test_under_the_two_person_rule_only_the_operator_invites_admins(world: World) -> None:
    settings = world.server.settings.model_copy(update={"two_person_rule": True})
    ruled = replace(world.server, settings=settings)
    with pytest.raises(Forbidden, match="only the operator makes admins"):
        invitations.invite(ruled, world.person("ada"), spec(roles=["admin"]))
    assert invitations.invite(ruled, OPERATOR, spec(roles=["admin"])).roles == ["admin"]


def test_an_invitation_is_revoked_once_and_stays_listed(world: World) -> None:
    made = invitations.invite(world.server, OPERATOR, spec())
    invitations.invite(world.server, OPERATOR, spec(name="max", expires_in=60))
    for _ in range(2):
        assert invitations.revoke(world.server, OPERATOR, made.id).state == "revoked"
    world.clock.forward(minutes=1)
    states = [item.state for item in invitations.listing(world.server, OPERATOR, Window()).items]
    assert states == ["revoked", "expired"]
    assert len([leaf for leaf in leaves(world) if leaf.get("revoked")]) == 1
    with pytest.raises(NotFound):
        invitations.revoke(world.server, OPERATOR, "absent")
    with world.server.database.write() as session:
        row = session.exec(select(Invitation).where(Invitation.name == "max")).one()
        row.accepted_at = world.clock()
        session.add(row)
    with pytest.raises(Conflict, match="Disable the user"):
        invitations.revoke(world.server, OPERATOR, row.prefix)
