"""Test that exact answers are known again by a keyed fingerprint, for one query, in their order."""

import numpy as np
import pytest
from sqlmodel import select
from tests.support.rows import row
from tests.unit.worlds import World

from penstock.errors import Conflict, IntegrityViolation
from penstock.persistence.tables import Dataset, Query
from penstock.services.noise.answer_fingerprints import (
    fingerprint,
    is_same,
    open_fingerprint,
    require_fingerprint,
    seal_fingerprint,
)


def test_a_fingerprint_is_of_one_query_and_of_all_values_in_order(world: World) -> None:
    exact, query = np.array([1, 2, 3]), row(Query, name="a", folded="a")
    known = fingerprint(world.server, query, exact)
    assert known == fingerprint(world.server, query, exact.copy())
    others = [
        fingerprint(world.server, row(Query, name="b", folded="b"), exact),
        fingerprint(world.server, query, np.array([1, 3, 2])),
        fingerprint(world.server, query, np.array([1, 2, 3, 0])),
    ]
    assert known not in others


def test_the_values_of_a_registration_are_known_again(visits: World) -> None:
    with visits.server.database.read() as session:
        query = session.exec(select(Query)).one()
        dataset = session.get_one(Dataset, query.dataset_id)
        other = np.array([120, 7, 1])
        assert not is_same(visits.server, dataset, query, other)


def test_a_sealed_fingerprint_belongs_to_its_query(visits: World) -> None:
    visits.push("other")
    with visits.server.database.read() as session:
        first, second = session.exec(select(Query)).all()
        dataset = session.get_one(Dataset, first.dataset_id)
        sealed = seal_fingerprint(visits.server, dataset, first, b"x" * 32)
        assert open_fingerprint(visits.server, dataset, first, sealed) == b"x" * 32
        with pytest.raises(IntegrityViolation):
            open_fingerprint(visits.server, dataset, second, sealed)


def test_a_query_without_one_keeps_its_ceiling() -> None:
    with pytest.raises(Conflict, match="its ceiling cannot be raised"):
        require_fingerprint(row(Query, name="old"))
