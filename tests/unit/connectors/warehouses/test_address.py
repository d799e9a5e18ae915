"""Test that addresses are read part by part, and that nothing shows a password."""

import pytest

from penstock.connectors.warehouses.address import address_of
from penstock.errors import InvalidInput

FORM = "trino://USER:PASSWORD@HOST"


def test_an_address_has_its_parts_unescaped() -> None:
    address = address_of("trino://a%40b:p%2Fw@host:81/x/y%20z?o=1", "trino", FORM, frozenset("o"))
    assert (address.user, address.password, address.host, address.port) == (
        "a@b",
        "p/w",
        "host",
        81,
    )
    assert (address.path, address.options) == (("x", "y z"), {"o": "1"})
    assert "p/w" not in repr(address)


@pytest.mark.parametrize(
    "secret",
    [
        "canary",
        "trino:canary",
        "spark://canary@host",
        "trino://canary@",
        "trino://canary@host:port",
        "trino://canary@host?option=1",
        "trino://canary@host?option",
    ],
)
def test_another_form_is_refused_without_repeating_it(secret: str) -> None:
    with pytest.raises(InvalidInput, match="it is like trino://USER") as refused:
        address_of(secret, "trino", FORM)
    assert "canary" not in refused.value.detail
    assert refused.value.__context__ is None
