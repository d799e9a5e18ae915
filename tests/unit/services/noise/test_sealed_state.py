"""Test releases in the database.

Sealed in the form of their kind, and opened as they were drawn.
"""

import pytest
from sqlmodel import select
from tests.support.rows import row
from tests.unit.worlds import World

from penstock.errors import Conflict, IntegrityViolation
from penstock.persistence.tables import Dataset, Query, Release
from penstock.services.noise.kinds.choice import kind_of
from penstock.services.noise.sealed_state import open_state, seal_state


def test_what_is_opened_is_what_was_released(visits: World) -> None:
    values = visits.ask("ines").view.values.tolist()
    with visits.server.database.read() as session:
        query, release = session.exec(select(Query)).one(), session.exec(select(Release)).one()
        dataset = session.get_one(Dataset, query.dataset_id)
        steps = open_state(visits.server, dataset, query, release)
        assert kind_of(query).values(release.rung, steps).tolist() == values
        sealed = seal_state(visits.server, dataset, query, release.rung, release.seq, steps)
        assert sealed != release.ciphertext  # every sealing has a nonce of its own
        session.expunge(query)
        query.frozen = "2026-01-01"
        with pytest.raises(Conflict, match="had drawn since then is lost"):
            seal_state(visits.server, dataset, query, release.rung, release.seq, steps)


def test_a_release_that_was_cut_is_refused(visits: World) -> None:
    visits.ask("ines")
    with visits.server.database.read() as session:
        query, release = session.exec(select(Query)).one(), session.exec(select(Release)).one()
        dataset = session.get_one(Dataset, query.dataset_id)
        cut = row(Release, rung=release.rung, seq=release.seq, ciphertext=release.ciphertext[:-1])
        with pytest.raises(IntegrityViolation):
            open_state(visits.server, dataset, query, cut)
