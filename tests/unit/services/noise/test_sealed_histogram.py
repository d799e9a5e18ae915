"""Test reports of a sparse histogram, sealed: padded so that their length tells little."""

import numpy as np
import pytest
from sqlmodel import select
from tests.support.rows import row
from tests.unit.worlds import World

from penstock.errors import IntegrityViolation
from penstock.persistence.tables import Dataset, Query, Release
from penstock.services.noise.sealed_histogram import open_report, seal_report


def test_reports_of_like_lengths_look_alike_and_open_again(visits: World) -> None:
    with visits.server.database.read() as session:
        query = session.exec(select(Query)).one()
        dataset = session.get_one(Dataset, query.dataset_id)
        lengths = []
        for count in (16, 20, 30):
            steps = np.arange(count, dtype=np.int64) - 3
            sealed = seal_report(visits.server, dataset, query, 2, 5, steps)
            lengths.append(len(sealed))
            release = row(Release, rung=2, seq=5, ciphertext=sealed)
            assert open_report(visits.server, dataset, query, release).tolist() == steps.tolist()
            with pytest.raises(IntegrityViolation):
                open_report(
                    visits.server, dataset, query, row(Release, rung=3, seq=5, ciphertext=sealed)
                )
        assert len(set(lengths)) == 1
