"""Reach Trino by its own driver.

A connection is ``trino://USER:PASSWORD@HOST:PORT/CATALOG``, over TLS if it has a password; an
address without one is for a server on one's own network.  Not all its catalogs have versions, so a
dataset's rows may change unseen.
"""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from penstock.connectors.warehouses import dialects
from penstock.connectors.warehouses.address import address_of
from penstock.connectors.warehouses.session import PATIENCE, Columns, Refused, Session, away
from penstock.connectors.warehouses.surroundings import quoted

_FORM = "trino://USER:PASSWORD@HOST:PORT/CATALOG"
_INTEGERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT")


class TrinoSession:
    """Hold a connection of the driver."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    def rows(self, text: str, parameters: Mapping[str, str]) -> Columns:
        """Run one statement; see ``Session``."""
        from requests.exceptions import RequestException
        from trino import exceptions

        try:
            cursor = self._connection.cursor()
            cursor.execute(text, list(parameters.values()) or None)
            rows = cursor.fetchall()
            names = [column[0] for column in cursor.description]
        except (exceptions.TrinoConnectionError, exceptions.HttpError, RequestException):
            raise away("Trino") from None  # a status such as 401 is an HttpError
        except (ValueError, KeyError):
            raise away("Trino") from None  # another program answers there, such as a proxy
        except exceptions.Error:
            raise Refused("Trino does not run the statement.") from None
        return {name: [row[place] for row in rows] for place, name in enumerate(names)}

    def close(self) -> None:
        """End the session."""
        self._connection.close()


class Trino:
    """Describe Trino; see ``Engine``."""

    name: ClassVar[str] = "Trino"
    dialect: ClassVar[dialects.Trino] = dialects.Trino()
    longest: ClassVar[int] = 1_000_000
    types: ClassVar[Mapping[str, Sequence[str]]] = {
        "string": ("VARCHAR",),
        "integer": _INTEGERS,
        "number": (*_INTEGERS, "REAL", "DOUBLE", "DECIMAL"),
        "boolean": ("BOOLEAN",),
        "date": ("DATE",),
    }
    release: ClassVar[str] = "SELECT version() AS version"

    def located(self, secret: str, table: Sequence[str]) -> Sequence[str]:
        """Return the server's host and port, and the table's catalog, schema and name."""
        address = address_of(secret, "trino", _FORM)
        catalog = address.path[:1] if len(table) == 2 else ()
        return address.host, str(address.port or ""), *catalog, *table

    def opened(self, secret: str) -> Session:
        """Return a session; nothing is sent before the first statement."""
        address = address_of(secret, "trino", _FORM)
        import trino

        secure = address.password is not None
        auth = trino.auth.BasicAuthentication(address.user, address.password) if secure else None
        return TrinoSession(
            trino.dbapi.connect(
                host=address.host,
                port=address.port or (443 if secure else 8080),
                user=address.user,
                catalog=address.path[0] if address.path else None,
                http_scheme="https" if secure else "http",
                auth=auth,
                request_timeout=PATIENCE,
                max_attempts=1,
                source="penstock",
            )
        )

    def columns(self, table: Sequence[str]) -> tuple[str, Mapping[str, str]]:
        """Return the statement for a table's columns."""
        *catalog, schema, name = table
        place = "".join(f"{quoted(part, self.dialect)}." for part in catalog)
        text = (
            "SELECT column_name AS name, data_type AS type"  # noqa: S608 - the catalog is quoted
            f" FROM {place}information_schema.columns"
            " WHERE table_schema = ? AND table_name = ? ORDER BY ordinal_position"
        )
        return text, {"schema": schema, "table": name}

    def version(self, table: Sequence[str]) -> None:  # noqa: ARG002 - as ``Engine`` has it
        """Return None: not every catalog of Trino has versions."""
        return

    def at(self, table: str, now: str) -> str:  # noqa: ARG002 - as ``Engine`` has it
        """Return the table as it is."""
        return table
