"""Test that queries and streams are found by name in any case, and apart from each other."""

import pytest
from tests.unit.worlds import World

from penstock.errors import NotFound
from penstock.services.repository.queries import is_stream, query_by_name, stream_by_name


def test_names_are_found_in_any_case_and_missing_ones_are_told(visits: World) -> None:
    with visits.server.database.read() as session:
        assert query_by_name(session, "Visits").name == "visits"
        for find in (query_by_name, stream_by_name):
            with pytest.raises(NotFound, match="'nothing'"):
                find(session, "nothing")


def test_a_query_is_no_stream(visits: World) -> None:
    with visits.server.database.read() as session:
        with pytest.raises(NotFound, match="no stream 'visits'"):
            stream_by_name(session, "visits")
        assert not is_stream(query_by_name(session, "visits"))
