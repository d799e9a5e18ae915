"""Test that connectors receive the secret of a connection by its name, and nobody else does."""

import pytest
from pydantic import SecretStr

from penstock.connectors.connections import Connections
from penstock.errors import InvalidInput, Unavailable

SECRETS = {
    "warehouse": "postgresql://reader:canary@host/clinic",
    "lake_2": '{"store": "s3", "secret_access_key": "canary"}',
    "cluster": "local[2]",
    "odd": "canary",
}
CONNECTIONS = Connections({name: SecretStr(secret) for name, secret in SECRETS.items()})


def test_a_connection_is_found_under_every_spelling() -> None:
    assert CONNECTIONS.require("Warehouse", "postgresql") == SECRETS["warehouse"]
    assert CONNECTIONS.require("lake-2", "duckdb") == SECRETS["lake_2"]
    assert CONNECTIONS.names == tuple(SECRETS)


def test_the_engine_follows_from_the_address() -> None:
    engines = [CONNECTIONS.engine_of(name) for name in SECRETS]
    assert engines == ["postgresql", "duckdb", "spark", None]


@pytest.mark.parametrize(
    ("name", "engine", "message"),
    [
        ("store", "postgresql", "There is no connection 'store'.*PENSTOCK_CONNECTION_STORE"),
        ("warehouse", "spark", "another engine than spark: postgresql.*PENSTOCK_CONNECTION_WARE"),
        ("odd", "spark", "another engine than spark: none that is known"),
        ("postgresql://a:canary@b", "spark", "^There is no connection of this name.$"),
        (None, "spark", "^There is no connection of this name.$"),
    ],
)
def test_a_connection_that_cannot_be_used_is_refused_without_its_secret(
    name: str | None, engine: str, message: str
) -> None:
    with pytest.raises(InvalidInput, match=message) as refused:
        CONNECTIONS.require(name, engine)  # type: ignore[arg-type] # a parameter of the test
    assert refused.value.errors[0][0] == "/source/connection"
    assert "canary" not in refused.value.detail
    with pytest.raises(Unavailable, match="Nothing was released") as later:
        CONNECTIONS.require(name, engine, registered=True)  # type: ignore[arg-type] # as above
    assert "canary" not in later.value.detail


def test_no_text_of_connections_has_a_secret() -> None:
    assert "canary" not in repr(CONNECTIONS) + str(CONNECTIONS) + repr(CONNECTIONS.secrets)
