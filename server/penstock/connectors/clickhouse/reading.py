"""Open a session at an address, of a server or of the ClickHouse inside this process."""

from collections.abc import Iterator
from contextlib import contextmanager

from penstock.connectors.clickhouse.session import Session


@contextmanager
def reading(
    address: str, memory: str | None = None, threads: int | None = None
) -> Iterator[Session]:
    """Yield a session; ``memory`` and ``threads`` are limits for a ClickHouse in this process.

    Raises ``Unavailable`` if there is no ClickHouse.
    """
    if address.startswith("chdb://"):
        from penstock.connectors.clickhouse import embedded

        with embedded.reading(address, memory, threads) as session:
            yield session
    else:
        from penstock.connectors.clickhouse import server

        with server.reading(address) as session:
            yield session
