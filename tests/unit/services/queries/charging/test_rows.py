"""Test the row of a new query: whose allowance it is under, and under which hash."""

from sqlmodel import select
from tests.unit.services.allowances.asking import ask, give, request_of
from tests.unit.worlds import World

from penstock.persistence.tables import Allowance, Query, Tier
from penstock.services.access.principals import OPERATOR
from penstock.services.queries import registration
from penstock.services.repository.queries import statistic_of


def test_a_row_names_its_allowance_and_keeps_the_hash_of_its_statistic(stays: World) -> None:
    give(stays)
    ask(stays, "paul", "mine")
    registration.register(stays.server, OPERATOR, request_of("public", "public"))
    with stays.server.database.read() as session:
        own, other = session.exec(select(Query).order_by(Query.id)).all()  # type: ignore[arg-type]  # a column
        allowance = session.exec(select(Allowance)).one()
        tier = session.exec(select(Tier).where(Tier.name == "partner")).one()
    assert (own.allowance_id, other.allowance_id) == (allowance.id, None)
    assert own.canonical_hash == f"{other.canonical_hash}@{tier.id}"
    assert statistic_of(own) == statistic_of(other) == other.canonical_hash
