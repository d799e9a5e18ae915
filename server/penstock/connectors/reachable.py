"""Try a connection: is its engine there, which version is it, and does it compute as it should.

Messages are our own throughout: what a driver says may repeat the address with its password.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from penstock.connectors.connections import Connections
from penstock.connectors.specs.models import Engine
from penstock.connectors.specs.sources import require_installed
from penstock.errors import InvalidInput, Unavailable
from penstock.setting_connections import variable_of_connection

PATIENCE: Final = 10
"""The seconds after which an engine that does not answer is not reachable."""

PASSED: Final = "passed"


@dataclass(frozen=True)
class Reached:
    """Hold what a connection leads to.

    ``conformance`` says whether the engine answered the questions with known answers correctly.
    """

    connection: str
    engine: Engine
    version: str
    conformance: str


Probe = Callable[[str], tuple[str, str]]
"""From a secret to the engine's version and its conformance.

Raises ``InvalidInput`` for credentials that it refuses, ``Unavailable`` if it cannot be reached.
"""


def reach(connections: Connections, name: str) -> Reached:
    """Connect to an engine, and ask for its version.

    Raises ``InvalidInput`` if there is no such connection, if its text describes none, or if the
    engine refuses it; ``Unavailable`` if the engine cannot be reached.
    """
    engine = connections.engine_of(name)
    if engine is None:
        raise InvalidInput(
            f"Connection {name!r} begins like no engine that is known here; the operator corrects"
            f" {variable_of_connection(name)}, for example to postgresql://USER:PASSWORD@HOST/NAME."
        )
    require_installed(engine, stores=engine == "duckdb")
    probe = PROBES.get(engine)
    if probe is None:
        kind = "buckets" if engine == "duckdb" else engine
        raise InvalidInput(f"This version of Penstock cannot try connections to {kind} yet.")
    version, conformance = probe(connections.require(name, engine))
    return Reached(name, engine, version, conformance)


def _postgresql(secret: str) -> tuple[str, str]:
    import psycopg

    try:
        with psycopg.connect(secret, connect_timeout=PATIENCE, autocommit=True) as connection:
            version = connection.info.server_version
    except psycopg.OperationalError as error:
        # A server that refuses says so; without one there is only libpq.
        answered = "FATAL" in str(error)
    except psycopg.Error:
        raise InvalidInput(
            "The connection's address cannot be read; it is like"
            " postgresql://USER:PASSWORD@HOST:5432/DATABASE, with %-escapes in the password."
        ) from None
    else:
        release = f"{version // 10000}.{version % 10000}"
        return release, _conformance_of_postgresql(secret, release)
    if answered:
        raise InvalidInput(
            "PostgreSQL was reached and refuses the connection; check its user, password and"
            " database, and the server's pg_hba.conf."
        ) from None
    raise Unavailable(
        "PostgreSQL cannot be reached; check the connection's host, port and sslmode, and that the"
        " server runs and lets this machine in."
    ) from None


def _conformance_of_postgresql(secret: str, release: str) -> str:
    from penstock.connectors.postgresql.conformance import require_conformance
    from penstock.connectors.postgresql.session import reading

    try:
        with reading(secret) as session:
            require_conformance(session, release)
    except Unavailable:
        return "failed"
    return PASSED


def _spark(secret: str) -> tuple[str, str]:
    from penstock.connectors.spark.conformance import require_conformance
    from penstock.connectors.spark.connect import UNREADABLE
    from penstock.connectors.spark.failures import REFUSED
    from penstock.connectors.spark.session import reading

    try:
        with reading(secret) as session:
            version = session.version
            try:
                require_conformance(session, secret)
            except Unavailable:
                return version, "failed"
            return version, PASSED
    except Unavailable as error:
        if error.detail in (UNREADABLE, REFUSED):
            raise InvalidInput(error.detail) from None
        raise


def _clickhouse(secret: str) -> tuple[str, str]:
    from penstock.connectors.clickhouse.conformance import require_conformance
    from penstock.connectors.clickhouse.reading import reading

    with reading(secret) as session:
        version = session.version
        try:
            require_conformance(session, secret)
        except Unavailable:
            return version, "failed"
        return version, PASSED


def _trino(secret: str) -> tuple[str, str]:
    from penstock.connectors.warehouses.trino import Trino
    from penstock.connectors.warehouses.warehouse import reached

    return reached(Trino(), secret)


def _bigquery(secret: str) -> tuple[str, str]:
    from penstock.connectors.warehouses.bigquery import BigQuery
    from penstock.connectors.warehouses.warehouse import reached

    return reached(BigQuery(), secret)


def _snowflake(secret: str) -> tuple[str, str]:
    from penstock.connectors.warehouses.snowflake import Snowflake
    from penstock.connectors.warehouses.warehouse import reached

    return reached(Snowflake(), secret)


def _store(secret: str) -> tuple[str, str]:
    from penstock.connectors.storage.check import check

    return check(secret)


PROBES: Final[dict[Engine, Probe]] = {
    "postgresql": _postgresql,
    "spark": _spark,
    "clickhouse": _clickhouse,
    "trino": _trino,
    "bigquery": _bigquery,
    "snowflake": _snowflake,
    "duckdb": _store,
}
"""How the connections of an engine are tried."""
