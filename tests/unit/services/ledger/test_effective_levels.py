"""Test effective levels: what a tier pays for is the best that it or a tier below it ever had."""

from sqlmodel import select
from tests.unit.worlds import World

from penstock.persistence.row_numbers import required
from penstock.persistence.tables import Charge, Dataset, Tier
from penstock.services.ledger.accounts import open_account
from penstock.services.ledger.effective_levels import (
    UNCHARGED,
    charged_for,
    due,
    effective_rungs,
    from_nothing,
    ladder,
    price,
)
from penstock.services.repository.people import ordered_tiers
from penstock.services.repository.queries import query_by_name


def test_nothing_is_due_after_a_registration(visits: World) -> None:
    with visits.server.database.read() as session:
        query = query_by_name(session, "visits")
        dataset = session.get_one(Dataset, query.dataset_id)
        assert due(session, dataset, [query]) == []


def test_a_level_of_a_tier_is_due_from_all_above_that_have_a_noisier_one(visits: World) -> None:
    with visits.server.database.read() as session:
        query = query_by_name(session, "visits")
        dataset = session.get_one(Dataset, query.dataset_id)
        public, partner, internal = ordered_tiers(session)
        better = effective_rungs(session, query, partner)[0] - 1
        dues = due(
            session, dataset, [query], allowed={required(query.id): {required(public.id): better}}
        )
        assert [(one.account.tier.name, one.rung) for one in dues] == [
            ("public", better),
            ("partner", better),
        ]
        assert effective_rungs(session, query, internal)[0] < better


def test_what_was_charged_is_what_pricing_from_nothing_comes_to(visits: World) -> None:
    with visits.server.database.read() as session:
        query = query_by_name(session, "visits")
        dataset = session.get_one(Dataset, query.dataset_id)
        charged = charged_for(session, dataset, [query])
        assert len(charged) == len(session.exec(select(Charge)).all()) == 3
        for tier in ordered_tiers(session):
            account = open_account(session, required(dataset.id), tier)
            assert account is not None
            known = charged[required(tier.id), required(query.id)]
            assert from_nothing(query, account, known.rungs) == known.sum
            assert price(query, account, None, known.rung) == known.sum


def test_a_rung_is_counted_once_though_it_was_charged_twice() -> None:
    known = UNCHARGED.beside(4, UNCHARGED.sum).beside(4, UNCHARGED.sum).beside(2, UNCHARGED.sum)
    assert (known.rungs, known.rung) == ((4, 2), 2)


def test_the_ladder_has_all_tiers_by_rank(visits: World) -> None:
    with visits.server.database.read() as session:
        assert [tier.name for tier in ladder(session)] == ["public", "partner", "internal"]
        assert len(session.exec(select(Tier)).all()) == 3
