"""Test the requests of an occurrence: they depend on the schedule and the time alone."""

from datetime import UTC, datetime
from pathlib import Path

from tests.unit.services.schedules.planning import spec_of

from penstock.services.schedules.templates import requests_of


def test_date_and_time_are_those_of_the_zone(tmp_path: Path) -> None:
    (query,) = spec_of(tmp_path).queries
    spec = spec_of(tmp_path, timezone="Asia/Tokyo", queries=[{**query, "name": "of-{date}-{time}"}])
    requests = requests_of(spec, datetime(2026, 1, 1, 20, 30, tzinfo=UTC))
    assert [request.name for request in requests.queries] == ["of-2026-01-02-0530"]
    assert [request.dataset for request in requests.queries] == ["stays"]
    assert str(requests.version.source.uri).endswith("stays-2026-01-02.csv")
    assert requests == requests_of(spec, datetime(2026, 1, 1, 20, 30, tzinfo=UTC))
