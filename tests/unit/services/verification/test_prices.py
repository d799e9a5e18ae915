"""Test the ledger held to a price of every query from nothing."""

from collections.abc import Sequence

import pytest
from tests.unit.worlds import World

from penstock.accounting import Entry
from penstock.persistence.tables import Query
from penstock.services.ledger import effective_levels, repricing
from penstock.services.ledger.accounts import TierAccount
from penstock.services.verification.prices import prices


def test_a_ledger_as_it_was_charged_says_nothing(visits: World) -> None:
    with visits.server.database.read() as session:
        assert list(prices(session)) == []


def test_a_charge_that_is_too_small_is_named(
    visits: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    dearer = effective_levels.from_nothing

    def doubled(query: Query, account: TierAccount, rungs: Sequence[int]) -> Entry:
        cost = dearer(query, account, rungs)
        return Entry(2 * cost.loss, cost.failure)

    monkeypatch.setattr(repricing, "from_nothing", doubled)
    with visits.server.database.read() as session:
        told = list(prices(session))
    assert len(told) == 3
    assert "query 'visits' is charged less to tier 'public' than it costs" in told
