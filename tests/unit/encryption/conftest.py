"""Provide every provider of keys there is: a ring in a file, and a token of SoftHSM's."""

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.softhsm import Token

from penstock.encryption import KeyProvider, KeyRing


@pytest.fixture(params=["keyring", "pkcs11"])
def another(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], KeyProvider]:
    """Return what opens one and the same provider once more.

    Another process of the server would open it so.
    """
    if request.param == "pkcs11":
        found: Token = request.getfixturevalue("token")
        return found.provider
    path = tmp_path / "keyring.json"
    KeyRing.create(path)
    return lambda: KeyRing.load(path)


@pytest.fixture
def provider(another: Callable[[], KeyProvider]) -> KeyProvider:
    """Return a provider of each kind."""
    return another()


@pytest.fixture
def context(request: pytest.FixtureRequest) -> bytes:
    """Return a context that no other test has used."""
    return str(request.node.nodeid).encode()
