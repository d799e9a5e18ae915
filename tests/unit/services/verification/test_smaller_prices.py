"""Test books whose charges were made at larger prices than the present ones.

A version of the server that bounds a loss more tightly finds them in homes of older versions.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from sqlmodel import col, select
from tests.support import priced
from tests.unit.services.raised import grant
from tests.unit.sites import VISITS
from tests.unit.worlds import World

from penstock.accounting import Entry, limit_of
from penstock.mechanisms.shifts import Shifts
from penstock.persistence.tables import Charge, Query
from penstock.services.access.principals import OPERATOR
from penstock.services.ledger import repricing
from penstock.services.ledger.accounts import TierAccount
from penstock.services.queries import queries
from penstock.services.repository.datasets import dataset_by_name
from penstock.services.schemas.queries import LevelsChange
from penstock.services.verification.prices import prices
from penstock.services.verification.verification import verify

Place = tuple[int, int]
DATASET = "sites"
L2 = 10**0.5
BEDS: dict[str, Any] = {
    "mechanism": "skellam",
    "sensitivity": {"l1": 6, "l2": L2, "linf": 2},
    "levels": {"public": {"epsilon": 0.1}, "internal": {"epsilon": 0.5}},
}
CLOSER = {"public": {"epsilon": 0.1}, "internal": {"epsilon": 0.8}}


@contextmanager
def _looser() -> Iterator[None]:
    """Bound the losses of vectors less tightly, as versions before did."""
    tight = Shifts.largest_sum
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Shifts, "largest_sum", lambda self, part: 1.3 * tight(self, part))
        yield


@pytest.fixture
def older(world: World) -> World:
    """Return a home in which an older version charged a query."""
    with _looser():
        world.push("beds", **BEDS)
    return world


def _books(world: World) -> tuple[dict[Place, Entry], dict[Place, Entry]]:
    """Return what was charged, and what it would be from nothing at the present price."""
    with world.server.database.read() as session:
        key = dataset_by_name(session, DATASET).id or 0
        return priced.ledger(session, key), priced.from_nothing(session, key)


def _charges(world: World) -> list[tuple[int, int, int]]:
    with world.server.database.read() as session:
        rows = session.exec(select(Charge).order_by(col(Charge.seq))).all()
        return [(row.tier_id, row.loss, row.failure) for row in rows]


def test_a_charge_stays_as_it_was_made_and_nothing_is_found_wrong(older: World) -> None:
    before = _charges(older)
    charged, now = _books(older)
    assert all(charged[place].loss > 1.2 * now[place].loss > 0 for place in charged)
    assert verify(older.server, OPERATOR).problems == []
    assert _charges(older) == before


def test_what_is_spent_never_falls_below_the_present_price(older: World) -> None:
    """A raised level is charged on top; a raised budget leaves the price itself, no less."""
    paid, _ = _books(older)
    change = LevelsChange.model_validate({"levels": CLOSER, "values": VISITS["values"]})
    queries.change(older.server, OPERATOR, "beds", change)
    raised, now = _books(older)
    assert all(raised[place].loss >= max(paid[place].loss, now[place].loss) for place in raised)
    grant(older, DATASET, internal=8)
    granted, now = _books(older)
    assert all(granted[place].loss >= now[place].loss for place in granted)
    reached = max(now, key=lambda place: now[place].loss)
    assert granted[reached] == now[reached]
    assert verify(older.server, OPERATOR).problems == []


def test_a_charge_made_in_another_valid_way_is_not_called_too_small(
    older: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A smaller loss may make another way the cheapest: with more loss, and less failure."""

    def told(loss: float, failure: float) -> list[str]:
        def moved(query: Query, account: TierAccount, rungs: object) -> Entry:
            (paid,) = (
                Entry(loss, failure)
                for key, loss, failure in _charges(older)
                if key == account.tier.id
            )
            limit = limit_of(account.account)
            more = Entry(int(limit.loss * loss), int(limit.failure * failure))
            return paid + more

        monkeypatch.setattr(repricing, "from_nothing", moved)
        with older.server.database.read() as session:
            return list(prices(session))

    assert told(0.01, -0.02) == told(-0.02, 0.01) == []
    assert len(told(0.01, 0)) == len(told(0, 0.01)) == len(told(0.02, -0.01)) == 3
