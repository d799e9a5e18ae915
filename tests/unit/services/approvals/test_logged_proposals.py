"""Test that a logged proposal is reported if the table lacks it or differs from it."""

import pytest
from tests.unit.services import logged
from tests.unit.worlds import World

from penstock.services.approvals.logged_proposals import LoggedProposals

LEAF = {
    "kind": "proposal",
    "proposal": "prp_1",
    "act": "delete_tier",
    "state": "open",
    "proposed_by": "ada",
    "actor": "ada",
    "request": {"tier": "public"},
    "basis": {},
}


def test_a_proposal_that_the_table_lacks_is_told(world: World) -> None:
    whole = logged.leaves(world)
    assert logged.differences(world, LoggedProposals, whole) == []
    assert logged.differences(world, LoggedProposals, [*whole, LEAF]) == [
        "the proposals, or what was decided about them, are not those of the log"
    ]


@pytest.mark.parametrize("field", ["proposal", "act", "state", "proposed_by", "actor", "request"])
def test_a_leaf_that_no_server_wrote_is_refused(field: str) -> None:
    leaf = {name: value for name, value in LEAF.items() if name != field}
    with pytest.raises(KeyError):
        LoggedProposals().take(leaf)
