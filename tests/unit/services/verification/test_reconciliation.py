"""Test rows that are gone, and older ones that are put back whole.

An audit finds them by the log.
"""

from dataclasses import replace

import pytest
from tests.unit.services.verification.tampered import put_back, rows_of
from tests.unit.worlds import World

from penstock.services.access.principals import OPERATOR, authenticate
from penstock.services.approvals import proposals
from penstock.services.approvals.actions import BudgetChange
from penstock.services.audit import restores
from penstock.services.people import tier_changes, tokens, users
from penstock.services.queries import queries
from penstock.services.schemas.people.tiers import TierChange
from penstock.services.schemas.people.tokens import TokenSpec
from penstock.services.schemas.proposals import ProposalView
from penstock.services.schemas.queries import (
    BudgetSpec,
)
from penstock.services.verification.verification import verify
from penstock.transparency_log.sights import Sight

pytestmark = pytest.mark.only("sqlite")


def problems(world: World) -> list[str]:
    return verify(world.server, OPERATOR).problems


def test_an_older_row_that_is_put_back_whole_is_found_by_the_log(visits: World) -> None:
    server = visits.server
    issued = tokens.issue(server, OPERATOR, "pia", TokenSpec())
    visits.push("second", share=0.01, levels=None)
    for table, act, says in (
        ("token", lambda: tokens.revoke(server, OPERATOR, "pia", issued.prefix), "is revoked"),
        ("user", lambda: users.disable(server, OPERATOR, "paul"), "the disabled users are not"),
        ("query", lambda: queries.retire(server, OPERATOR, "second"), "retired queries are not"),
        (
            "tier",
            lambda: tier_changes.change(server, OPERATOR, "partner", TierChange(rank=15)),
            "the tiers are not",
        ),
    ):
        before = rows_of(visits, table)
        act()
        assert problems(visits) == []
        after = rows_of(visits, table)
        put_back(visits, table, before)
        found = problems(visits)
        assert any(says in problem for problem in found), found
        assert not any("altered" in problem for problem in found), found
        if table == "token":
            # What is said of it in SECURITY.md: until then it is good again.
            assert authenticate(server, issued.token).name == "pia"
        put_back(visits, table, after)


def test_proposals_that_are_gone_or_undecided_again_are_found_by_the_log(visits: World) -> None:
    server = replace(
        visits.server, settings=visits.server.settings.model_copy(update={"two_person_rule": True})
    )
    made = proposals.do_or_propose(
        server,
        visits.person("ada"),
        BudgetChange(dataset="sites", budgets={"internal": BudgetSpec(epsilon=8)}),
    )
    assert isinstance(made, ProposalView)
    assert problems(visits) == []
    proposals.withdraw(server, visits.person("ada"), made.id)
    assert problems(visits) == []
    proposal, decision = rows_of(visits, "proposal"), rows_of(visits, "decision")
    put_back(visits, "decision", [])
    assert any("the proposals" in problem for problem in problems(visits))
    put_back(visits, "proposal", [])
    assert any("the proposals" in problem for problem in problems(visits))
    put_back(visits, "proposal", proposal)
    put_back(visits, "decision", decision)
    assert problems(visits) == []


def test_what_was_spent_before_a_restore_is_missed_by_the_log(visits: World) -> None:
    witness = visits.server.sequencer.witness
    seen = witness.seen()
    spent = {name: (loss + 5, failure) for name, (loss, failure) in seen.accounts.items()}
    witness.start_over(Sight(seen.size + 1, bytes(32), spent))
    restores.acknowledge(visits.server, OPERATOR)
    assert problems(visits) == []
    frozen, floors = rows_of(visits, "query"), rows_of(visits, "spent_floor")
    assert floors
    assert all(row["frozen"] for row in frozen)
    put_back(visits, "spent_floor", floors[1:])
    assert any("before a restore" in problem for problem in problems(visits))


def test_a_release_that_is_gone_is_missed_though_nobody_was_handed_it(visits: World) -> None:
    put_back(visits, "release", [])
    assert any("releases, and " in problem for problem in problems(visits))
