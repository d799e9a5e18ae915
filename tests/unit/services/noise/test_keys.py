"""Test that keys of queries are wrapped by that of their dataset, which shredding takes away."""

import pytest
from sqlmodel import select
from tests.support.rows import row
from tests.unit.worlds import World

from penstock.errors import Conflict
from penstock.persistence.tables import Dataset, Query
from penstock.services.noise.keys import dataset_key, fresh_query_key, identity, query_key


def test_a_version_is_named_for_ever() -> None:
    assert identity(row(Dataset, folded="sites", version=3)) == "sites@3"


def test_every_wrapping_is_another_and_shredded_keys_are_gone(visits: World) -> None:
    with visits.server.database.read() as session:
        query = session.exec(select(Query)).one()
        dataset = session.get_one(Dataset, query.dataset_id)
        query_key(visits.server, dataset, query)
        wrapped = {fresh_query_key(visits.server, dataset, "visits") for _ in range(3)}
        assert len(wrapped) == 3
        dataset.wrapped_kek = b""
        with pytest.raises(Conflict, match="was shredded"):
            dataset_key(visits.server, dataset)
        session.expire(dataset)
