"""Test that what takes two people is proposed by one admin and done once, by another's approval."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest
from tests.unit.sites import SITES
from tests.unit.worlds import CopyWorld, World, fill_and_push

from penstock.errors import ApprovalNeeded, Conflict, Forbidden, KeysUnavailable, NotFound
from penstock.persistence.tables import Dataset
from penstock.services import budgets
from penstock.services.access.principals import OPERATOR
from penstock.services.approvals import proposals
from penstock.services.approvals.actions import (
    BudgetChange,
    QueryRetirement,
    Shredding,
    TierDeletion,
)
from penstock.services.audit import events
from penstock.services.datasets import datasets
from penstock.services.ledger import tier_budgets
from penstock.services.operations import key_rotation
from penstock.services.pagination import Window
from penstock.services.people import tier_changes, tiers, users
from penstock.services.queries import queries
from penstock.services.repository.datasets import dataset_by_name
from penstock.services.schemas.datasets import DatasetChange
from penstock.services.schemas.people.tiers import TierChange, TierSpec
from penstock.services.schemas.people.users import UserChange, UserSpec
from penstock.services.schemas.proposals import ProposalView
from penstock.services.schemas.queries import (
    BudgetSpec,
    DatasetRequest,
)


@pytest.fixture
def ruled(copy_world: CopyWorld) -> World:
    """Return a world with two more admins, in which the rule is in force."""
    world = copy_world("admins", add_admins)
    settings = world.server.settings.model_copy(update={"two_person_rule": True})
    return World(replace(world.server, settings=settings), world.clock, world.streams)


def add_admins(world: World) -> None:
    fill_and_push(world)
    for name in ("bea", "cem"):
        users.create(world.server, OPERATOR, UserSpec(name=name, roles=["admin"]))


def raised(**epsilons: float) -> BudgetChange:
    return BudgetChange(
        dataset="sites",
        budgets={tier: BudgetSpec(epsilon=epsilon) for tier, epsilon in epsilons.items()},
    )


def proposed(world: World, by: str, act: Any) -> ProposalView:
    found = proposals.do_or_propose(world.server, world.person(by), act)
    assert isinstance(found, ProposalView)
    return found


def granted(world: World) -> dict[str, float]:
    view = datasets.show(world.server, OPERATOR, "sites")
    return {tier: budget.epsilon for tier, budget in view.budgets.items()}


def leaves(world: World) -> list[dict[str, Any]]:
    return [
        event.leaf for event in events.listing(world.server, world.person("otto"), Window()).items
    ]


def test_a_larger_top_budget_is_proposed_by_one_and_approved_by_another(ruled: World) -> None:
    made = proposed(ruled, "ada", raised(internal=8))
    assert (made.state, made.act, made.proposed_by) == ("open", "change_budgets", "ada")
    assert made.request == {"dataset": "sites", "budgets": {"internal": {"epsilon": 8.0}}}
    assert granted(ruled)["internal"] == 4
    done = proposals.approve(ruled.server, ruled.person("bea"), made.id)
    assert (done.state, done.decided_by) == ("approved", "bea")
    assert granted(ruled)["internal"] == 8
    *_, first, second, third = leaves(ruled)
    assert [leaf["kind"] for leaf in (first, second, third)] == ["proposal", "proposal", "budget"]
    assert (first["actor"], first["state"]) == ("ada", "open")
    assert (second["actor"], second["state"]) == ("bea", "approved")
    assert first["request"] == second["request"] == made.request
    assert first["proposal"] == second["proposal"] == made.id
    assert first["actor_exposure"] == second["actor_exposure"] == {}


def test_what_enlarges_no_largest_budget_takes_one(ruled: World) -> None:
    act = raised(public=2, partner=4, internal=4)
    assert not isinstance(
        proposals.do_or_propose(ruled.server, ruled.person("ada"), act), ProposalView
    )
    act = raised(internal=5)
    assert isinstance(proposals.do_or_propose(ruled.server, ruled.person("ada"), act), ProposalView)


def test_without_the_rule_one_does_it_all(visits: World) -> None:
    for act in (raised(internal=8), QueryRetirement(query="visits"), Shredding(dataset="sites")):
        done = proposals.do_or_propose(visits.server, visits.person("ada"), act)
        assert not isinstance(done, ProposalView)
    assert proposals.listing(visits.server, OPERATOR, Window()).items == []


def test_no_way_leads_past_the_rule(ruled: World) -> None:
    ada, server = ruled.person("ada"), ruled.server
    tier_changes.create(server, ada, TierSpec(name="spare"))
    before = len(leaves(ruled))
    for act in (
        lambda: budgets.change(
            server, ada, "sites", DatasetChange(budgets={"spare": BudgetSpec(epsilon=5)})
        ),
        lambda: tier_changes.delete(server, ada, "spare"),
        lambda: queries.retire(server, ada, "visits"),
        lambda: key_rotation.shred(server, OPERATOR, "sites"),
    ):
        with pytest.raises(ApprovalNeeded, match="nothing was done"):
            act()
    with pytest.raises(Forbidden, match="only the operator makes admins"):
        users.create(server, ada, UserSpec(name="sock", roles=["admin"]))
    with pytest.raises(Forbidden, match="only the operator makes admins"):
        users.change(server, ada, "pia", UserChange(roles=["analyst", "admin"]))
    assert len(leaves(ruled)) == before
    assert queries.show(server, ada, "visits").status == "active"


def test_moving_tiers_enlarges_no_largest_budget(ruled: World) -> None:
    ada, server = ruled.person("ada"), ruled.server
    dataset = proposed_top(ruled)
    users.change(server, ada, "pia", UserChange(clearance="top"))
    users.change(server, ada, "pia", UserChange(clearance="public"))
    gone = proposed(ruled, "ada", TierDeletion(tier="top"))
    proposals.approve(server, ruled.person("bea"), gone.id)
    for spec in (TierSpec(name="other"), TierSpec(name="third", above="public")):
        tier_changes.create(server, ada, spec)
        with server.database.read() as session:
            assert tier_budgets.largest(session, [dataset]) == 9
    assert granted(ruled)["other"] == 9
    with pytest.raises(Conflict, match="must not shrink"):
        tier_changes.change(server, ada, "internal", TierChange(above="other"))
    # Two people granted so much once: so much is granted again by one.
    done = proposals.do_or_propose(server, ada, raised(internal=9))
    assert not isinstance(done, ProposalView)
    assert isinstance(proposals.do_or_propose(server, ada, raised(other=10)), ProposalView)


def proposed_top(world: World) -> Dataset:
    """Make a tier on top, with a budget of 9 that two people granted; the dataset."""
    tier_changes.create(world.server, world.person("ada"), TierSpec(name="top"))
    made = proposed(world, "ada", raised(top=9))
    proposals.approve(world.server, world.person("bea"), made.id)
    with world.server.database.read() as session:
        return dataset_by_name(session, "sites")


def test_what_cannot_be_done_cannot_be_proposed(ruled: World) -> None:
    with pytest.raises(Conflict, match="held by 1"):
        proposals.do_or_propose(ruled.server, ruled.person("ada"), TierDeletion(tier="public"))
    with pytest.raises(NotFound):
        proposals.do_or_propose(ruled.server, ruled.person("ada"), QueryRetirement(query="nothing"))
    assert proposals.listing(ruled.server, OPERATOR, Window()).items == []


def test_the_operator_is_one_person(ruled: World) -> None:
    made = proposals.do_or_propose(ruled.server, OPERATOR, Shredding(dataset="sites"))
    assert isinstance(made, ProposalView)
    with pytest.raises(Forbidden, match="operator proposed this"):
        proposals.approve(ruled.server, OPERATOR, made.id)
    acting = replace(ruled.person("ada"), by="operator")
    with pytest.raises(Forbidden, match="operator proposed this"):
        proposals.approve(ruled.server, acting, made.id)
    assert proposals.approve(ruled.server, ruled.person("ada"), made.id).state == "approved"
    with ruled.server.database.read() as session:
        assert key_rotation.versions(session, "sites") == []
    # Interrupted behind the commit, it is finished by whoever says it again.
    again = proposals.do_or_propose(ruled.server, OPERATOR, Shredding(dataset="sites"))
    assert not isinstance(again, ProposalView)


def test_a_proposal_expires_after_a_week(ruled: World) -> None:
    made = proposed(ruled, "ada", raised(internal=8))
    ruled.clock.forward(days=7)
    assert proposals.show(ruled.server, OPERATOR, made.id).state == "expired"
    for act in (proposals.approve, proposals.withdraw):
        with pytest.raises(Conflict, match="expired"):
            act(ruled.server, ruled.person("bea"), made.id)
    assert granted(ruled)["internal"] == 4
    assert proposed(ruled, "ada", raised(internal=8)).id != made.id
    by_state = {
        state: len(proposals.listing(ruled.server, OPERATOR, Window(), state).items)
        for state in ("open", "expired", "approved", None)
    }
    assert by_state == {"open": 1, "expired": 1, "approved": 0, None: 2}


@pytest.mark.parametrize("name", ["ada", "bea"])
def test_a_proposal_that_was_withdrawn_is_over(ruled: World, name: str) -> None:
    made = proposed(ruled, "ada", raised(internal=8))
    assert proposals.withdraw(ruled.server, ruled.person(name), made.id).state == "withdrawn"
    with pytest.raises(Conflict, match=f"withdrawn already, by {name}"):
        proposals.approve(ruled.server, ruled.person("cem"), made.id)
    assert leaves(ruled)[-1]["state"] == "withdrawn"


def test_proposed_again_by_the_same_person_it_is_the_same(ruled: World) -> None:
    made = proposed(ruled, "ada", raised(internal=8))
    assert proposed(ruled, "ada", raised(internal=8)).id == made.id
    assert proposed(ruled, "ada", raised(internal=9)).id != made.id
    assert proposed(ruled, "bea", raised(internal=8)).id != made.id


def another_budget(world: World) -> None:
    proposals.do_or_propose(world.server, world.person("cem"), raised(public=1.5))


def another_version_of_the_tier(world: World) -> None:
    found = proposed(world, "cem", TierDeletion(tier="spare"))
    proposals.approve(world.server, world.person("bea"), found.id)
    world.clock.forward(seconds=1)
    tier_changes.create(world.server, world.person("cem"), TierSpec(name="spare"))


def retired_meanwhile(world: World) -> None:
    found = proposed(world, "cem", QueryRetirement(query="visits"))
    proposals.approve(world.server, world.person("bea"), found.id)


def another_place_of_the_tier(world: World) -> None:
    tier_changes.change(world.server, world.person("cem"), "spare", TierChange(above="partner"))


def somebody_holds_it(world: World) -> None:
    users.change(world.server, OPERATOR, "pia", UserChange(clearance="spare"))


@pytest.mark.parametrize(
    ("act", "meanwhile"),
    [
        (raised(spare=8), another_budget),
        (TierDeletion(tier="spare"), another_version_of_the_tier),
        (TierDeletion(tier="spare"), another_place_of_the_tier),
        (TierDeletion(tier="spare"), somebody_holds_it),
        (QueryRetirement(query="visits"), retired_meanwhile),
    ],
)
def test_only_what_was_proposed_is_approved(
    ruled: World, act: Any, meanwhile: Callable[[World], None]
) -> None:
    tier_changes.create(ruled.server, OPERATOR, TierSpec(name="spare"))
    made = proposed(ruled, "ada", act)
    meanwhile(ruled)
    before = granted(ruled)
    with pytest.raises(Conflict, match="can no longer be carried out, and is closed"):
        proposals.approve(ruled.server, ruled.person("bea"), made.id)
    failed = proposals.show(ruled.server, ruled.person("otto"), made.id)
    assert (failed.state, failed.decided_by) == ("failed", "bea")
    assert failed.reason
    assert leaves(ruled)[-1]["state"] == "failed"
    assert granted(ruled) == before
    assert "spare" in {tier.name for tier in tiers.listing(ruled.server)}
    with pytest.raises(Conflict, match="failed already"):
        proposals.approve(ruled.server, ruled.person("cem"), made.id)


def test_switching_the_rule_off_approves_nothing(ruled: World) -> None:
    made = proposed(ruled, "ada", raised(internal=8))
    other = proposed(ruled, "ada", raised(internal=9))
    settings = ruled.server.settings.model_copy(update={"two_person_rule": False})
    free = replace(ruled.server, settings=settings)
    with pytest.raises(Forbidden, match="ada proposed this"):
        proposals.approve(free, ruled.person("ada"), made.id)
    assert granted(ruled)["internal"] == 4
    assert proposals.approve(free, ruled.person("bea"), made.id).state == "approved"
    # What one does alone meanwhile is another state than was proposed for.
    assert not isinstance(
        proposals.do_or_propose(free, ruled.person("ada"), raised(internal=10)), ProposalView
    )
    with pytest.raises(Conflict, match="has changed since"):
        proposals.approve(ruled.server, ruled.person("bea"), other.id)
    assert granted(ruled)["internal"] == 10


def test_approvals_at_once_do_it_once(ruled: World) -> None:
    made = proposed(ruled, "ada", raised(internal=8))

    def approve(name: str) -> str:
        try:
            return proposals.approve(ruled.server, ruled.person(name), made.id).state
        except Conflict as refusal:
            return refusal.detail

    with ThreadPoolExecutor(4) as threads:
        found = sorted(threads.map(approve, ["bea", "cem", "bea", "cem"]))
    assert sum(state == "approved" for state in found) == 1
    assert sum("approved already" in state for state in found) == 3
    kinds = [(leaf["kind"], leaf.get("state")) for leaf in leaves(ruled)]
    assert kinds.count(("proposal", "approved")) == 1
    assert kinds[-1] == ("budget", None)
    assert kinds.count(("budget", None)) == 4


def test_an_act_that_fails_behind_its_decision_takes_the_decision_with_it(
    ruled: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = proposed(ruled, "ada", raised(internal=8))

    def broken(*_: object) -> None:
        raise RuntimeError

    with monkeypatch.context() as patched:
        patched.setattr(budgets, "change_within", broken)
        with pytest.raises(RuntimeError):
            proposals.approve(ruled.server, ruled.person("bea"), made.id)
    assert proposals.show(ruled.server, OPERATOR, made.id).state == "open"
    assert proposals.approve(ruled.server, ruled.person("bea"), made.id).state == "approved"


def test_a_shredding_that_was_cut_off_is_finished_by_one(
    ruled: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = proposed(ruled, "ada", Shredding(dataset="sites"))

    def gone(_: bytes) -> list[str]:
        raise KeysUnavailable("The module is gone.")

    with monkeypatch.context() as patched:
        patched.setattr(ruled.server.provider, "destroy", gone)
        with pytest.raises(KeysUnavailable):
            proposals.approve(ruled.server, ruled.person("bea"), made.id)
    assert proposals.show(ruled.server, OPERATOR, made.id).state == "approved"
    finished = proposals.do_or_propose(ruled.server, OPERATOR, Shredding(dataset="sites"))
    assert not isinstance(finished, ProposalView)
    assert finished.keys == 1


def test_another_dataset_is_not_shredded_with_it(ruled: World) -> None:
    datasets.register(
        ruled.server, OPERATOR, DatasetRequest.model_validate({**SITES, "name": "more"})
    )
    made = proposed(ruled, "ada", Shredding(dataset="more"))
    proposals.approve(ruled.server, ruled.person("bea"), made.id)
    with ruled.server.database.read() as session:
        assert key_rotation.versions(session, "more") == []
        assert key_rotation.versions(session, "sites") == [1]
