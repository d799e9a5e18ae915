"""Test what admins are told to wait for them: proposals, tokens that end, and old keys."""

from dataclasses import replace

import pytest
from tests.unit.worlds import World

from penstock.errors import Forbidden
from penstock.services.access.principals import OPERATOR
from penstock.services.approvals import proposals
from penstock.services.approvals.actions import QueryRetirement
from penstock.services.operations import key_rotation
from penstock.services.overviews import duties
from penstock.services.people import tokens, users
from penstock.services.schemas.people.tokens import TokenSpec
from penstock.services.schemas.proposals import ProposalView


def look(world: World) -> duties.DutiesView:
    return duties.look(world.server, world.person("ada"))


def issue(world: World, name: str, days: int) -> str:
    spec = TokenSpec(expires_in=days * 86_400)
    return tokens.issue(world.server, OPERATOR, name, spec).prefix


@pytest.mark.each_database
def test_tokens_count_that_end_soon_and_belong_to_somebody_active(visits: World) -> None:
    assert (look(visits).ending, look(visits).people) == (0, [])
    for name, days in (("paul", 3), ("pia", 1), ("pia", 2), ("ines", duties.ENDING_DAYS + 1)):
        issue(visits, name, days)
    tokens.revoke(visits.server, OPERATOR, "otto", issue(visits, "otto", 1))
    assert (look(visits).ending, look(visits).people) == (3, ["pia", "paul"])
    visits.clock.forward(days=1)
    assert (look(visits).ending, look(visits).people) == (3, ["pia", "paul", "ines"])
    users.disable(visits.server, OPERATOR, "pia")
    assert (look(visits).ending, look(visits).people) == (2, ["paul", "ines"])


def test_proposals_wait_until_they_are_decided_or_expire(visits: World) -> None:
    settings = visits.server.settings.model_copy(update={"two_person_rule": True})
    ruled = World(replace(visits.server, settings=settings), visits.clock, visits.streams)
    assert look(ruled).proposals == 0
    for _ in range(2):
        act = QueryRetirement(query="visits")
        made = proposals.do_or_propose(ruled.server, ruled.person("ada"), act)
        assert isinstance(made, ProposalView)
        assert look(ruled).proposals == 1
        proposals.withdraw(ruled.server, ruled.person("ada"), made.id)
        assert look(ruled).proposals == 0
    proposals.do_or_propose(ruled.server, ruled.person("ada"), QueryRetirement(query="visits"))
    ruled.clock.forward(days=400)
    assert look(ruled).proposals == 0


def test_the_key_that_was_rotated_longest_ago_is_the_oldest(visits: World) -> None:
    visits.ask("pia")
    made = look(visits).rotated_at
    visits.clock.forward(days=10_000)
    assert look(visits).rotated_at == made
    key_rotation.rotate(visits.server, OPERATOR)
    later = look(visits)
    assert later.oldest_key != "provider"
    assert later.rotated_at == made


def test_only_admins_are_told(visits: World) -> None:
    for name in ("pia", "otto"):
        with pytest.raises(Forbidden):
            duties.look(visits.server, visits.person(name))
