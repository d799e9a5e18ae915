"""Keys of requests: given up after three others came with them."""

from datetime import timedelta

import pytest
from sqlmodel import select
from tests.unit.worlds import World

from penstock.errors import InvalidInput
from penstock.persistence.tables import Idempotency
from penstock.services.jobs import idempotency


def test_a_key_is_given_up_after_three_other_requests(visits: World) -> None:
    ada, server = visits.person("ada"), visits.server
    own, other = idempotency.fingerprint(server, b"own"), idempotency.fingerprint(server, b"other")
    begun = idempotency.begin(server, ada, "key", own)
    assert isinstance(begun, idempotency.Begun)
    idempotency.finish(server, begun, 201, b"{}")
    for _ in range(idempotency.MOST_MISMATCHES):
        assert isinstance(idempotency.begin(server, ada, "key", own), idempotency.Replay)
        with pytest.raises(InvalidInput, match="another request"):
            idempotency.begin(server, ada, "key", other)
    with pytest.raises(InvalidInput, match="another request"):
        idempotency.begin(server, ada, "key", own)
    with server.database.read() as session:
        assert session.exec(select(Idempotency)).one().mismatches == idempotency.MOST_MISMATCHES
    # Somebody else's key of the same name is another key.
    assert isinstance(
        idempotency.begin(server, visits.person("otto"), "key", other), idempotency.Begun
    )
    visits.clock.now += timedelta(days=2)
    assert isinstance(idempotency.begin(server, ada, "key", own), idempotency.Begun)
