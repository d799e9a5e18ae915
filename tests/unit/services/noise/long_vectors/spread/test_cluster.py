"""Test that a Ray cluster draws what the server would have, and that its failures are told."""

import gc
import os
import socket
import warnings
from collections.abc import Iterator
from dataclasses import replace
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from tests.unit.services.noise.long_vectors.spread.spreading import drawn
from tests.unit.services.noise.long_vectors.stored_vectors import store, vectors
from tests.unit.worlds import World, push_long

from penstock.errors import Unavailable
from penstock.services.access.principals import OPERATOR
from penstock.services.noise.long_vectors.spread import cluster
from penstock.services.verification.verification import verify

WORKERS = 2


def with_cluster(world: World, address: str) -> World:
    """Return the same world with a cluster."""
    settings = world.server.settings.model_copy(update={"ray_address": address})
    return replace(world, server=replace(world.server, settings=settings))


def test_a_cluster_that_nobody_can_reach_is_reported_and_nothing_is_left(long: World) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        address = f"127.0.0.1:{listening.getsockname()[1]}"
    before = set(store(long).attempts())
    with pytest.raises(Unavailable, match=r"The Ray cluster.*cannot be reached") as caught:
        with_cluster(long, address).ask("pia", "long")
    assert address not in caught.value.detail
    assert set(store(long).attempts()) == before
    assert len(vectors(long)) == 1
    assert long.ask("pia", "long").first


def test_without_the_package_it_is_said_what_to_install(
    long: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(Unavailable, match=r"penstock\[ray\]"):
        with_cluster(long, "auto").ask("pia", "long")


def test_an_anchor_is_drawn_in_the_server_alone(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exact values are sent nowhere: the address leads nowhere, and nobody asks it."""
    push_long(with_cluster(world, "127.0.0.1:1"), monkeypatch)
    assert len(vectors(world)) == 1


def test_ray_is_started_without_the_variables_of_the_server(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Any program of the account can read the environment of what Ray starts."""
    import ray

    given: list[dict[str, str]] = []

    def init(*_: object, **__: object) -> None:
        given.append(dict(os.environ))
        raise ValueError

    monkeypatch.setenv("PENSTOCK_CONNECTION_WAREHOUSE", "postgresql://ann:canary@host/lake")
    monkeypatch.setenv("OTHER", "kept")
    monkeypatch.setattr(ray, "init", init)
    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    with pytest.raises(Unavailable, match="cannot be used"):
        cluster.results("local", [])
    (seen,) = given
    assert seen["OTHER"] == "kept"
    assert not [name for name in seen if name.startswith("PENSTOCK_")]
    assert "canary" in os.environ["PENSTOCK_CONNECTION_WAREHOUSE"]


@pytest.fixture(scope="module", autouse=True)
def token() -> Iterator[None]:
    """Let Ray have a token of these tests alone, which it reads when it is imported."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_AUTH_MODE", "token")
        patch.setenv("RAY_AUTH_TOKEN", os.urandom(32).hex())
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        yield


@pytest.fixture(scope="module")
def ray() -> Iterator[None]:
    """Start a cluster with two workers, and stop it.

    Ray gives up its own start after 15 seconds by the clock, which no setting changes, so that on a
    machine that does much else it does not start.  So what uses it runs by night; at every change
    processes of ours carry out the same works (``test_chunk_work``).
    """
    import ray

    with TemporaryDirectory(prefix="ray-") as folder:
        own: Any = {"include_dashboard": False, "log_to_driver": False, "_temp_dir": folder}
        ray.init("local", num_cpus=WORKERS, **own)
        yield
        # Ray stops its processes and does not wait for them: how fast they end decides nothing.
        with warnings.catch_warnings(action="ignore", category=ResourceWarning):
            ray.shutdown()
            gc.collect()


def ends(_: str) -> str:
    """End the worker in the middle of a chunk."""
    os._exit(1)


@pytest.mark.nightly
@pytest.mark.slow
@pytest.mark.only("sqlite")
@pytest.mark.usefixtures("ray")
def test_two_workers_draw_what_the_server_would_have_drawn(long: World) -> None:
    long.ask("pia", "long")
    spread = drawn(long, lambda works: cluster.results("local", works))
    assert spread.whole().tolist() == drawn(long, None).whole().tolist()
    for vector in vectors(long).values():
        vector.require_whole()


@pytest.mark.nightly
@pytest.mark.slow
@pytest.mark.only("sqlite")
@pytest.mark.usefixtures("ray")
def test_a_release_that_a_cluster_drew_is_proven_and_drawn_once(
    long: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker that dies ends the attempt; the next one has other keys."""
    spread = with_cluster(long, "local")
    before = set(store(long).attempts())
    with monkeypatch.context() as patch:
        patch.setattr(cluster, "carried_out", ends)
        with pytest.raises(Unavailable, match="WorkerCrashedError"):
            spread.ask("pia", "long")
    assert set(store(long).attempts()) == before
    first = spread.ask("pia", "long")
    again = long.ask("pia", "long")
    assert first.first
    assert not again.first
    assert np.asarray(first.view.values).tolist() == np.asarray(again.view.values).tolist()
    assert verify(long.server, OPERATOR).problems == []
