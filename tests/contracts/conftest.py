"""Define what is built and installed once, for all tests and all test processes."""

from collections.abc import Iterator
from os import environ
from pathlib import Path

import pytest
from tests.contracts.distributions import Installation, Wheels, build, install, wheels_in
from tests.docs.made_once import made_once
from tests.support.places import ROOT


@pytest.fixture(scope="session")
def common(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder that all processes of this run have in common."""
    own = tmp_path_factory.getbasetemp()
    return own.parent if "PYTEST_XDIST_WORKER" in environ else own


@pytest.fixture(scope="session")
def wheels(common: Path) -> Iterator[Wheels]:
    """Yield both wheels, built from the tracked files."""
    if not (ROOT / ".git").exists():
        pytest.skip("wheels are built from what git tracks, and this is no checkout")
    with made_once(common / "wheels", build) as folder:
        yield wheels_in(folder)


@pytest.fixture(scope="session")
def installed(common: Path, wheels: Wheels) -> Iterator[Installation]:
    """Yield both distributions in one environment."""
    both = [wheels.server, wheels.client]
    with made_once(common / "installed", lambda folder: install(folder, both)) as folder:
        yield Installation(folder)


@pytest.fixture(scope="session")
def client_alone(common: Path, wheels: Wheels) -> Iterator[Installation]:
    """Yield the client as analysts install it: without the server."""
    own = [wheels.client]
    with made_once(common / "client", lambda folder: install(folder, own)) as folder:
        yield Installation(folder)
