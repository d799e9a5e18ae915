"""Build the documentation once for all test processes."""

from collections.abc import Iterator
from os import environ

import pytest
from tests.docs.made_once import made_once
from tests.docs.site import Site

from docs.building import build


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Yield the built site, from the present sources."""
    own = tmp_path_factory.getbasetemp()
    common = own.parent if "PYTEST_XDIST_WORKER" in environ else own
    with made_once(common / "documentation", build) as folder:
        yield Site(folder)
