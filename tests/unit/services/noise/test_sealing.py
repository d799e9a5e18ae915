"""Test rows sealed for their place: no other row opens with what was sealed for one."""

import numpy as np
import pytest
from sqlmodel import select
from tests.support.rows import row
from tests.unit.worlds import World

from penstock.errors import Conflict, IntegrityViolation
from penstock.persistence.tables import Dataset, Query, Release
from penstock.services.noise.sealing import (
    misfit,
    open_steps,
    place_of,
    require_unfrozen,
    seal_steps,
)
from penstock.services.repository.queries import query_by_name


def test_what_was_sealed_opens_at_its_place_and_at_no_other(visits: World) -> None:
    with visits.server.database.read() as session:
        query = query_by_name(session, "visits")
        dataset = session.get_one(Dataset, query.dataset_id)
        steps = np.array([5, -2, 7])
        sealed = seal_steps(visits.server, dataset, query, 4, 9, steps, 1)
        release = row(Release, rung=4, seq=9, ciphertext=sealed)
        assert open_steps(visits.server, dataset, query, release, 1).tolist() == [5, -2, 7]
        for rung, seq in ((5, 9), (4, 8)):
            moved = row(Release, rung=rung, seq=seq, ciphertext=sealed)
            with pytest.raises(IntegrityViolation):
                open_steps(visits.server, dataset, query, moved, 1)


def test_a_place_names_the_version_of_the_dataset_and_the_query(visits: World) -> None:
    with visits.server.database.read() as session:
        query = session.exec(select(Query)).one()
        dataset = session.get_one(Dataset, query.dataset_id)
        place = place_of(dataset, query, "release", "int64", length=3, rung=2, seq=1)
    assert (place.dataset, place.query) == ("sites@1", "visits")
    assert (place.level, place.seq, place.length) == (2, 1, 3)


def test_a_frozen_query_draws_nothing() -> None:
    require_unfrozen(row(Query, name="visits"))
    with pytest.raises(Conflict, match="restored to an older state on 2026-01-01"):
        require_unfrozen(row(Query, name="visits", frozen="2026-01-01"))


def test_a_misfit_says_what_it_is_of() -> None:
    assert misfit(row(Query, name="a"), "has no state").detail.startswith("Query 'a' has no state")
    stream = misfit(row(Query, name="a"), "has no state", noun="Stream")
    assert stream.detail.startswith("Stream 'a'")
