"""Hold the credentials that the operator names, for the connectors that use them.

Specs, messages, leaves and tables have the names alone.  What a driver says of a connection may
repeat its secret, so connectors never pass it on.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from pydantic import SecretStr

from penstock.connectors.planning.refusals import pointer
from penstock.connectors.specs.models import Engine
from penstock.errors import InvalidInput, Unavailable
from penstock.setting_connections import folded_connection, is_connection, variable_of_connection

AT: Final = pointer("source", "connection")

_SCHEMES: Final[Mapping[str, Engine]] = {
    "postgresql": "postgresql",
    "postgres": "postgresql",
    "sc": "spark",
    "spark": "spark",
    "clickhouse": "clickhouse",
    "clickhouses": "clickhouse",
    "chdb": "clickhouse",
    "trino": "trino",
    "bigquery": "bigquery",
    "snowflake": "snowflake",
    "s3": "duckdb",
    "gs": "duckdb",
    "az": "duckdb",
    "https": "duckdb",
}
"""The engine that a connection is for, by how its address begins."""


@dataclass(frozen=True)
class Connections:
    """Hold the secret of each connection, by its folded name; nothing of it is ever shown."""

    secrets: Mapping[str, SecretStr] = field(default_factory=dict, repr=False)

    @property
    def names(self) -> tuple[str, ...]:
        """Return the folded names."""
        return tuple(self.secrets)

    def engine_of(self, name: str) -> Engine | None:
        """Return the engine that a connection is for; ``None`` if its text does not tell.

        Objects in JSON describe stores of files.  Raises ``InvalidInput`` for an unknown name.
        """
        return _engine_of(self._secret(name, registered=False))

    def require(self, name: str | None, engine: Engine, *, registered: bool = False) -> str:
        """Return the secret of a connection for ``engine``.

        Raises ``InvalidInput`` if there is none or if it is for another engine; for a dataset that
        is ``registered`` already, ``Unavailable``.
        """
        secret = self._secret(name or "", registered=registered)
        own = _engine_of(secret)
        if own != engine:
            kind = "none that is known here" if own is None else own
            raise _refusal(
                f"Connection {name!r} is for another engine than {engine}: {kind}. The operator"
                f" sets {variable_of_connection(name or '')}.",
                registered=registered,
            )
        return secret

    def _secret(self, name: str, *, registered: bool) -> str:
        secret = self.secrets.get(folded_connection(name))
        if secret is not None:
            return secret.get_secret_value()
        if not is_connection(name):
            # Whatever it is, it may be a secret by mistake.
            raise _refusal("There is no connection of this name.", registered=registered)
        raise _refusal(
            f"There is no connection {name!r}; the operator sets {variable_of_connection(name)}.",
            registered=registered,
        )


NO_CONNECTIONS: Final = Connections()


def _engine_of(address: str) -> Engine | None:
    if address.startswith("{"):
        return "duckdb"
    if address == "local" or address.startswith("local["):
        return "spark"
    scheme, separator, _ = address.partition("://")
    return _SCHEMES.get(scheme.lower()) if separator else None


def _refusal(sentence: str, *, registered: bool) -> InvalidInput | Unavailable:
    if registered:
        return Unavailable(f"{sentence} Nothing was released.")
    return InvalidInput(sentence, pointer=AT)
