"""Test that datasets are found by name in any case, and missing ones are told."""

import pytest
from tests.unit.worlds import World

from penstock.errors import NotFound
from penstock.services.repository.datasets import dataset_by_name


def test_names_are_found_in_any_case_and_missing_ones_are_told(visits: World) -> None:
    with visits.server.database.read() as session:
        assert dataset_by_name(session, "Sites").name == "sites"
        with pytest.raises(NotFound, match="'nothing'"):
            dataset_by_name(session, "nothing")
