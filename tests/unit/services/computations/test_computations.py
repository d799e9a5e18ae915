"""Test what a computation is given, and what comes back of it."""

from dataclasses import replace
from fractions import Fraction

from sqlmodel import select
from tests.unit.worlds import World

from penstock.accounting import PlacedRelease, composed_epsilon, total
from penstock.connectors.planning.domain import Key
from penstock.connectors.planning.prepare import PreparedQuery
from penstock.persistence.tables import Dataset
from penstock.privacy import Sensitivity
from penstock.services.computations import computations
from penstock.services.ledger import charges
from penstock.services.ledger.quotes import Quote
from penstock.services.noise.kinds.vector import VectorKind

ONE = Sensitivity(Fraction(1), Fraction(1), Fraction(1))
KEYS: list[Key] = ["a", "b"]
WHOLE = PreparedQuery(KEYS, 2, Fraction(1), Fraction(9), ONE, canonical_hash="00")


def test_keys_and_the_statement_are_left_out_and_nothing_else() -> None:
    public = computations.public(WHOLE)
    assert (public.keys, public.statement, public.canonical_hash) == (None, None, None)
    assert replace(public, keys=KEYS, canonical_hash="00") == WHOLE


def test_a_release_counts_as_often_as_it_is_said_to() -> None:
    release = PlacedRelease("gaussian", Fraction(1, 1024), Fraction(4), ONE)
    once, twice = (computations.compose([(release, count)], 1e-6) for count in (1, 2))
    assert 0.0 < once < twice
    assert twice == composed_epsilon([release, release], 1e-6)


def test_a_quote_from_elsewhere_has_the_accounts_that_are_here(visits: World) -> None:
    with visits.server.database.read() as session:
        accounts = charges.accounts_of(session, session.exec(select(Dataset)).one())
    own = [account for _, account in accounts if account is not None]
    assert len(own) > 1
    kind = VectorKind.__new__(VectorKind)
    copies = [(replace(account), 7, total([])) for account in reversed(own)]
    found = computations.among(Quote(kind, {"public": 7}, copies), accounts)
    assert all(
        here is account for (here, _, _), account in zip(found.charges, reversed(own), strict=True)
    )
    assert [charge[1:] for charge in found.charges] == [charge[1:] for charge in copies]
    assert found.process is kind
