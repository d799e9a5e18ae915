"""Test that a clock that is set back brings nothing back.

The server's time never falls behind its log.
"""

import json
import logging
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from sqlmodel import col, select
from tests.unit.worlds import CopyWorld, World, fill_and_push

from penstock.errors import Conflict, NotAuthenticated, Unavailable
from penstock.persistence.tables import Checkpoint, Leaf
from penstock.services.access import sessions
from penstock.services.access.principals import OPERATOR, authenticate
from penstock.services.approvals import proposals
from penstock.services.approvals.actions import QueryRetirement
from penstock.services.audit import clocks
from penstock.services.operations import home
from penstock.services.operations.status import examine
from penstock.services.people import tier_changes, tokens
from penstock.services.schemas.people.tiers import TierSpec
from penstock.services.schemas.people.tokens import TokenSpec
from penstock.services.schemas.proposals import ProposalView
from penstock.services.verification.verification import verify
from penstock.transparency_log import checkpoints

DAY = timedelta(days=1)


def another(world: World) -> World:
    """Return the same home in another process: one that was open all the time, or starts now."""
    server = home.open_server(world.server.settings, clock=world.clock, randomness=world.streams)
    return World(server, world.clock, world.streams)


def noted(world: World, name: str = "noted") -> None:
    """Do something that the log tells."""
    tier_changes.create(world.server, OPERATOR, TierSpec(name=name))


@pytest.fixture
def visits(copy_world: CopyWorld) -> World:
    return copy_world("one-query", fill_and_push)


@pytest.fixture
def beside(visits: World) -> Iterator[World]:
    """Yield a second process, which did nothing yet."""
    found = another(visits)
    yield found
    found.server.database.close()


def token(world: World, seconds: int) -> str:
    return tokens.issue(world.server, OPERATOR, "pia", TokenSpec(expires_in=seconds)).token


def test_a_clock_set_back_revives_no_token_and_no_session(visits: World, beside: World) -> None:
    short, long = token(visits, 3600), token(visits, 30 * 86400)
    begun = sessions.sign_in(visits.server, long).secret
    visits.clock.now += DAY
    noted(visits)
    visits.clock.now -= DAY
    after = another(visits)
    for world in (visits, beside, after):
        with pytest.raises(NotAuthenticated):
            authenticate(world.server, short)
        with pytest.raises(NotAuthenticated):
            sessions.resume(world.server, begun)
        assert authenticate(world.server, long).name == "pia"
        assert world.server.clock() == visits.clock.now + DAY
    after.server.database.close()


def test_a_clock_set_back_opens_no_proposal_that_had_lapsed(visits: World) -> None:
    ruled = replace(
        visits.server, settings=visits.server.settings.model_copy(update={"two_person_rule": True})
    )
    made = proposals.do_or_propose(ruled, OPERATOR, QueryRetirement(query="visits"))
    assert isinstance(made, ProposalView)
    visits.clock.now += 8 * DAY
    noted(visits)
    visits.clock.now -= 8 * DAY
    again = another(visits)
    server = replace(again.server, settings=ruled.settings)
    assert proposals.show(server, OPERATOR, made.id).state == "expired"
    with pytest.raises(Conflict, match="expired"):
        proposals.approve(server, visits.person("ada"), made.id)
    again.server.database.close()


def test_leaves_and_checkpoints_never_go_back_in_time(visits: World, beside: World) -> None:
    for number, (world, hours) in enumerate(((visits, 0), (beside, 5), (visits, -3), (beside, 1))):
        world.clock.now += timedelta(hours=hours)
        noted(world, f"tier-{number}")
    with visits.server.database.read() as session:
        leaves = session.exec(select(Leaf).order_by(col(Leaf.index))).all()
        notes = session.exec(select(Checkpoint.note).order_by(col(Checkpoint.size))).all()
    said = [json.loads(one.bytes)["at"] for one in leaves]
    signed = [checkpoints.signed_at(one) for one in notes]
    assert said == sorted(said)
    assert signed == sorted(signed, key=str)


def test_the_difference_is_told_by_status_readiness_and_the_server_s_log(
    visits: World, caplog: pytest.LogCaptureFixture
) -> None:
    clocks.require(visits.server)
    visits.clock.now = datetime(2100, 1, 1, tzinfo=UTC)
    noted(visits)
    visits.clock.now -= timedelta(seconds=59)
    clocks.require(visits.server)  # clocks of several machines differ by as much
    visits.clock.now -= timedelta(seconds=2)
    with caplog.at_level(logging.WARNING, "penstock.clock"):
        for _ in range(2):
            with pytest.raises(Unavailable, match=r"2099-12-31T23:58:59.* acknowledge-clock"):
                clocks.require(visits.server)
    assert len(caplog.records) == 1, "once, and not at every request"
    (warning,) = [one for one in examine(visits.server.settings).warnings if "clock" in one]
    assert "2100-01-01T00:00:00" in warning


def test_a_time_that_was_wrong_is_given_up_on_record(visits: World, beside: World) -> None:
    right = visits.clock.now
    lasting = token(visits, 86400)
    visits.clock.now += 3650 * DAY
    noted(visits)
    visits.clock.now = right
    with pytest.raises(NotAuthenticated):
        authenticate(beside.server, lasting)
    found = clocks.acknowledge(visits.server, OPERATOR)
    assert (found.before, found.after) == (right + 3650 * DAY, right)
    after = another(visits)
    for world in (visits, beside, after):
        assert authenticate(world.server, lasting).name == "pia"
        assert world.server.clock() == right
    noted(beside, "later")
    with visits.server.database.read() as session:
        leaf = session.exec(select(Leaf).where(col(Leaf.kind) == "clock")).one()
        newest = checkpoints.newest_note(session)
    assert json.loads(leaf.bytes)["before"].startswith(str((right + 3650 * DAY).date()))
    assert newest is not None
    assert checkpoints.signed_at(newest) == right
    assert verify(after.server, OPERATOR).problems == []
    with pytest.raises(Conflict, match="nothing to acknowledge"):
        clocks.acknowledge(visits.server, OPERATOR)
    after.server.database.close()


@pytest.mark.parametrize("time", ["2100-01-01T00:00:00.000000Z", "2100-01-01T00:00:00", "soon"])
def test_a_checkpoint_that_nobody_signed_moves_no_time(visits: World, time: str) -> None:
    now = visits.clock.now
    with visits.server.database.write_unwatched() as session:
        newest = checkpoints.newest(session)
        key = newest.log_key_id if newest else 0
        assert newest is not None
        note = newest.note.replace(newest.note.splitlines()[3], time)
        session.add(Checkpoint(size=newest.size + 1, root=newest.root, note=note, log_key_id=key))
        session.flush()
        visits.server.clock.look(session)
        assert visits.server.clock() == now
