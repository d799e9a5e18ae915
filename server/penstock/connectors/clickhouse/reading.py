"""Open a session at an address, of a server or of the ClickHouse inside this process."""

from collections.abc import Iterator
from contextlib import contextmanager

from penstock.connectors.clickhouse.session import UNLIMITED, Limits, Session


@contextmanager
def reading(address: str, limits: Limits = UNLIMITED) -> Iterator[Session]:
    """Yield a session.

    Raises ``Unavailable`` if there is no ClickHouse.
    """
    if address.startswith("chdb://"):
        from penstock.connectors.clickhouse import embedded

        with embedded.reading(address, limits) as session:
            yield session
    else:
        from penstock.connectors.clickhouse import server

        with server.reading(address, limits) as session:
            yield session
