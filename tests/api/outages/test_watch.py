"""Test the monitor against running servers.

One server continues its log, its clone forks it, and one receives cosignatures.
"""

from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from tests.api.world import World
from tests.support.notes import by_the_letter

from penstock_client import Client, LogForked
from penstock_client._log.cosigning import Cosigner
from penstock_client._log.watch import Watcher

ASK = "/api/v1/queries/visits/releases"


def watcher(world: World, folder: Path, cosigner: Cosigner | None = None) -> Watcher:
    transport = httpx.WSGITransport(world.client.application)
    client = Client("http://127.0.0.1", world.tokens["olga"], transport=transport)
    clock = lambda: world.clock().timestamp()  # noqa: E731
    return client.watcher(folder / "watch.json", cosigner=cosigner, clock=clock)


def test_a_log_that_grows_is_cosigned_and_its_clone_is_told(
    open_copy: Callable[..., World], tmp_path: Path
) -> None:
    """Two copies of one home are two servers with one key: whoever follows one finds the other."""
    cosigner = Cosigner.create(tmp_path / "key", "auditor.example/a")
    one, clone, other = (open_copy(cosigners=cosigner.vkey) for _ in range(3))
    first = watcher(one, tmp_path, cosigner).look()
    one.answer("POST", ASK, {"epsilon": 0.05}, by="ann")
    seen = watcher(one, tmp_path, cosigner).look()
    assert seen.cosigned
    assert seen.known.checkpoint.size > (seen.before or 0) == first.known.checkpoint.size
    note = one.call("GET", "/api/v1/audit/checkpoint?cosigned=1&format=note", by="ann").text
    assert by_the_letter(cosigner.vkey, note) == int(one.clock().timestamp())
    with pytest.raises(LogForked, match="and had"):
        watcher(clone, tmp_path, cosigner).look()
    other.answer("POST", ASK, {"epsilon": 0.04}, by="ann")
    with pytest.raises(LogForked, match="two logs"):
        watcher(other, tmp_path, cosigner).look()
    other.answer("POST", ASK, {"epsilon": 0.03}, by="ann")
    with pytest.raises(LogForked, match="does not begin"):
        watcher(other, tmp_path, cosigner).look()
    assert watcher(one, tmp_path, cosigner).look().cosigned, "the true one is followed as ever"
    assert len(list(tmp_path.glob("penstock-fork-*"))) == 3
