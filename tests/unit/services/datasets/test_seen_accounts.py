"""Test that a dataset and its accounts are read as elsewhere, and seen to have changed."""

from collections.abc import Callable
from typing import Any

import pytest
from tests.support.rows import columns_of
from tests.unit.services.verification.tampered import alter
from tests.unit.sites import VISITS
from tests.unit.worlds import World

from penstock.errors import IntegrityViolation, NotFound
from penstock.persistence.row_authentication import KEYS
from penstock.persistence.row_numbers import required
from penstock.persistence.tables import SpentFloor
from penstock.services.access.principals import OPERATOR
from penstock.services.ledger import quotes
from penstock.services.ledger.charges import accounts_of
from penstock.services.people import tier_changes
from penstock.services.queries.exact_answers import planned
from penstock.services.queries.pending import Locked, locked, seen_dataset
from penstock.services.repository.datasets import dataset_by_name
from penstock.services.schemas.people.tiers import TierSpec
from penstock.services.schemas.queries import PushedVectorRequest

pytestmark = pytest.mark.each_database

REQUEST = PushedVectorRequest.model_validate({**VISITS, "name": "new"})


def look_again(world: World, meanwhile: Callable[[World], object]) -> Locked:
    """Return what a registration sees under the lock, after something was done meanwhile."""
    seen = seen_dataset(world.server.database, REQUEST)
    meanwhile(world)
    with world.server.database.write_beside() as session:
        return locked(session, seen, REQUEST, planned(seen.dataset, REQUEST))


def altered(statement: str) -> Callable[[World], object]:
    return lambda world: alter(world, statement)


def test_one_statement_reads_what_a_transaction_reads(visits: World) -> None:
    seen = seen_dataset(visits.server.database, REQUEST)
    with visits.server.database.read() as session:
        dataset = dataset_by_name(session, "sites")
        assert columns_of(seen.dataset) == columns_of(dataset)
        known = [
            (columns_of(tier), own and (own.account, own.spent, own.entries))
            for tier, own in accounts_of(session, dataset)
        ]
    assert known == [
        (columns_of(tier), own and (own.account, own.spent, own.entries))
        for tier, own in seen.accounts
    ]
    assert any(own and own.entries for _, own in seen.accounts)
    assert seen.rows


def test_a_dataset_that_does_not_exist_is_not_found(world: World) -> None:
    with pytest.raises(NotFound, match="no dataset 'moon'"):
        seen_dataset(world.server.database, REQUEST.model_copy(update={"dataset": "moon"}))


def test_what_did_not_change_is_the_same(world: World) -> None:
    now = look_again(world, lambda _: None)
    assert now.same
    assert now.declared is not None
    assert not now.may_be_left


@pytest.mark.parametrize(
    "meanwhile",
    [
        lambda world: world.push("other"),
        lambda world: tier_changes.create(
            world.server, OPERATOR, TierSpec(name="late", above="public")
        ),
    ],
)
def test_other_charges_and_tiers_are_not_the_same(
    world: World, meanwhile: Callable[[World], object]
) -> None:
    assert not look_again(world, meanwhile).same


def test_a_registration_is_charged_on_top_of_one_that_came_between(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    product = quotes.calibrate_and_price

    def between(*given: Any) -> Any:
        monkeypatch.setattr(quotes, "calibrate_and_price", product)
        world.push("between")
        return product(*given)

    monkeypatch.setattr(quotes, "calibrate_and_price", between)
    world.push("outer")
    assert [own.entries for _, own in _accounts(world) if own] == [2, 2, 2]


@pytest.mark.parametrize(
    ("statement", "table"),
    [
        ("UPDATE dataset SET delta = 0.5", "dataset"),
        ("UPDATE tier SET rank = rank + 7", "tier"),
        ("UPDATE tier_budget SET epsilon = 99", "tier_budget"),
        ("UPDATE charge SET loss_total = loss_total + 1", "charge"),
    ],
)
def test_altered_rows_are_refused_at_first_sight(visits: World, statement: str, table: str) -> None:
    alter(visits, statement)
    with pytest.raises(IntegrityViolation, match=f"A row of '{table}' was altered"):
        seen_dataset(visits.server.database, REQUEST)


def test_a_dataset_that_was_altered_since_is_refused(world: World) -> None:
    with pytest.raises(IntegrityViolation, match="A row of 'dataset' was altered"):
        look_again(world, altered("UPDATE dataset SET declaration = 7"))


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE tier SET description = 'x'",
        "UPDATE tier_budget SET epsilon = 99",
        "UPDATE charge SET loss_total = loss_total + 1",
    ],
)
def test_accounts_that_were_altered_since_are_not_the_same(visits: World, statement: str) -> None:
    assert not look_again(visits, altered(statement)).same


def test_rows_under_keys_that_are_gone_are_not_the_same(world: World) -> None:
    seen = seen_dataset(world.server.database, REQUEST)
    with world.server.database.read() as session:
        keys = session.info[KEYS].now()
        session.connection()
        assert seen.is_same(session, seen.rows)
        session.info["accepted"] = (b"another key", *keys)
        assert not seen.is_same(session, seen.rows)


def test_what_was_lost_is_read_in_a_transaction(world: World) -> None:
    with world.server.database.write() as session:
        dataset, at = dataset_by_name(session, "sites"), world.server.clock()
        number, tier = required(dataset.id), required(accounts_of(session, dataset)[0][0].id)
        session.add(SpentFloor(dataset_id=number, tier_id=tier, loss=1, failure=0, at=at))
    seen = seen_dataset(world.server.database, REQUEST)
    assert not seen.rows
    assert seen.accounts[0][1] is not None
    assert seen.accounts[0][1].spent.loss == 1
    assert not look_again(world, lambda _: None).same


def _accounts(world: World) -> Any:
    with world.server.database.read() as session:
        return accounts_of(session, dataset_by_name(session, "sites"))
