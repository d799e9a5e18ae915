"""Test who proposes, who approves, and what becomes of them between: held to a small model."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import product
from typing import Literal

import pytest
from sqlalchemy.exc import IntegrityError
from sqlmodel import Session
from tests.unit.worlds import World

from penstock.errors import Conflict, Forbidden, PenstockError
from penstock.persistence.tables import Proposal
from penstock.services.access.principals import OPERATOR, Principal
from penstock.services.approvals import proposals
from penstock.services.approvals.actions import BudgetChange
from penstock.services.datasets import datasets
from penstock.services.people import users
from penstock.services.schemas.people.users import UserChange, UserSpec
from penstock.services.schemas.proposals import ProposalView
from penstock.services.schemas.queries import (
    BudgetSpec,
)

PEOPLE = ("ada", "bea", "operator", "pia")
BETWEEN = ("nothing", "demoted", "disabled", "demoted and made one again")


@dataclass(frozen=True)
class Case:
    """Hold who proposes, who approves, and what happens between to which of the two."""

    proposer: str
    approver: str
    between: str
    whom: str

    @property
    def expected(self) -> str:
        """Return what the rule says, in words of its own."""
        if self.proposer == "pia":
            return "Forbidden, none"  # an analyst proposes nothing
        if self.approver == "pia" or self.proposer == self.approver:
            return "Forbidden, open"
        lost = self.between in ("demoted", "disabled")
        if lost and self.whom == self.approver:
            return "Forbidden, open"
        if lost and self.whom == self.proposer:
            return "Conflict, failed"
        return "done, approved"


CASES = [
    Case(proposer, approver, between, whom)
    for proposer, approver in product(PEOPLE, PEOPLE)
    for between in BETWEEN
    for whom in sorted({proposer, approver} - {"operator", "pia"}) or ["nobody"]
    if between == "nothing" or whom != "nobody"
]


@pytest.fixture
def ruled(world: World) -> World:
    settings = world.server.settings.model_copy(update={"two_person_rule": True})
    return World(replace(world.server, settings=settings), world.clock, world.streams)


def people(world: World, number: int) -> dict[str, Principal]:
    """Return everybody again, by what they are called in the cases."""
    roles: dict[str, list[Literal["analyst", "admin", "auditor"]]] = {
        "ada": ["admin"],
        "bea": ["admin"],
        "pia": ["analyst"],
    }
    for name, held in roles.items():
        users.create(world.server, OPERATOR, UserSpec(name=f"{name} {number}", roles=held))
    found = {name: world.person(f"{name} {number}") for name in roles}
    return {**found, "operator": OPERATOR}


def happen(world: World, between: str, whom: str) -> None:
    if between == "disabled":
        users.disable(world.server, OPERATOR, whom)
    elif between != "nothing":
        users.change(world.server, OPERATOR, whom, UserChange(roles=["analyst"]))
    if between == "demoted and made one again":
        users.change(world.server, OPERATOR, whom, UserChange(roles=["admin"]))


def outcome(world: World, case: Case, number: int = 0) -> str:
    """Return what comes of a case, and the state that the proposal is left in."""
    known = people(world, number)
    act = budgets(8.0 + number)
    try:
        made = proposals.do_or_propose(world.server, known[case.proposer], act)
    except PenstockError as refusal:
        return f"{type(refusal).__name__}, none"
    assert isinstance(made, ProposalView)
    # Both are signed in already when it happens.
    if case.whom in known:
        happen(world, case.between, known[case.whom].name)
    said = "done"
    try:
        proposals.approve(world.server, known[case.approver], made.id)
    except (Forbidden, Conflict) as refusal:
        said = type(refusal).__name__
    view = datasets.show(world.server, OPERATOR, "sites")
    assert (view.budgets["internal"].epsilon == 8.0 + number) == (said == "done")
    return f"{said}, {proposals.show(world.server, OPERATOR, made.id).state}"


def budgets(epsilon: float) -> BudgetChange:
    return BudgetChange(dataset="sites", budgets={"internal": BudgetSpec(epsilon=epsilon)})


@pytest.mark.slow
def test_two_different_people_are_admins_when_it_is_done(ruled: World) -> None:
    found = {case: outcome(ruled, case, number) for number, case in enumerate(CASES)}
    assert found == {case: case.expected for case in CASES}
    assert len({case.expected for case in CASES}) == 4


def test_a_second_token_is_no_second_person(ruled: World) -> None:
    made = proposals.do_or_propose(ruled.server, ruled.person("ada"), budgets(8))
    assert isinstance(made, ProposalView)
    again = replace(ruled.person("ada"), token_expires=ruled.clock.now)
    with pytest.raises(Forbidden, match="ada proposed this"):
        proposals.approve(ruled.server, again, made.id)


def by_token(session: Session, principal: Principal, proposal: Proposal) -> None:
    """Take whoever comes with another token for another person: a broken variant."""


def never_looked_at(session: Session, principal: Principal) -> None:
    """Take whoever was an admin when they signed in for one still: a broken variant."""


@pytest.mark.parametrize(
    ("name", "broken", "case"),
    [
        ("_require_another", by_token, Case("ada", "bea", "demoted", "ada")),
        ("_require_admin", never_looked_at, Case("ada", "bea", "disabled", "bea")),
        ("_require_admin", never_looked_at, Case("operator", "bea", "demoted", "bea")),
    ],
)
def test_broken_rules_are_found_out(
    ruled: World,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    broken: Callable[..., None],
    case: Case,
) -> None:
    monkeypatch.setattr(proposals, name, broken)
    assert outcome(ruled, case) == "done, approved" != case.expected


def test_the_database_refuses_one_person_on_both_sides_where_the_rule_is_broken(
    ruled: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(proposals, "_require_another", by_token)
    with pytest.raises(IntegrityError, match="decision_another"):
        outcome(ruled, Case("ada", "ada", "nothing", "ada"))
