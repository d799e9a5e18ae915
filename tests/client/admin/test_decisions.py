"""Test proposals: an approval answers with one, and no other act takes one for its answer."""

from collections.abc import Callable

import pytest
from tests.client.admin.conftest import PROPOSAL, Desk

from penstock_client import Admin, Proposal, Proposed


def test_a_proposal_is_approved_or_withdrawn(at: Callable[[Desk], Admin]) -> None:
    desk = Desk(PROPOSAL)
    admin = at(desk)
    proposal = admin.proposal("p/7")
    assert isinstance(proposal, Proposal)
    assert proposal.request["query"] == "visits"
    admin.approve_proposal(proposal)
    admin.withdraw_proposal("p/7")
    assert [sent[:2] for sent in desk.sent] == [
        ("GET", "/proposals/p%2F7"), ("POST", "/proposals/p%2F7/approval"),
        ("DELETE", "/proposals/p%2F7"),
    ]  # fmt: skip


def test_an_act_that_was_only_proposed_says_so(at: Callable[[Desk], Admin]) -> None:
    admin = at(Desk(PROPOSAL))
    for act in (admin.retire_query, admin.delete_tier, admin.withdraw_dataset, admin.retire_stream):
        with pytest.raises(Proposed) as proposed:
            act("visits")
        assert proposed.value.proposal == "p/7"
    with pytest.raises(Proposed):
        admin.set_budgets("sites", {})
