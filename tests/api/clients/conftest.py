"""Serve the furnished home over HTTP on a port of this machine, for clients in other languages."""

import os
import shutil
import threading
from collections.abc import Callable, Iterator

import pytest
from tests.api.world import World
from werkzeug.serving import make_server

Need = Callable[[str, str], str]


@pytest.fixture
def address(world: World) -> Iterator[str]:
    """Yield the address at which the world answers."""
    server = make_server("127.0.0.1", 0, world.client.application, threaded=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture(scope="session")
def need() -> Need:
    """Return a function that finds a program; without it a test is skipped, but fails in CI."""

    def find(program: str, how: str) -> str:
        path = shutil.which(program)
        if path is None:
            missing(f"{program} is not installed ({how})")
        return str(path)

    return find


def missing(reason: str) -> None:
    """Skip a test for something that is not installed; fail it in continuous integration."""
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)
