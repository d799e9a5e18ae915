"""Test that under the two-person rule going on after a restore takes two as well."""

from dataclasses import replace

import pytest
from tests.unit.worlds import Restore, World

from penstock.errors import ApprovalNeeded, Conflict, Forbidden, Suspended
from penstock.services.access.principals import OPERATOR
from penstock.services.approvals import proposals
from penstock.services.approvals.actions import Acknowledgment, QueryRetirement
from penstock.services.audit import events, restores
from penstock.services.pagination import Window
from penstock.services.schemas.proposals import ProposalView
from penstock.services.verification.verification import verify
from penstock.transparency_log.witness import FileWitness


def with_rule(world: World) -> World:
    settings = world.server.settings.model_copy(update={"two_person_rule": True})
    return World(replace(world.server, settings=settings), world.clock, world.streams)


def proposed(world: World) -> ProposalView:
    made = proposals.do_or_propose(world.server, OPERATOR, Acknowledgment())
    assert isinstance(made, ProposalView)
    return made


@pytest.fixture
def old(visits: World, restore: Restore) -> World:
    """Return a database of before the last hand-out, and the rule in force."""
    visits.ask("paul")
    return with_rule(restore())


def told(world: World) -> list[tuple[object, ...]]:
    found = events.listing(world.server, world.person("otto"), Window()).items
    return [(one.leaf["kind"], one.leaf["actor"], one.leaf.get("state")) for one in found]


def test_the_operator_proposes_it_and_an_admin_approves(old: World) -> None:
    with pytest.raises(ApprovalNeeded):
        restores.acknowledge(old.server, OPERATOR)
    made = proposed(old)
    assert made.request == {}
    assert made.basis["witnessed"] > 0
    for act in (lambda: old.ask("pia"), lambda: old.push("more")):
        with pytest.raises(Suspended):
            act()
    with pytest.raises(Forbidden):
        proposals.approve(old.server, OPERATOR, made.id)
    assert proposals.approve(old.server, old.person("ada"), made.id).state == "approved"
    assert old.server.sequencer.suspended is None
    assert told(old)[-3:] == [
        ("proposal", "operator", "open"),
        ("proposal", "ada", "approved"),
        ("restore", "ada", None),
    ]
    assert verify(old.server, OPERATOR).problems == []
    old.push("fresh", share=0.01, levels=None)
    assert old.ask("pia", "fresh").first


def test_nothing_else_is_proposed_while_it_is_suspended(old: World) -> None:
    with pytest.raises(Suspended):
        proposals.do_or_propose(old.server, old.person("ada"), QueryRetirement(query="visits"))


def test_it_is_withdrawn_while_it_is_suspended(old: World) -> None:
    made = proposed(old)
    assert proposals.withdraw(old.server, old.person("ada"), made.id).state == "withdrawn"
    with pytest.raises(Conflict, match="withdrawn already"):
        proposals.approve(old.server, old.person("ada"), made.id)
    with pytest.raises(Suspended):
        old.push("more")


def test_an_approval_is_of_one_restore_alone(old: World) -> None:
    first, second = proposed(old), None
    proposals.approve(old.server, old.person("ada"), first.id)
    with pytest.raises(Conflict, match="no restore"):
        proposals.do_or_propose(old.server, OPERATOR, Acknowledgment())
    (old.server.settings.witness_path / "log.json").unlink()
    second = proposed(old)
    assert second.id != first.id
    assert second.basis == {"witnessed": None, "root": None}
    with pytest.raises(Conflict, match="approved already"):
        proposals.approve(old.server, old.person("ada"), first.id)


def test_what_was_restored_otherwise_meanwhile_is_not_acknowledged(
    visits: World,
) -> None:
    ruled = with_rule(visits)
    path = ruled.server.settings.witness_path / "log.json"
    kept = path.read_bytes()
    path.unlink()
    made = proposed(ruled)
    path.write_bytes(kept)
    with pytest.raises(Conflict, match="no restore to acknowledge"):
        proposals.approve(ruled.server, ruled.person("ada"), made.id)
    assert proposals.show(ruled.server, OPERATOR, made.id).state == "failed"
    assert verify(ruled.server, OPERATOR).problems == []
    assert told(ruled)[-1] == ("proposal", "ada", "failed")


def test_one_approval_is_enough_whenever_it_is_stopped(
    old: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: object, **__: object) -> None:
        raise SystemError

    made = proposed(old)
    with monkeypatch.context() as patched:
        patched.setattr(FileWitness, "start_over", stop)
        with pytest.raises(SystemError):
            proposals.approve(old.server, old.person("ada"), made.id)
    assert proposals.show(old.server, OPERATOR, made.id).state == "approved"
    old.push("fresh", share=0.01, levels=None)
    assert [kind for kind, *_ in told(old)].count("restore") == 1
    assert verify(old.server, OPERATOR).problems == []
