"""Test that a report says which check of the log fails."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from sqlmodel import Session, select
from tests.unit.worlds import World

from penstock.persistence.tables import Checkpoint
from penstock.services.reports import log_checks
from penstock.transparency_log import checkpoints


def checked(world: World, session: Session, **changes: Any) -> log_checks.LogCheckView:
    sight = log_checks.seen(world.server)
    assert sight is not None
    row = log_checks.newest(session)
    return log_checks.checked(
        world.server,
        session,
        row,
        replace(sight, **changes),
        world.clock.now,
    )


def test_a_sound_log_passes_every_check(visits: World) -> None:
    visits.clock.forward(hours=1)
    visits.ask("pia")
    with visits.server.database.read() as session:
        view = checked(visits, session)
        last_before = max(
            row.size
            for row in session.exec(select(Checkpoint)).all()
            if (checkpoints.signed_at(row.note) or visits.clock.now) < visits.clock.now
        )
    assert (view.signature, view.root, view.consistent, view.witness) == (True,) * 4
    assert view.consistent_from == last_before == view.size - 1
    assert view.witness_size == view.size


@pytest.mark.parametrize("change", [{"root": b"\x01" * 32}, {"size": 10_000}])
def test_a_log_that_the_witness_saw_otherwise_is_reported(
    visits: World, change: dict[str, object]
) -> None:
    with visits.server.database.read() as session:
        assert checked(visits, session, **change).witness is False


def test_a_checkpoint_of_another_root_is_reported(visits: World) -> None:
    with visits.server.database.read() as session:
        row = log_checks.newest(session)
        session.expunge(row)
        row.root = b"\x02" * 32
        view = log_checks.checked(visits.server, session, row, None, None)
    assert (view.signature, view.root, view.consistent) == (False, False, False)
    assert view.witness is None


def test_a_period_before_every_checkpoint_begins_with_the_first(visits: World) -> None:
    with visits.server.database.read() as session:
        row = log_checks.newest(session)
        early = visits.clock.now - timedelta(days=1)
        assert log_checks.checked(visits.server, session, row, None, early).consistent_from == 1
