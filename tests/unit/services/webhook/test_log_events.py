"""Test which leaves of the log are events, and that no more is sent of them than what is listed."""

import json
from dataclasses import replace
from typing import Any, get_args

import pytest
from sqlalchemy import text
from sqlmodel import col, select
from tests.unit.services.webhook.changes import clear, grant, telling
from tests.unit.worlds import Restore, World

from penstock.errors import IntegrityViolation
from penstock.persistence.tables import Leaf
from penstock.services.access.principals import OPERATOR
from penstock.services.approvals import proposals
from penstock.services.approvals.actions import Shredding
from penstock.services.audit import restores
from penstock.services.operations import key_rotation
from penstock.services.people import tier_changes, users
from penstock.services.schemas.people.tiers import TierSpec
from penstock.services.schemas.people.users import UserChange, UserSpec
from penstock.services.schemas.proposals import ProposalView
from penstock.services.webhook import log_events, log_reading, messages, outbox
from penstock.setting_checks import WEBHOOK_EVENTS
from penstock.transparency_log import leaves

FIELDS = {
    "budget.raised": {"dataset", "tier", "epsilon", "delta", "epsilon_before", "delta_before"},
    "clearance.raised": {"user", "tier", "tier_before"},
    "dataset.shredded": {"dataset", "version"},
    "proposal.opened": {"proposal", "act", "dataset"},
    "server.suspended": {"witnessed", "leaves"},
    "server.resumed": {"witnessed", "leaves", "acknowledged"},
}
"""What a message holds beside what all of them hold."""

SHARED = {"event", "delivery", "leaf", "by", "at"}


def sent(world: World) -> list[dict[str, Any]]:
    """Return the fields of all messages that are due now, as they are claimed."""
    log_reading.read_on(world.server)
    claims = [outbox.claim(world.server, number) for number in outbox.due(world.server)]
    bodies = [json.loads(messages.body_of(world.server, claim)) for claim in claims if claim]
    for body in bodies:
        assert set(body) == SHARED | FIELDS[body["event"]]
    return bodies


def own(body: dict[str, Any]) -> dict[str, Any]:
    """Return what a message holds of its event alone."""
    return {name: body[name] for name in FIELDS[body["event"]]}


def test_the_kinds_are_those_that_the_setting_takes() -> None:
    requests = get_args(outbox.RequestEventName)
    assert sorted(WEBHOOK_EVENTS) == sorted((*requests, *get_args(log_events.LogEventName)))
    assert set(FIELDS) == set(get_args(log_events.LogEventName))


def test_a_raised_budget_is_told_with_what_it_was_and_a_lowered_one_is_not(world: World) -> None:
    told = telling(world)
    grant(told, "internal", 5)
    grant(told, "internal", 4.5)
    grant(told, "internal", 6)
    first, second = sent(told)
    assert (first["event"], first["by"], first["at"]) == (
        *("budget.raised", "operator"),
        "2026-01-01T00:00:00Z",
    )
    delta = first["delta"]
    names = {"dataset": "sites", "tier": "internal"}
    now, before = {"epsilon": 5.0, "delta": delta}, {"epsilon_before": 4.0, "delta_before": delta}
    assert own(first) == {**names, **now, **before}
    assert (second["epsilon"], second["epsilon_before"]) == (6.0, 4.5)
    assert second["leaf"] == first["leaf"] + 2


def test_the_first_budget_of_a_tier_is_raised_from_none(world: World) -> None:
    told = telling(world)
    tier_changes.create(told.server, OPERATOR, TierSpec(name="owners", above="internal"))
    grant(told, "owners", 9)
    told_of = [(body["tier"], body["epsilon_before"], body["epsilon"]) for body in sent(told)]
    # A new tier begins with the budget of the one below it.
    assert told_of == [("owners", None, 4.0), ("owners", 4.0, 9.0)]


def test_a_clearance_is_told_if_it_is_above_the_one_before(world: World) -> None:
    told = telling(world)
    users.create(told.server, OPERATOR, UserSpec(name="new", roles=["analyst"]))
    steps = (("pia", "internal"), ("ines", "partner"), ("pia", None), ("pia", "public"))
    for name, tier in (*steps, ("new", "public"), ("paul", "partner")):
        clear(told, name, tier)
    assert [own(body) for body in sent(told)] == [
        {"user": "pia", "tier": "internal", "tier_before": "public"},
        {"user": "pia", "tier": "public", "tier_before": None},
        {"user": "new", "tier": "public", "tier_before": None},
    ]


def test_a_change_from_or_to_a_tier_that_is_gone_since_is_told(world: World) -> None:
    told = telling(world)
    tier_changes.create(told.server, OPERATOR, TierSpec(name="owners", above="internal"))
    clear(told, "ines", "owners")
    clear(told, "ines", "internal")
    tier_changes.delete(told.server, OPERATOR, "owners")
    assert [own(body) for body in sent(told) if body["event"] == "clearance.raised"] == [
        {"user": "ines", "tier": "owners", "tier_before": "internal"},
        {"user": "ines", "tier": "internal", "tier_before": "owners"},
    ]


def test_shredding_is_told_and_so_is_a_proposal_that_waits_for_it(world: World) -> None:
    settings = world.server.settings.model_copy(update={"two_person_rule": True})
    ruled = World(replace(world.server, settings=settings), world.clock, world.streams)
    told = telling(ruled)
    users.create(told.server, OPERATOR, UserSpec(name="bea", roles=["admin"]))
    act = Shredding(dataset="sites")
    proposal = proposals.do_or_propose(told.server, told.person("ada"), act)
    assert isinstance(proposal, ProposalView)
    proposals.approve(told.server, told.person("bea"), proposal.id)
    waiting, shredded = sent(told)
    assert (waiting["event"], waiting["by"], own(waiting)) == (
        *("proposal.opened", "ada"),
        {"proposal": proposal.id, "act": "shred_dataset", "dataset": "sites"},
    )
    assert (shredded["event"], own(shredded)) == (
        "dataset.shredded",
        {"dataset": "sites", "version": 1},
    )


def test_a_message_holds_nothing_of_a_leaf_but_what_is_listed(visits: World) -> None:
    """Leaves of changes hold what their maker has read; none of that is sent."""
    told = telling(visits)
    spec = UserSpec(name="bea", roles=["analyst", "admin"], clearance="internal")
    users.create(told.server, OPERATOR, spec)
    told.ask("bea")
    change = UserChange.model_validate({"clearance": "partner"})
    users.change(told.server, told.person("bea"), "pia", change)
    with told.server.database.read() as session:
        leaf = session.exec(select(Leaf).where(col(Leaf.kind) == "clearance")).one()
        assert json.loads(leaf.bytes)["actor_exposure"] != {}
    (body,) = sent(told)  # which holds the closed list of fields
    assert "visits" not in json.dumps(body)
    key_rotation.rotate(told.server, OPERATOR)
    assert sent(told) == []


@pytest.mark.each_database
def test_a_suspended_server_tells_it_before_its_leaf_has_a_place(
    visits: World, restore: Restore
) -> None:
    visits.ask("pia")
    old = telling(restore())
    (body,) = sent(old)
    with old.server.database.read() as session:
        place = select(Leaf.index).where(col(Leaf.kind) == "suspension")
        assert session.exec(place).one() is None
    assert (body["event"], body["leaf"], body["by"]) == ("server.suspended", None, "server")
    assert body["witnessed"] > body["leaves"] > 0
    assert sent(old) == []
    restores.acknowledge(old.server, OPERATOR)
    (resumed,) = sent(old)
    assert (resumed["event"], resumed["acknowledged"]) == ("server.resumed", True)
    assert resumed["leaf"] > 0


def test_a_leaf_that_says_suspended_is_not_sent_by_a_server_that_is_not(world: World) -> None:
    told = telling(world)
    fields = {"kind": "suspension", "state": "found", "witnessed": 9, "leaves": 1}
    leaf = forged(told, fields)
    with (
        told.server.database.read() as session,
        pytest.raises(IntegrityViolation, match="no suspension"),
    ):
        log_events.body_fields(told.server, session, leaf)


def forged(world: World, fields: dict[str, Any]) -> Leaf:
    """Return a leaf without a place that somebody could add to the table."""
    content = leaves.canonical(fields)
    digest = leaves.leaf_hash(content)
    at = world.clock()
    return Leaf(bytes=content, hash=digest, kind=fields["kind"], at=at, actor="server")


def test_a_leaf_that_was_altered_is_not_sent(world: World) -> None:
    told = telling(world)
    grant(told, "internal", 5)
    log_reading.read_on(told.server)
    with told.server.database.write() as session:
        session.connection().execute(text("DROP TRIGGER append_only_leaf_update"))
        changed = "UPDATE leaf SET bytes = CAST(REPLACE(bytes, '5.0', '4.9') AS BLOB)"
        session.connection().execute(text(changed))
    (number,) = outbox.due(told.server)
    claim = outbox.claim(told.server, number)
    assert claim is not None
    with pytest.raises(IntegrityViolation, match="does not prove"):
        messages.body_of(told.server, claim)
